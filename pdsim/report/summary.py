"""What a fitted experiment says in four lines: found, predictions, what to believe, what next."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pdsim.experiment.model import ExperimentConfig
from pdsim.figures.figure import whose
from pdsim.metrics.long_format import read_metrics
from pdsim.parameters.labelings import named_alike
from pdsim.posterior import read_draws
from pdsim.preflight.findings import read_preflight
from pdsim.report.advice import advice, advice_sentence
from pdsim.report.asked import AskedLine, asked_lines
from pdsim.report.belief import YES, answer, checks_of_draws, mixed_reference, ranked, said
from pdsim.report.numbers import (
    ParameterLine,
    QuantileLine,
    parameter_lines,
    prior_draws,
    quantile_lines,
)
from pdsim.report.together import TogetherLine, together_lines
from pdsim.report.trust import TrustLine, agreeing_starts, trust_lines
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import Simulator, build_simulator


def summary(experiment: ExperimentConfig, folder: Path, budget: str) -> list[str]:
    """Four lines on the run that the report's rules object to least.

    Args:
        folder: of the experiment's results.
        budget: by name, which they were made with.

    Raises:
        PdsimError: a file of the results is missing or broken.
    """
    runs = [run.identity for run in experiment.planned(budget)] + experiment.variants()
    roots = {
        str(path): read_dataset(path).attrs
        for identity in runs
        for path in sorted((folder / identity.run).glob("seed*/posterior.nc"))
    }
    lines = trust_lines(
        read_metrics(str(folder / "metrics.csv")),
        experiment.unit(),
        reference=experiment.reference,
        agreeing=agreeing_starts(roots),
    )
    order = ranked(lines, experiment.reference)
    if not order:
        return ["No run has marginal shooting or predictions: see the report's comparison."]
    best = order[0]
    path = next(path for path, root in roots.items() if whose(root).label == best.label)
    simulator = build_simulator(experiment.simulator)
    draws, prior = read_draws(path, simulator.space), prior_draws(path, simulator.space)
    draws = named_alike(draws, experiment.exchangeable, simulator.space.names)
    remedies = advice(
        best,
        lines,
        experiment.reference,
        parameter_lines(simulator.space, draws, None, prior),
        read_preflight(str(folder / "preflight.json")).findings,
    )
    return [
        f"Found ({best.label}): {_found(experiment, simulator, path, draws, prior)}.",
        f"Predicts: {best.text}",
        f"Believe it: {_believed(order, experiment.reference)}",
        f"Next: {advice_sentence(remedies)}",
    ]


def _believed(order: Sequence[TrustLine], reference: str | None) -> str:
    """What the rules say of the best run, and of the others."""
    best, *others = order
    text = f"{answer(best)}: {said(best)}"
    if answer(best) == YES and not checks_of_draws(best, mixed_reference(order, reference)):
        text = (
            f"{YES}, in what it predicts: {said(best)}; nothing that was measured tells whether "
            "its draws are a posterior"
        )
    told = "; ".join(f"{line.label}: {said(line)}" for line in others)
    return f"{text}." + (f" Others: {told}." if told else "")


def _found(
    experiment: ExperimentConfig,
    simulator: Simulator,
    path: str,
    draws: np.ndarray,
    prior: np.ndarray | None,
) -> str:
    """What was asked for by name; then combinations that the motion determines, or parameters."""
    space = simulator.space
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
