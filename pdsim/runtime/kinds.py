"""Which stage's file a NetCDF file is, by what its root holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import netCDF4

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        held: variables and groups of the root by which it is known.
        words: what it is.
        stage: the verb that writes it.
    """

    held: tuple[str, ...]
    words: str
    stage: str


# By the option of the command line that names such a file.
KINDS = {
    "trajectories": Kind(("observed", "states", "start"), "a trajectories file", "preprocess"),
    "posterior": Kind(("posterior", "sample_stats"), "a posterior", "infer"),
    "rollouts": Kind(("simulated", "fitted"), "a roll-outs file", "simulate"),
    "prediction": Kind(("predicted", "predicted_observation"), "a prediction", "predict"),
    "training_set": Kind(
        ("simulated", "held_out", "coordinates", "lost", "noise"), "a training set", "training-set"
    ),
    "statistics": Kind(("simulated", "recorded"), "a statistics file", "statistics"),
    "trained": Kind(("network", "scaling"), "a trained density", "train"),
    "calibration": Kind(("rank", "r_hat"), "a calibration", "calibrate"),
}


# Dimensions that roll-outs and predictions share with their trajectories.
_SHARED = ("trajectory", "time", "channel")


def held(path: str | Path) -> set[str]:
    """Names of variables, groups and attributes of a file's root; the values are not read.

    Raises:
        PdsimError: there is no such file, or it is no NetCDF file.
    """
    check_regular(path, "a NetCDF file")
    if not Path(path).is_file():
        raise PdsimError(f"{path}: no such file; run the stage that makes it first")
    try:
        with netCDF4.Dataset(path) as file:
            return {*file.variables, *file.groups, *file.ncattrs()}
    except (OSError, RuntimeError, AttributeError, ValueError) as error:
        raise PdsimError(
            f"{path}: not a readable NetCDF file: {error}; name another file, or run the stage "
            "that makes it again"
        ) from error


def what_it_is(names: set[str]) -> str:
    """The kind of a file that holds these names, in words; empty where it is none of ``KINDS``."""
    found = (kind for kind in KINDS.values() if set(kind.held) <= names)
    return next((f"{kind.words} of pdsim {kind.stage}" for kind in found), "")


def check_kind(path: str | Path, option: str) -> None:
    """Refuse a file of another stage than the one that an option asks for.

    Raises:
        PdsimError: says what the file is, and what is wanted.
    """
    kind, names = KINDS[option], held(path)
    missing = [name for name in kind.held if name not in names]
    if missing:
        what = what_it_is(names) or f"no file of pdsim {kind.stage} (it has no {missing[0]})"
        raise PdsimError(
            f"{path}: is {what}, and {kind.words} is wanted; give a file that pdsim {kind.stage} "
            "wrote"
        )


def check_same_recordings(path: str | Path, trajectories: Sequence[str]) -> None:
    """Refuse roll-outs or a prediction of other recordings than those of the trajectories.

    Args:
        trajectories: the trajectories file; none or several say nothing.

    Raises:
        PdsimError: the numbers of recordings, frames or channels differ.
    """
    if len(trajectories) != 1:
        return
    with netCDF4.Dataset(path) as made, netCDF4.Dataset(trajectories[0]) as file:
        whole = "simulated" in made.variables
        ours = {name: len(made.dimensions[name]) for name in _SHARED if name in made.dimensions}
        theirs = {name: len(file.dimensions[name]) for name in ours if name in file.dimensions}
    # Roll-outs lack the first frame; a prediction has held-out recordings and their later frames.
    expected = {name: n - (name == "time") for name, n in theirs.items()}
    wrong = [
        name
        for name, n in ours.items()
        if name in expected and (n != expected[name] if whole else n > expected[name])
    ]
    if wrong:
        raise PdsimError(
            f"{path}: was made from other trajectories than {trajectories[0]} ({wrong[0]}: "
            f"{ours[wrong[0]]}, and {expected[wrong[0]]} are expected); make it from these"
        )
