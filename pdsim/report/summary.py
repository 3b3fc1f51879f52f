"""What a fitted experiment says in three lines: found, how well it predicts, what to believe."""

from pathlib import Path

import numpy as np

from pdsim.config.experiment import ExperimentConfig
from pdsim.figures.figure import whose
from pdsim.metrics.long_format import read_metrics
from pdsim.posterior import read_draws
from pdsim.report.asked import AskedLine, asked_lines
from pdsim.report.belief import answer, ranked, said
from pdsim.report.numbers import (
    ParameterLine,
    QuantileLine,
    parameter_lines,
    prior_draws,
    quantile_lines,
)
from pdsim.report.together import TogetherLine, together_lines
from pdsim.report.trust import agreeing_starts, trust_lines
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import build_simulator


def summary(experiment: ExperimentConfig, folder: Path) -> list[str]:
    """Three lines on the run that the report's rules object to least.

    Args:
        folder: of the experiment's results.

    Raises:
        PdsimError: a file of the results is missing or broken.
    """
    roots = {
        str(path): read_dataset(path).attrs
        for identity in experiment.identities()
        for path in sorted((folder / identity.run).glob("seed*/posterior.nc"))
    }
    lines = trust_lines(
        read_metrics(str(folder / "metrics.csv")),
        experiment.unit(),
        reference=experiment.reference,
        reference_seed=experiment.seeds[0],
        agreeing=agreeing_starts(roots),
    )
    order = ranked(lines, experiment.reference)
    if not order:
        return ["No run has marginal shooting or predictions: see the report's comparison."]
    best = order[0]
    path = next(path for path, root in roots.items() if whose(root).label == best.label)
    others = "; ".join(f"{line.label}: {said(line)}" for line in order[1:])
    return [
        f"Found ({best.label}): {_found(experiment, path)}.",
        f"Predicts: {best.text}",
        f"Believe it: {answer(best)}: {said(best)}." + (f" Others: {others}." if others else ""),
    ]


def _found(experiment: ExperimentConfig, path: str) -> str:
    """What was asked for by name; then combinations that the motion determines, or parameters."""
    simulator = build_simulator(experiment.simulator)
    space = simulator.space
    draws, prior = read_draws(path, space), prior_draws(path, space)
    asked = asked_lines(experiment.combinations, simulator, draws, prior, None)
    shown = [_told(one) + ("" if one.determined else " (not determined)") for one in asked]
    shown += [_told(one) for one in quantile_lines(path, "combinations")]
    if shown:
        return ", ".join(shown)
    lines = parameter_lines(space, draws, None, prior)
    shown = [_told(one) for one in together_lines(simulator, draws, prior, None)]
    shown += [_told(one) for one in lines if one.determined]
    left = [one.name for one in lines if not one.determined and np.isfinite(one.width)]
    open_text = f"not determined: {', '.join(left)}" if left else ""
    return "; ".join(filter(None, [", ".join(shown), open_text]))


def _told(line: AskedLine | QuantileLine | ParameterLine | TogetherLine) -> str:
    """A quantity with its median and its 90 % interval."""
    text = f"{line.name} {line.median} ({line.low} to {line.high}) {line.unit}"
    return text.removesuffix(" -")
