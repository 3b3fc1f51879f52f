"""Whether the sections of an experiment go together, with its system and its source."""

from pdsim.experiment.checks.early import check_early
from pdsim.experiment.earlier import check_earlier
from pdsim.experiment.model import ExperimentConfig
from pdsim.experiment.next_prior import check_next_prior
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name


def check_consistency(experiment: ExperimentConfig) -> None:
    """Check what only the system and the source know, and what sections say of each other.

    Raises:
        PdsimError: names the key from the top of the file.
    """
    from pdsim.recordings.trajectories import check_prefix, window_length
    from pdsim.systems.simulator import check_parameters

    system, recording, source = experiment.system(), experiment.recording, experiment.source
    check_parameters(experiment.simulator, system)
    check_earlier(experiment, system)
    check_next_prior(experiment, system)
    source.check(recording, system)
    noise = experiment.likelihood.noise
    observed = set(source.channels(recording, system))
    if noise is not None and set(noise) != observed:
        raise PdsimError(
            f"likelihood.noise: needs exactly the channels {sorted(observed)} (got {sorted(noise)})"
        )
    check_early(experiment, system)
    _check_varying(experiment)
    _check_truth(experiment, system)
    _check_combinations(experiment)
    _check_bayessim(experiment, system, observed)
    _check_calibration(experiment)
    windows = recording.resolve(None, 1.0)
    if experiment.prediction is not None:
        _check_prediction(experiment, system)
        lengths = [w.last - w.first for w in windows if w.split == "test"]
        check_prefix(experiment.prediction.prefix, lengths)
    if experiment.prediction or any(run.shooting != "single" for run in experiment.runs):
        lengths = [w.last - w.first for w in windows if w.split == "train"]
        if lengths:
            window_length(max(lengths), experiment.likelihood.window_count)


def _check_prediction(experiment: ExperimentConfig, system) -> None:
    """Refuse a prefix of no recording, and of states that cannot be filtered."""
    from pdsim.likelihood.shooting import subtracts

    if not experiment.holds_out:
        raise PdsimError(
            "prediction: no recording is held out, so there is nothing to predict; name some in "
            "recording.test, or leave this section out"
        )
    if not subtracts(system):
        raise PdsimError(
            f"prediction: states of {system.name} cannot be subtracted, so they cannot be inferred "
            "from a prefix; leave this section out"
        )


def _check_varying(experiment: ExperimentConfig) -> None:
    """Refuse a deviation between recordings of what is not estimated."""
    known = experiment.simulator.parameters
    for name in experiment.likelihood.marginal.varying:
        if name not in known:
            raise PdsimError(
                f"likelihood.marginal.varying.{name}: is none of simulator.parameters"
                f"{close_name(name, known)}"
            )


def _check_combinations(experiment: ExperimentConfig) -> None:
    """Refuse to combine what there is not, or what does not go together."""
    if not experiment.combinations:
        return
    from pdsim.experiment.checks.combinations import check_combinations
    from pdsim.systems.simulator import build_simulator

    # The values of an earlier posterior are not known yet, nor when the report is written.
    fixed = experiment.simulator.fixed_from is None
    check_combinations(experiment.combinations, build_simulator(experiment.simulator), fixed=fixed)


def _check_bayessim(experiment: ExperimentConfig, system, observed: set[str]) -> None:
    """Refuse to train on recordings whose sensors cannot be imitated."""
    if experiment.bayessim is None:
        return
    recording = experiment.recording
    missing = [channel.name for channel in system.channels if channel.name not in observed]
    if missing:
        raise PdsimError(f"bayessim: channel {missing[0]} is not observed; leave this section out")
    velocities = any(channel.kind == "velocity" for channel in system.channels)
    imitated = recording.derives_velocities and not recording.measured_states
    if not imitated and (velocities or not recording.fitted_states):
        raise PdsimError(
            "bayessim: simulations are seen through sensors that measure positions and difference "
            "them (recording.derive_velocities, smoothed states), or measure positions alone "
            "(recording.states.near); leave this section out"
        )
    lengths = {w.last - w.first for w in recording.resolve(None, 1.0) if w.split == "train"}
    if len(lengths) > 1:
        raise PdsimError(
            f"bayessim: training windows of one length are needed, not {sorted(lengths)} frames"
        )


def _check_calibration(experiment: ExperimentConfig) -> None:
    """Refuse a mixture over recordings, which is no density of all of them."""
    windows = experiment.recording.resolve(None, 1.0)
    several = sum(window.split == "train" for window in windows) > 1
    if experiment.calibration and several and experiment.likelihood.combination == "sum":
        raise PdsimError(
            "calibration: the sum over recordings (likelihood.combination) is no density that "
            "data could be drawn from; choose product, or train on one window"
        )


def _check_truth(experiment: ExperimentConfig, system) -> None:
    """Compare the limits with what the source knows to be true, and the landscape's needs."""
    from pdsim.systems.simulator import targets as targets_of

    defaults = {name: parameter.default for name, parameter in system.parameters.items()}
    truths = experiment.source.truths(experiment.recording, defaults)
    for name, parameter in experiment.simulator.parameters.items():
        targets = targets_of(name, parameter, system)
        if experiment.landscape and not all(targets[0] in truth for truth in truths or [{}]):
            raise PdsimError(f"landscape: needs the truth of every parameter; {name} has none")
        for truth in truths:
            value = truth.get(targets[0])
            if value is not None and not parameter.lower <= value <= parameter.upper:
                raise PdsimError(
                    f"simulator.parameters.{name}: its true value {value:g} {parameter.unit} is "
                    f"outside the limits {parameter.lower:g} to {parameter.upper:g}"
                )
    camera = getattr(experiment.recording, "camera", None)
    population = camera.population if camera else None
    if population and list(population.parameters) != list(experiment.simulator.parameters):
        raise PdsimError(
            "recording.camera.population.parameters: must be those of simulator.parameters, in "
            "their order"
        )
