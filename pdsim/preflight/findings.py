"""What is known of an experiment before it runs, in words, and its file."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_text, write_text


class Cost(NamedTuple):
    """Of a run, at most: one that converges ends early.

    Attributes:
        rollouts: how many trajectories it simulates.
        start: processor time to start, to read and to compile [min].
        work: processor time of all evaluations, with slopes [min].
    """

    rollouts: int
    start: float
    work: float

    @property
    def minutes(self) -> float:
        """Processor time, as one core has it to itself [min]."""
        return self.start + self.work

    def line(self, run: str) -> str:
        """For a terminal."""
        return (
            f"{run}: {self.rollouts:,} roll-outs at most, {self.minutes:.2g} min of one core: "
            f"{self.start:.2g} to start and compile, {self.work:.2g} for the roll-outs and slopes"
        )


class Findings(NamedTuple):
    """What is known of a model and its recordings before anything is estimated.

    Attributes:
        step: error of the step over the noise of the sensors, of the channel where it is largest.
        deviations: name of a parameter → deviation that the recordings leave it, were all others
            known and the model exact, in widths of its limits; median over the points.
        open: directions that they leave open, in words.
        failed: share of the prior's points where a roll-out is not finite, of a system that can be.
        none: share of the prior's points where no system can be, as a body lighter than nothing.
        doubt: first words of a message, where the frames are too far apart (``pace.suspicion``).
    """

    step: float
    deviations: Mapping[str, float]
    open: tuple[str, ...]
    failed: float
    none: float = 0.0
    doubt: str = ""

    def summary(self) -> list[str]:
        """The step and what is open, a sentence each."""
        told = [f"error of one step halved: {self.step:.2g} times the sensors' noise"]
        told += [f"open: {text}" for text in self.open]
        if self.failed:
            told.append(f"of the prior, {100 * self.failed:.2g} % cannot be simulated")
        if self.none:
            told.append(
                f"of the prior, {100 * self.none:.2g} % are no system that can be: left out of "
                "every posterior, with no harm"
            )
        return told

    def lines(self) -> list[str]:
        """The same, and each parameter."""
        return self.summary() + [
            f"{name}: known to {100 * left:.2g} % of its limits at best"
            for name, left in self.deviations.items()
        ]

    @property
    def fine(self) -> bool:
        """Whether the step errs by less than the sensors."""
        return self.step <= 1

    def check(self, source: str) -> None:
        """Refuse a step whose error is larger than the noise.

        Args:
            source: path of the experiment.

        Raises:
            PdsimError: says by how much.
        """
        if not self.fine:
            raise PdsimError(
                f"{source}: {self.doubt}simulator.substeps: the error of a step is "
                f"{self.step:.3g} times the noise of the sensors and would pass for it; double "
                "substeps, or choose integrator: rk4"
            )


class Preflight(NamedTuple):
    """What the report tells.

    Attributes:
        findings: None where nothing could be found.
        reason: why there are none.
        costs: of each run by name.
    """

    findings: Findings | None
    reason: str
    costs: Mapping[str, Cost]


def write_preflight(path: str, preflight: Preflight) -> None:
    """Write a JSON file."""
    found = preflight.findings._asdict() if preflight.findings else None
    values = preflight._replace(findings=found)._asdict()  # type: ignore[arg-type]
    write_text(path, json.dumps(values, indent=1) + "\n")


def read_preflight(path: str) -> Preflight:
    """Read what ``write_preflight`` wrote.

    Raises:
        PdsimError: it is missing, or no such file.
    """
    text = read_text(path)
    try:
        values = json.loads(text)
        found = Findings(**values["findings"]) if values["findings"] else None
        costs = {run: Cost(*numbers) for run, numbers in values["costs"].items()}
        return Preflight(found, values["reason"], costs)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PdsimError(
            f"{path}: not written by pdsim preflight; name a file that its --output wrote"
        ) from None
