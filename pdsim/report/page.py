"""Numbers and pictures to one HTML page with everything embedded."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2


class Picture(NamedTuple):
    """A figure and how to read it."""

    title: str
    caption: str
    path: str

    @property
    def kind(self) -> str:
        """Of image: png or gif."""
        return Path(self.path).suffix.removeprefix(".")

    @property
    def data(self) -> str:
        return base64.b64encode(Path(self.path).read_bytes()).decode()


def squared(unit: str) -> str:
    """A unit as it is read: kg m² where it is written kg m^2."""
    return unit.replace("^2", "²").replace("^3", "³").replace("^4", "⁴")


def render(
    context: dict[str, Any], pictures: Sequence[Picture], template: str = "page.html.jinja"
) -> str:
    """Fill a template of this folder."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["squared"] = squared
    return environment.get_template(template).render(pictures=pictures, **context)
