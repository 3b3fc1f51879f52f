"""Fixed rules for whether a posterior's width is to be trusted, as words.

``coverage`` here is always that of the predictions from a prefix, whose band holds all that the
model says is unknown. The band of plain roll-outs (metric ``coverage_90``) does not: nothing is
concluded from that one.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pdsim.tables.layout import Cell, mixing, number

# Pooled coverage of the 90 % band, and its thirds of the horizon.
COVERAGE = "prefix_coverage_90"
THIRDS = tuple(f"{COVERAGE}_{third}" for third in ("first", "second", "third"))
# Where it lies with 95 %, were the held-out recordings others of the same kind.
INTERVAL = (f"{COVERAGE}_low", f"{COVERAGE}_high")
# Coverage of a band of 90 % that counts as right.
RIGHT_COVERAGE = (0.85, 0.95)
# Weights of a higher Pareto k have a tail too heavy for their means (Vehtari et al., 2024).
RELIABLE_K = 0.7
# A truth of a higher rank is outside the region that holds the share 0.9 of the draws.
REGION = 0.9
# Draws further from those of a reference, in its deviations, are not the same posterior.
FAR = 1.0
# A parameter whose interval is wider than this share of its prior's is not determined.
DETERMINED = 0.5

CALIBRATED, NARROW, WIDE = "calibrated", "too narrow", "too wide"
UNRELIABLE = "weights unreliable"


def of_coverage(value: float) -> str:
    """Say of the coverage of a 90 % band what it is; empty if it is not known."""
    low, high = RIGHT_COVERAGE
    if np.isnan(value):
        return ""
    if value < low:
        return NARROW
    return WIDE if value > high else CALIBRATED


def of_weights(cells: Mapping[str, Cell]) -> str:
    """What to say of a run's weights, by its largest Pareto k over the seeds; empty if all is well.

    Args:
        cells: by metric; runs without ``pareto_k`` have no weights.
    """
    if "pareto_k" not in cells:
        return ""
    value = worst(cells["pareto_k"])
    if np.isnan(value):
        return "weights unknown"
    return UNRELIABLE if value > RELIABLE_K else ""


class Verdict(NamedTuple):
    """What a rule says of a run.

    Attributes:
        word: of the rule.
        value: the number behind it, or where it is from.
        good: whether all is well; None if nothing is known.
    """

    word: str
    value: str = ""
    good: bool | None = False


def of_run(cells: Mapping[str, Cell]) -> list[Verdict]:
    """All that is said of a run: what spoils its draws first, then its coverage.

    Args:
        cells: by metric.
    """
    found = []
    for word, key in ((mixing(cells), "r_hat"), (of_weights(cells), "pareto_k")):
        if word:
            value = worst(cells[key])
            found.append(Verdict(word, "" if np.isnan(value) else number(value, 3)))
    covered = cells[COVERAGE].value if COVERAGE in cells else np.nan
    if word := of_coverage(covered):
        found.append(Verdict(word, number(covered, 3), good=word == CALIBRATED))
    return found or [Verdict("not checked on predictions", good=None)]


def of_distance(value: float, reference: Mapping[str, Cell]) -> list[Verdict]:
    """Whether draws are others than those of a reference that has mixed.

    Args:
        value: distance to it, in its deviations.
        reference: its cells, by metric.
    """
    if mixing(reference) or np.isnan(value) or value <= FAR:
        return []
    return [Verdict("far from the reference", number(value, 3))]


def of_truth(ranks: Sequence[float]) -> list[Verdict]:
    """Whether a known truth is outside the region that holds 90 % of the draws.

    Args:
        ranks: credible ranks of all seeds, NaN where there is none.
    """
    known = [rank for rank in ranks if not np.isnan(rank)]
    outside = [rank for rank in known if rank > REGION]
    if not outside:
        return []
    value = f"rank {outside[0]:.3g}"
    if len(known) > 1:
        value = f"{len(outside)} of {len(known)} seeds"
    return [Verdict("truth outside the 90 % region", value)]


def worst(cell: Cell) -> float:
    """The highest value over the seeds."""
    return cell.value if np.isnan(cell.highest) else cell.highest
