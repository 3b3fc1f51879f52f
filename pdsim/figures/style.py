"""One look for all figures, and files that are the same bytes for the same data.

Importing this loads no plotting library: the workflow reads the entries of all figures whenever it
starts.
"""

import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pdsim.inference.identity import Identity
from pdsim.runtime.files import write_atomically

RECORDING = "black"
TRUTH = "#d62728"
BOUND = "0.55"
DRAWS = "#08519c"
RUN_COLOURS = {
    "emcee": "#7570b3",
    "cem": "#1b9e77",
    "sgld": "#a6761d",
    "nuts": "#e7298a",
    "crank_nicolson": "#8c564b",
    "svgd": "#1f77b4",
    "csvgd": "#d95f02",
    "least_squares": "#66a61e",
    "steepest_descent": "#a6761d",
    "gauss_newton": "#1b9e77",
}
# Of methods that have no colour above, in the order in which they come.
_PALETTE = ("#17becf", "#bcbd22", "#e6ab02", "#9467bd", "#666666")
_LINES = {"multiple": "-", "single": "--", "marginal": "-."}
# Of the first, second, … run of one method and shooting; the lines of the first carry none.
_MARKERS = ("", "o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h")
# Letters that fit into an inch of a figure's title.
_LETTERS = 11


def apply() -> Any:
    """Set matplotlib's defaults, and return pyplot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.rcParams.update(
        {
            "figure.dpi": 100,
            "savefig.dpi": 150,
            "figure.constrained_layout.use": True,
            "font.size": 9,
            "axes.titlesize": 9,
            "axes.grid": False,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "image.cmap": "viridis",
            "pdf.fonttype": 42,
        }
    )
    return plt


def save(figure, stem: str | Path) -> None:
    """Write ``<stem>.pdf`` and ``<stem>.png`` without dates, and close the figure."""
    import matplotlib.pyplot as plt

    for suffix, metadata in ((".pdf", {"CreationDate": None}), (".png", {"Software": None})):
        write_atomically(f"{stem}{suffix}", partial(figure.savefig, metadata=metadata))
        # With many axes the layout takes longer than the drawing; once is enough.
        figure.set_layout_engine("none")
    plt.close(figure)


def plain(text: str) -> str:
    """Keep matplotlib from reading a text of the user's as mathematics."""
    return text.replace("$", r"\$")


def title(figure, text: str) -> None:
    """Set a figure's title, on several lines where it is too long for one."""
    width = max(int(_LETTERS * figure.get_figwidth()), 20)
    figure.suptitle(plain(textwrap.fill(text, width)))


def run_looks(identities: Sequence[Identity]) -> dict[str, dict[str, Any]]:
    """How the line of each run is drawn, by run, so that no two look alike.

    The colour tells the method, dashes single shooting, dashes and dots marginal shooting, markers
    the second and later runs of one method and shooting.

    Args:
        identities: of all runs of a figure; a run may come again, with another seed.
    """
    strange = list(dict.fromkeys(i.method for i in identities if i.method not in RUN_COLOURS))
    colours = RUN_COLOURS | {m: _PALETTE[k % len(_PALETTE)] for k, m in enumerate(strange)}
    looks: dict[str, dict[str, Any]] = {}
    twins: dict[tuple[str, str], int] = {}
    for identity in dict.fromkeys(identities):
        kind = identity.method, identity.shooting
        number = twins[kind] = twins.get(kind, -1) + 1
        looks[identity.run] = {
            "color": colours[identity.method],
            "linestyle": _LINES.get(identity.shooting, ":"),
            "marker": _MARKERS[number % len(_MARKERS)],
            "markersize": 4,
        }
    return looks
