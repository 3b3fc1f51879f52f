"""Combinations that a run's draws were found to determine, in numbers."""

from typing import NamedTuple

import numpy as np

from pdsim.report.asked import asked_lines
from pdsim.report.spectrum import identified
from pdsim.systems.simulator import Simulator


class TogetherLine(NamedTuple):
    """One combination.

    Attributes:
        name: as the experiment's section `combinations` takes it.
        spread: its deviation over the prior's.
        alone: the same of its best known parameter.
    """

    name: str
    unit: str
    low: str
    median: str
    high: str
    truth: str
    spread: float
    alone: float


def together_lines(
    simulator: Simulator, draws: np.ndarray, prior: np.ndarray | None, truth: np.ndarray | None
) -> list[TogetherLine]:
    """Numbers of each combination that the draws determine.

    Args:
        draws: of a posterior, (draw, M) physical values.
        prior: draws of the prior, or None.
        truth: (M,), or None.
    """
    found = identified(simulator.space, draws, prior)
    asked = {one.text: one.text for one in found}
    lines = asked_lines(asked, simulator, draws, prior, truth)
    return [
        TogetherLine(
            one.text, line.unit, line.low, line.median, line.high, line.truth, one.spread, one.alone
        )
        for one, line in zip(found, lines, strict=True)
    ]
