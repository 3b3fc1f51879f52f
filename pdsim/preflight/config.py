"""What ``preflight`` depends on."""

from typing import Literal

from pdsim.inference.runs import RunChoice, WorkConfig
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.settings.section import Section
from pdsim.systems.config import SimulatorConfig


class PlannedRun(RunChoice):
    """What a run costs depends on."""

    name: str
    effort: int


class Preflight(Section):
    """Of ``preflight``."""

    simulator: SimulatorConfig
    likelihood: LikelihoodConfig
    planned: tuple[PlannedRun, ...]
    work: WorkConfig
    precision: Literal["float64", "float32"]
