"""One look for all figures, and files that are the same bytes for the same data."""

from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from pdsim.runtime.files import write_atomically

RECORDING = "black"
TRUTH = "#d62728"
BOUND = "0.55"
RUN_COLOURS = {
    "emcee": "#7570b3",
    "cem": "#1b9e77",
    "sgld": "#a6761d",
    "nuts": "#e7298a",
    "svgd": "#1f77b4",
    "csvgd": "#d95f02",
}


def apply() -> None:
    """Set matplotlib's defaults."""
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


def save(figure: Figure, stem: str | Path) -> None:
    """Write ``<stem>.pdf`` and ``<stem>.png`` without dates, and close the figure."""
    for suffix, metadata in ((".pdf", {"CreationDate": None}), (".png", {"Software": None})):
        write_atomically(f"{stem}{suffix}", partial(figure.savefig, metadata=metadata))
        # With many axes the layout takes longer than the drawing; once is enough.
        figure.set_layout_engine("none")
    plt.close(figure)


def run_look(method: str, shooting: str) -> dict[str, str]:
    """Colour by method, dashes for single shooting."""
    return {
        "color": RUN_COLOURS[method],
        "linestyle": "-" if shooting == "multiple" else "--",
    }


def run_label(method: str, shooting: str) -> str:
    """Name a run in legends and titles; of BayesSim, ``shooting`` is the variant."""
    if method == "bayessim":
        return f"BayesSim, {shooting.replace('_', ' ', 1).replace('_', ' ')}"
    return f"{method.upper()}, {shooting} shooting"
