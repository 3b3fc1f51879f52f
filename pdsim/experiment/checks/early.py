"""What a run would find out after minutes, and the config knows: said before anything starts."""

import numpy as np

from pdsim.experiment.checks.size import check_steps, check_work
from pdsim.experiment.model import ExperimentConfig
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name
from pdsim.systems.system import System


def check_early(experiment: ExperimentConfig, system: System) -> None:
    """Refuse seeds, starts, windows and statistics that a job would stumble over.

    Raises:
        PdsimError: names the key from the top of the file.
    """
    _check_seeds(experiment)
    _check_runs(experiment, system)
    _check_statistics(experiment)
    _check_joint_prior(experiment)
    check_work(experiment)
    check_steps(experiment)


# Deviations of a joint prior over the width of the bounds that rounding leaves something of.
_NARROWEST, _WIDEST = 1e-10, 1e6


def _check_joint_prior(experiment: ExperimentConfig) -> None:
    """Refuse a joint prior whose mean is impossible, or whose deviation rounding swallows."""
    joint = experiment.simulator.joint_prior
    if joint is None:
        return
    for i, name in enumerate(joint.parameters):
        where, entry = f"simulator.joint_prior: {name}", experiment.simulator.parameters[name]
        bounds = np.array([entry.lower, entry.upper])
        lower, upper = np.log(bounds) if entry.scale == "log" else bounds
        mean, ratio = joint.mean[i], joint.covariance[i][i] ** 0.5 / (upper - lower)
        what = "logarithm" if entry.scale == "log" else "value"
        if not lower <= mean <= upper:
            raise PdsimError(
                f"{where}: the mean {mean:g} of its {what} is outside the bounds {lower:g} to "
                f"{upper:g}; correct it, or widen the bounds of simulator.parameters.{name}"
            )
        if not _NARROWEST < ratio < _WIDEST:
            raise PdsimError(
                f"{where}: the deviation of its {what} is {ratio:.1g} times the width of its "
                "bounds; correct covariance"
            )


def _check_seeds(experiment: ExperimentConfig) -> None:
    for name, budget in experiment.budgets.items():
        if budget.seed_count is not None and budget.seed_count > len(experiment.seeds):
            raise PdsimError(
                f"budgets.{name}.seed_count: {budget.seed_count} of the seeds are asked for, and "
                f"there are {len(experiment.seeds)} (seeds); list more, or leave this key out"
            )


def _check_runs(experiment: ExperimentConfig, system: System) -> None:
    """Refuse starts beyond the limits, and shooting that the system's states do not allow."""
    from pdsim.likelihood.momenta import check_momenta
    from pdsim.likelihood.shooting import subtracts

    parameters = experiment.simulator.parameters
    for i, run in enumerate(experiment.runs):
        if run.shooting == "marginal" and not subtracts(system):
            raise PdsimError(
                f"runs.{i}.shooting: states of {system.name} cannot be subtracted, so its windows "
                "cannot be linearised; choose single shooting"
            )
        if run.shooting == "marginal" and experiment.likelihood.marginal.process_of == "momenta":
            check_momenta(system)
        start = run.settings.get("start")
        for name, value in (start if isinstance(start, dict) else {}).items():
            where = f"runs.{i}.settings.start.{name}"
            if name not in parameters:
                raise PdsimError(
                    f"{where}: no parameter of this name is sought{close_name(name, parameters)}"
                )
            lower, upper = parameters[name].lower, parameters[name].upper
            if not lower <= value <= upper:
                raise PdsimError(f"{where}: {value:g} is outside the limits {lower:g} to {upper:g}")


def _check_statistics(experiment: ExperimentConfig) -> None:
    """Refuse statistics of more frames than the training windows have."""
    windows = [w for w in experiment.recording.resolve(None, 1.0) if w.split == "train"]
    if experiment.bayessim is None or not windows:
        return
    frames = min(w.last - w.first for w in windows)
    statistic = experiment.bayessim.statistic
    asked: dict[str, tuple[int, ...]] = {"every": (statistic.every,)}
    if "lags" in statistic.model_fields_set:
        asked["lags"] = statistic.lags
    for key, counts in asked.items():
        if max(counts) >= frames:
            raise PdsimError(
                f"bayessim.statistic.{key}: {max(counts)} frames are more than the training "
                f"windows have ({frames} frames)"
            )
