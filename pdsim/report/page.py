"""Numbers and pictures to one HTML page with everything embedded."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import numpy as np

from pdsim.parameters import ParameterSpace


class Picture(NamedTuple):
    """A figure and how to read it."""

    title: str
    caption: str
    path: str

    @property
    def data(self) -> str:
        return base64.b64encode(Path(self.path).read_bytes()).decode()


class ParameterLine(NamedTuple):
    """One parameter of one posterior in numbers."""

    name: str
    unit: str
    limits: str
    low: str
    median: str
    high: str
    at_limit: float
    truth: str


def parameter_lines(
    space: ParameterSpace, draws: np.ndarray, truth: np.ndarray | None
) -> list[ParameterLine]:
    """Summarise a posterior: 5 %, 50 % and 95 % quantiles, and the share of draws at a limit.

    At a limit is within 1 % of the box's width on the parameter's own scale.

    Args:
        draws: (draw, M) physical values.
    """
    unit = np.asarray(space.to_unit(draws))
    lines = []
    for i, parameter in enumerate(space.parameters):
        low, median, high = np.quantile(draws[:, i], [0.05, 0.5, 0.95])
        at_limit = float(np.mean((unit[:, i] < 0.01) | (unit[:, i] > 0.99)))
        lines.append(
            ParameterLine(
                parameter.name,
                parameter.unit,
                f"{parameter.lower:g} … {parameter.upper:g}",
                f"{low:.4g}",
                f"{median:.4g}",
                f"{high:.4g}",
                at_limit,
                "" if truth is None else f"{truth[i]:.4g}",
            )
        )
    return lines


def render(context: dict[str, Any], pictures: Sequence[Picture]) -> str:
    """Fill the template."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(pictures=pictures, **context)
