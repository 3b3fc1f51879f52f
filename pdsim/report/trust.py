"""Whom to trust: one paragraph a run, of numbers and fixed rules alone."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pdsim.figures.figure import whose
from pdsim.inference.identity import Identity
from pdsim.runtime.files import read_dataset
from pdsim.tables.layout import Cell, medians, mixing, number
from pdsim.tables.verdicts import (
    COVERAGE,
    INTERVAL,
    THIRDS,
    Verdict,
    of_distance,
    of_run,
    of_truth,
    worst,
)

# The error that is told: of predictions from a prefix, where there are some.
ERRORS = ("prefix_rmse_median", "rmse_median")
# Of two runs it is in the ratio that their errors are in, recording by recording.
_GEOMETRIC = "prefix_rmse_geometric"
DISTANCE = "reference_wasserstein"
_HALF, _RANK = "prefix_coverage_50", "credible_rank"
_KEYS = (
    COVERAGE,
    *INTERVAL,
    *THIRDS,
    _HALF,
    *ERRORS,
    _GEOMETRIC,
    "r_hat",
    "ess_bulk",
    "pareto_k",
    DISTANCE,
    _RANK,
)

Cells = Mapping[str, Cell]


class TrustLine(NamedTuple):
    """A run, what the rules say of it, and the numbers behind.

    Attributes:
        text: the numbers in sentences.
        identity: whose it is.
        cells: the numbers by metric; what was not measured is missing or NaN.
    """

    label: str
    verdicts: list[Verdict]
    text: str
    identity: Identity = Identity("", "", "")
    cells: Cells = MappingProxyType({})

    def value(self, metric: str) -> float:
        """A number, median over the seeds; NaN where it was not measured."""
        return self.cells[metric].value if metric in self.cells else np.nan

    def worst(self, metric: str) -> float:
        """The same, the highest over the seeds."""
        return worst(self.cells[metric]) if metric in self.cells else np.nan


def trust_lines(
    metrics: pd.DataFrame,
    unit: str,
    *,
    reference: str | None = None,
    agreeing: Mapping[str, Sequence[float]] | None = None,
) -> list[TrustLine]:
    """Say of each run with marginal shooting or predictions from a prefix how far to trust it.

    Args:
        metrics: long table, see ``pdsim.metrics.long_format``.
        unit: of errors in position channels.
        reference: name of the run that distances are taken to.
        agreeing: run → share of starts of least squares that agree, one a seed.
    """
    runs = medians(metrics, _KEYS)
    fits = [i for i in runs if i.method == "least_squares"]
    # One that sees what the runs here see comes first.
    fits.sort(key=lambda identity: identity.shooting != "marginal")
    fit = fits[0] if fits else None
    lines = []
    for identity, cells in runs.items():
        if identity.shooting != "marginal" and COVERAGE not in cells:
            continue
        ranks = metrics[(metrics["run"] == identity.run) & (metrics["metric"] == _RANK)]["value"]
        sentences = [
            *_coverage(cells),
            *_error(cells, unit, runs[fit] if fit and identity != fit else {}),
            *_convergence(cells, (agreeing or {}).get(identity.run, ())),
            *_distance(identity, runs, reference),
            *_truth(cells),
        ]
        verdicts = _far(identity, runs, reference) + of_run(cells) + of_truth(list(ranks))
        lines.append(TrustLine(identity.label, verdicts, " ".join(sentences), identity, cells))
    return lines


def agreeing_starts(roots: Mapping[str, Mapping[Any, Any]]) -> dict[str, list[float]]:
    """Share of the starts of least squares that agree, run → one a seed.

    Args:
        roots: path of a posterior file → its attributes.
    """
    found: dict[str, list[float]] = {}
    for path, root in roots.items():
        history = read_dataset(path, "history")
        if "agreeing" in history:
            found.setdefault(whose(root).run, []).append(float(history["agreeing"].values[-1]))
    return found


def _known(cells: Cells, key: str) -> bool:
    return key in cells and not np.isnan(cells[key].value)


def _short(cell: Cell) -> str:
    return cell._replace(digits=3).text()


def _coverage(cells: Cells) -> list[str]:
    if not _known(cells, COVERAGE):
        return []
    text = f"The 90 % band of observations from the prefix covers {_short(cells[COVERAGE])}"
    if all(_known(cells, key) for key in INTERVAL):
        low, high = (number(cells[key].value, 2) for key in INTERVAL)
        text += f", {low} to {high} were the recordings others like these"
    if all(_known(cells, key) for key in THIRDS):
        thirds = " / ".join(number(cells[key].value, 2) for key in THIRDS)
        text += f" (first / second / last third of the horizon: {thirds})"
    if _known(cells, _HALF):
        text += f", the 50 % band {_short(cells[_HALF])}"
    return [f"{text}."]


def _error(cells: Cells, unit: str, fit: Cells) -> list[str]:
    for key in ERRORS:
        if _known(cells, key):
            text = f"RMSE of the predictive median {_short(cells[key])} {unit}".removesuffix(" -")
            if _known(fit, key):
                text += f"; that of least squares {_short(fit[key])}"
                text += by_recording(cells, fit)
            return [f"{text}."]
    return []


def by_recording(cells: Cells, fit: Cells) -> str:
    """Ratio of the errors from a prefix to a fit's, in brackets; empty where one is not known.

    Medians over recordings may order two runs by the few recordings that are in the middle.
    """
    if not (_known(cells, _GEOMETRIC) and _known(fit, _GEOMETRIC)) or not fit[_GEOMETRIC].value:
        return ""
    ratio = cells[_GEOMETRIC].value / fit[_GEOMETRIC].value
    text = "the first over the second, recording by recording"
    return f" ({text}: {number(ratio, 2)} in the geometric mean)"


def _convergence(cells: Cells, agreeing: Sequence[float]) -> list[str]:
    found = []
    if _known(cells, "r_hat"):
        text = f"Largest R-hat {number(worst(cells['r_hat']), 3)}"
        if _known(cells, "ess_bulk"):
            size = cells["ess_bulk"]
            least = size.value if np.isnan(size.lowest) else size.lowest
            text += f", smallest bulk effective sample size {number(least, 3)}"
        found.append(f"{text}.")
    if _known(cells, "pareto_k"):
        found.append(f"Pareto k of its weights {number(worst(cells['pareto_k']), 2)}.")
    if agreeing:
        found.append(f"{min(agreeing):.0%} of its starts agree on the optimum.".replace("%", " %"))
    return found


def _distance(
    identity: Identity, runs: Mapping[Identity, Cells], reference: str | None
) -> list[str]:
    known = [other for other in runs if other.run == reference]
    if not known:
        return []
    cells, other = runs[identity], runs[known[0]]
    between = _short(other[DISTANCE]) if _known(other, DISTANCE) else ""
    if identity.run == reference:
        text = "Its draws are the reference"
        return [
            f"{text}; distance of its other seeds {between} deviations." if between else f"{text}."
        ]
    if not _known(cells, DISTANCE):
        return []
    remark = mixing(other)
    remark = f" ({remark})" if remark else ""
    apart = f"other seeds of the reference: {between}" if between else "no other seed of it was run"
    return [
        f"Distance to the reference, {known[0].label}{remark}: {_short(cells[DISTANCE])} of its "
        f"deviations; {apart}."
    ]


def _far(
    identity: Identity, runs: Mapping[Identity, Cells], reference: str | None
) -> list[Verdict]:
    known = [cells for other, cells in runs.items() if other.run == reference]
    if not known or identity.run == reference or not _known(runs[identity], DISTANCE):
        return []
    return of_distance(runs[identity][DISTANCE].value, known[0])


def _truth(cells: Cells) -> list[str]:
    return [f"Credible rank of the truth {_short(cells[_RANK])}."] if _known(cells, _RANK) else []
