"""What each stage depends on: its slice of an experiment's config.

A stage gets its slice and nothing else; the workflow tracks the slice's JSON as a param of the
rule. What a slice holds shows in that JSON, so this file is in no fingerprint of code.
"""

from typing import Any, Literal

from pdsim.calibration.config import CalibrationConfig
from pdsim.experiment.model import ExperimentConfig
from pdsim.inference.bayessim.config import BayesSimConfig
from pdsim.inference.runs import Run, RunChoice, TuningConfig, WorkConfig
from pdsim.likelihood.config import LikelihoodConfig, MarginalConfig, PredictionConfig
from pdsim.preflight.config import Preflight
from pdsim.recordings.config import RecordingConfig
from pdsim.settings.section import Section
from pdsim.systems.config import SimulatorConfig, SystemChoice

Precision = Literal["float64", "float32"]


class Record(Section):
    """Of ``record``."""

    recording: RecordingConfig
    system: SystemChoice


class Preprocess(Section):
    """Of ``preprocess``; the system's quantities (name, unit, kind) by group."""

    recording: RecordingConfig
    system: SystemChoice
    quantities: dict[str, tuple[tuple[str, str, str], ...]]


class Infer(Section):
    """Of ``infer``."""

    simulator: SimulatorConfig
    likelihood: LikelihoodConfig
    run: RunChoice
    work: WorkConfig
    precision: Precision
    exchangeable: tuple[tuple[str, str], ...] = ()


class Simulate(Section):
    """Of ``simulate``."""

    simulator: SimulatorConfig
    precision: Precision


class Predict(Simulate):
    """Of ``predict``."""

    likelihood: LikelihoodConfig
    prediction: PredictionConfig


class Evaluate(Simulate):
    """Of ``evaluate`` and ``learning-curve``."""

    likelihood: LikelihoodConfig


class Tune(Evaluate):
    """Of ``tune``."""

    tuning: TuningConfig
    searched: Run
    trials: tuple[dict[str, Any], ...]


class Calibrate(Simulate):
    """Of ``calibrate``."""

    recording: RecordingConfig
    likelihood: LikelihoodConfig
    run: RunChoice
    calibration: CalibrationConfig


class TrainingSet(Simulate):
    """Of ``training-set``."""

    bayessim: BayesSimConfig


class Statistics(Section):
    """Of ``statistics`` and ``train``."""

    bayessim: BayesSimConfig
    precision: Precision


class Condition(Evaluate):
    """Of ``condition``."""

    bayessim: BayesSimConfig
    particle_count: int


class Table(Section):
    """Of ``table``."""

    paper_table: bool | Literal["panda"]
    unit: str


class Report(Table):
    """Of ``report``."""

    title: str
    description: str
    notes: tuple[str, ...]
    simulator: SimulatorConfig
    runs: tuple[Run, ...]
    seeds: tuple[int, ...]
    reference: str | None
    exchangeable: tuple[tuple[str, str], ...]
    combinations: dict[str, str]


SLICES: dict[str, type[Section]] = {
    "record": Record,
    "preprocess": Preprocess,
    "preflight": Preflight,
    "infer": Infer,
    "simulate": Simulate,
    "predict": Predict,
    "evaluate": Evaluate,
    "learning_curve": Evaluate,
    "tune": Tune,
    "calibrate": Calibrate,
    "training_set": TrainingSet,
    "statistics": Statistics,
    "train": Statistics,
    "condition": Condition,
    "table": Table,
    "report": Report,
}
# Of BayesSim's section, what each of its stages reads.
_PARTS = {
    "training_set": {"training_set"},
    "statistics": {"statistic"},
    "train": {"density"},
    "condition": {"density"},
}


_OF_A_RUN = ("infer", "tune", "calibrate")
# What the likelihood's section says where a stage does not look.
_UNREAD = {"window_count": 10, "marginal": MarginalConfig()}
_NOISE_ALONE = _UNREAD | {"combination": "sum"}
_UNREAD_WITH: dict[str, dict[str, Any]] = {
    "single": _UNREAD,
    "multiple": {"marginal": MarginalConfig()},
    "marginal": {"noise": None, "noise_relative": None},
}


def likelihood_of(stage: str, experiment: ExperimentConfig, run: str) -> LikelihoodConfig:
    """The section ``likelihood`` without what a stage does not read."""
    if stage == "preflight":
        return experiment.likelihood
    if stage in ("evaluate", "learning_curve"):
        return experiment.likelihood.model_copy(update=_NOISE_ALONE)
    if stage == "predict":
        # Runs without a noise of their own take the white noise that was found.
        unread = _UNREAD_WITH["marginal"] | {"combination": "sum"}
        return experiment.likelihood.model_copy(update=unread)
    shooting = experiment.run(run).shooting if stage in _OF_A_RUN else "single"
    unread = _UNREAD_WITH[shooting]
    return experiment.likelihood.model_copy(update=unread)


def slice_of(stage: str, experiment: ExperimentConfig, *, run: str = "", budget: str = "") -> Any:
    """Cut a stage's slice out of an experiment.

    Args:
        run: name of a run, for stages of one run.
        budget: name of a budget, for stages that have one.
    """
    values: dict[str, Any] = {}
    for name in SLICES[stage].model_fields:
        if name == "run":
            values[name] = experiment.run(run).choice
        elif name == "searched":
            values[name] = experiment.run(run).model_copy(update={"chosen": "", "effort": 1})
        elif name == "planned":
            values[name] = [
                {"name": one.identity.run, "effort": one.effort, **one.choice.model_dump()}
                for one in experiment.planned(budget)
            ]
        elif name == "trials":
            values[name] = experiment.run(run).trials()
        elif name == "likelihood":
            values[name] = likelihood_of(stage, experiment, run)
        elif name == "work":
            work = experiment.budget(budget).model_dump(include=set(WorkConfig.model_fields))
            if run:
                work["iteration_count"] *= experiment.run(run).effort
            values[name] = WorkConfig.model_validate(work)
        elif name == "particle_count":
            values[name] = experiment.budget(budget).particle_count
        elif name == "bayessim":
            whole = experiment.trained(budget)
            kept = whole.model_dump(include=_PARTS[stage])
            values[name] = BayesSimConfig.model_validate(kept)
        elif name == "system":
            values[name] = experiment.simulator.choice
        elif name in ("quantities", "unit"):
            values[name] = getattr(experiment, name)()
        else:
            values[name] = getattr(experiment, name)
    return SLICES[stage].model_validate(values)
