"""What a run would find out after minutes, and the config knows: said before anything starts."""

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
    check_work(experiment)
    check_steps(experiment)


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
