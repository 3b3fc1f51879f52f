"""Whether files of earlier stages were made with the experiment that they are given to.

The workflow makes a file anew when a setting that it depends on changes. A command by hand takes
the files that it is given: here they are held against the experiment, and a difference is named by
its key.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pdsim.experiment.model import ExperimentConfig
from pdsim.posterior import PosteriorFile
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset, sha256

# Where a file is changes nothing of what is in it: of models the hash is compared.
_PLACES = ("model",)
# What a job puts in its own words: the prior that an earlier posterior became.
_RESOLVED = ("fixed_from", "prior_from", "joint_prior")


def check_trajectories(path: str, experiment: ExperimentConfig) -> None:
    """Refuse trajectories that were cut out with another section ``recording``.

    A file without the section is passed on: the stage says what it is.

    Raises:
        PdsimError: names the key and both values, or the raw file that has changed.
    """
    data = read_dataset(path)
    text = data.attrs.get("recording")
    if text is None:
        return
    again = "run pdsim preprocess again"
    _compare(path, "recording", _parsed(path, text), experiment.recording, again)
    system = data.attrs.get("system", experiment.simulator.system)
    if system != experiment.simulator.system:
        raise PdsimError(
            f"{path}: was made with simulator.system {system}, and the experiment has "
            f"{experiment.simulator.system}; {again}"
        )
    for source, digest in set(zip(data["source"].values, data["sha256"].values, strict=True)):
        if digest and Path(str(source)).is_file() and sha256(str(source)) != digest:
            raise PdsimError(f"{path}: was made from {source}, which has changed since; {again}")


def check_posterior(
    found: PosteriorFile,
    experiment: ExperimentConfig,
    *,
    run: str | None = None,
    seed: int | None = None,
) -> None:
    """Refuse a posterior of another run, or that was inferred with other settings.

    Args:
        run: the run that it is given for; None: any of the experiment's.
        seed: of that run; None: any.

    Raises:
        PdsimError: names the key and both values.
    """
    if run is not None:
        experiment.identity(run)
    path, known = str(found.path), {one.run: one for one in experiment.identities()}
    if found.run not in known or (run is not None and found.run != run):
        wanted = run or f"one of {', '.join(known)}"
        raise PdsimError(f"{path}: is of run {found.run!r}, and the command is for {wanted!r}")
    if seed is not None and found.seed != seed:
        raise PdsimError(f"{path}: is of seed {found.seed}, and the command is for seed {seed}")
    method, shooting = known[found.run].method, known[found.run].shooting
    for key, value in (("method", method), ("shooting", shooting)):
        if found.attributes[key] != value:
            raise PdsimError(
                f"{path}: run {found.run} was made with {key} {found.attributes[key]}, and the "
                f"experiment has {value}; infer it again"
            )
    again = "infer it again, or name the experiment that it is of"
    stored = dict(found.settings["simulator"])
    _compare(path, "simulator", stored, experiment.simulator, again, _RESOLVED)
    if method == "bayessim":
        return
    from pdsim.experiment.slices import likelihood_of

    choice = experiment.run(found.run).choice
    likelihood = likelihood_of("infer", experiment, found.run)
    _compare(path, "runs", found.settings["run"], choice, again)
    _compare(path, "likelihood", found.settings["likelihood"], likelihood, again)


def _parsed(path: str, text: Any) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError) as error:
        raise PdsimError(
            f"{path}: its attribute recording is no section ({error}); run pdsim preprocess again"
        ) from None


def _compare(
    path: str,
    where: str,
    stored: Mapping[str, Any],
    section: BaseModel,
    remedy: str,
    skipped: tuple[str, ...] = (),
) -> None:
    """Refuse a stored section that differs from the experiment's, by its first key that does."""
    try:
        # Keys that were added since have their defaults.
        before = type(section).model_validate(dict(stored)).model_dump(mode="json")
    except ValidationError:
        before = dict(stored)
    now = section.model_dump(mode="json")
    for key in skipped:
        before.pop(key, None), now.pop(key, None)
    for key, old, new in _differences(before, now, where):
        raise PdsimError(
            f"{path}: was made with {key} {_shown(old)}, and the experiment has {_shown(new)}; "
            f"{remedy}"
        )


def _differences(before: Any, now: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    """Keys that differ, with both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            if where == "recording" and key == "files":
                # A file that was moved is the same; what is in it has its own hash.
                if set(before.get(key, ())) != set(now.get(key, ())):
                    yield f"{where}.{key}", list(before.get(key, ())), list(now.get(key, ()))
            elif key not in _PLACES:
                yield from _differences(before.get(key), now.get(key), f"{where}.{key}")
    elif before != now:
        yield where, before, now


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]} …"
