"""The layout of a set of trajectories, and how it is cut into shooting windows.

A trajectories file has dims ``(trajectory, time, channel)`` and is the only place later stages take
recordings, inputs, start states and truths from. It holds

- ``observed``: what the sensors showed, NaN where nothing was observed and beyond a trajectory's
  ``length``; ``channel_derived`` tells of each channel whether it is a finite difference of others,
- ``inputs``: (trajectory, time, input), where the system has some; row k acts from frame k to the
  next,
- ``states``: (trajectory, time, state) estimated states, first guesses of the windows' starts,
- ``start``, ``start_covariance``: state at frame 0 and the covariance of its error,
- ``truth``: (trajectory, system_parameter), NaN where not known; ``population_mean`` and
  ``population_covariance`` (parameter) of the distribution the truths were drawn from, if any,
- ``split``: ``train`` or ``test`` for each trajectory; ``run``, ``segment``, ``first_frame``,
  ``length``, ``source``, ``sha256``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from pdsim.parameters.labelings import columns_of
from pdsim.parameters.space import ParameterSpace
from pdsim.recordings.recording import Recording
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.systems.system import POSITIONS, Quantity, System

# Stamps of two recordings at one rate give their frame times to so many digits.
_SAME_RATE = 1e-4


def _padded(arrays: Sequence[np.ndarray], frames: int) -> np.ndarray:
    """Stack arrays (frame, …) of different lengths, NaN beyond their ends."""
    stacked = np.full((len(arrays), frames, *arrays[0].shape[1:]), np.nan)
    for row, array in zip(stacked, arrays, strict=True):
        row[: len(array)] = array
    return stacked


def _coordinates(dim: str, quantities: Sequence[Quantity]) -> dict[str, tuple]:
    return {
        dim: (dim, [quantity.name for quantity in quantities]),
        f"{dim}_unit": (dim, [quantity.unit for quantity in quantities]),
        f"{dim}_kind": (dim, [quantity.kind for quantity in quantities]),
    }


def trajectory_set(
    system: System,
    recordings: Sequence[Recording],
    splits: Sequence[str],
    attributes: dict,
) -> xr.Dataset:
    """Assemble the dataset of a trajectories file.

    Args:
        recordings: windows, all with the same time between frames.
        splits: "train" or "test" for each.
        attributes: provenance of the whole set.
    """
    frame_time = recordings[0].frame_time
    for recording in recordings:
        if abs(recording.frame_time / frame_time - 1) > _SAME_RATE:
            raise PdsimError(
                f"{recording.source}: {recording.frame_time:g} s between frames, but "
                f"{recordings[0].source} has {frame_time:g} s; resample them to one rate"
            )
    frames = max(recording.frames for recording in recordings)
    known = sorted({name for recording in recordings for name in recording.truth})
    variables = {
        "observed": (
            ("trajectory", "time", "channel"),
            _padded([recording.observed for recording in recordings], frames),
        ),
        "states": (
            ("trajectory", "time", "state"),
            _padded([recording.states for recording in recordings], frames),
        ),
        "start": (("trajectory", "state"), np.stack([r.start for r in recordings])),
        "start_covariance": (
            ("trajectory", "state", "other_state"),
            np.stack([r.start_covariance for r in recordings]),
        ),
    }
    coords = {
        "trajectory": np.arange(len(recordings)),
        "time": ("time", np.arange(frames) * frame_time, {"units": "s"}),
        **_coordinates("channel", system.channels),
        "channel_derived": ("channel", [c.name in recordings[0].derived for c in system.channels]),
        **_coordinates("state", system.state),
        "other_state": [quantity.name for quantity in system.state],
        "split": ("trajectory", list(splits)),
        "run": ("trajectory", [r.run for r in recordings]),
        "segment": ("trajectory", [r.segment for r in recordings]),
        "first_frame": ("trajectory", [r.first_frame for r in recordings]),
        "length": ("trajectory", [r.frames for r in recordings]),
        "source": ("trajectory", [r.source for r in recordings]),
        "sha256": ("trajectory", [r.sha256 for r in recordings]),
    }
    if system.inputs:
        inputs = _padded([recording.input for recording in recordings], frames)
        variables["inputs"] = (("trajectory", "time", "input"), inputs)
        coords |= _coordinates("input", system.inputs)
    if known:
        table = [[r.truth.get(name, np.nan) for name in known] for r in recordings]
        variables["truth"] = (("trajectory", "system_parameter"), np.array(table, float))
        coords["system_parameter"] = known
    return xr.Dataset(variables, coords=coords, attrs={"frame_time": frame_time, **attributes})


def _named(data: xr.Dataset, dim: str) -> list[str]:
    """Name and unit of each channel, state variable or input of a file; none if it has none."""
    if dim not in data:
        return []
    names, units = data[dim].values, data.get(f"{dim}_unit", data[dim]).values
    return [f"{name} [{unit}]" for name, unit in zip(names, units, strict=True)]


def load_trajectories(path: str | Path, system: System) -> xr.Dataset:
    """Read a trajectories file of a system.

    Raises:
        PdsimError: it is another file, another system's, or holds nothing that could be used.
    """
    data = read_dataset(path)
    missing = [name for name in ("observed", "states", "start", "split") if name not in data]
    if missing or "frame_time" not in data.attrs:
        raise PdsimError(
            f"{path}: no trajectories (it has no {missing[0] if missing else 'frame_time'}); give "
            "a file that pdsim preprocess wrote"
        )
    if not data.attrs["frame_time"] > 0:
        raise PdsimError(
            f"{path}: frame_time is {data.attrs['frame_time']:g} s, which is no time; preprocess "
            "the recordings again"
        )
    for dim, quantities in (
        ("channel", system.channels), ("state", system.state), ("input", system.inputs),
    ):  # fmt: skip
        wanted = [f"{q.name} [{q.unit}]" for q in quantities]
        there = _named(data, dim)
        if there != wanted:
            raise PdsimError(
                f"{path}: its {dim}s are {', '.join(there) or 'none'}, and {system.name} has "
                f"{', '.join(wanted) or 'none'}; give the trajectories of this experiment"
            )
    if not np.isfinite(data["observed"].values).any():
        raise PdsimError(f"{path}: nothing was observed in it; preprocess the recordings again")
    if not (data["split"].values == "train").any():
        raise PdsimError(f"{path}: no trajectory is for training (split 'train')")
    return data


def select(trajectories: xr.Dataset, split: str) -> xr.Dataset:
    """Return the training or test trajectories, as many frames as the longest of them has."""
    chosen = trajectories.isel(trajectory=np.flatnonzero(trajectories["split"].values == split))
    if chosen.sizes["trajectory"] == 0:
        raise PdsimError(f"the trajectories hold none of split {split!r}")
    return chosen.isel(time=slice(0, int(chosen["length"].values.max())))


def is_test(trajectories: xr.Dataset) -> np.ndarray:
    """Tell of each trajectory whether it is held out, (trajectory,)."""
    return trajectories["split"].values == "test"


def is_position(trajectories: xr.Dataset) -> np.ndarray:
    """Tell of each channel whether it is an angle or a position, (channel,)."""
    return np.isin(trajectories["channel_kind"].values, POSITIONS)


def channel_labels(trajectories: xr.Dataset) -> list[str]:
    """Name and unit of each channel."""
    return _named(trajectories, "channel")


def window_title(trajectories: xr.Dataset, trajectory: int) -> str:
    """Where a trajectory comes from, for titles and tables."""
    one = trajectories.isel(trajectory=trajectory)
    name = str(one["segment"].values)
    where = f"run {one['run'].values!s}, from frame {int(one['first_frame'])}"
    return f"{name} ({where})" if name else where


def inputs_of(trajectories: xr.Dataset) -> np.ndarray:
    """What acted during every frame that is predicted, (trajectory, time − 1, I); I may be 0."""
    if "inputs" not in trajectories:
        return np.zeros((trajectories.sizes["trajectory"], trajectories.sizes["time"] - 1, 0))
    return np.nan_to_num(trajectories["inputs"].values[:, :-1])


def true_parameters(trajectories: xr.Dataset, space: ParameterSpace) -> np.ndarray | None:
    """True values of the estimated parameters of each trajectory, (trajectory, M), physical units.

    NaN where they are not known; None if none is of any.
    """
    if "truth" not in trajectories:
        return None
    known = {str(name): i for i, name in enumerate(trajectories["system_parameter"].values)}
    table = trajectories["truth"].values
    columns = []
    for parameter in space.parameters:
        values = [table[:, known[name]] for name in parameter.sets if name in known]
        if len(values) < len(parameter.sets):
            columns.append(np.full(len(table), np.nan))
        else:
            same = np.all([value == values[0] for value in values], axis=0)
            columns.append(np.where(same, values[0], np.nan))
    truth = np.stack(columns, axis=1)
    return truth if np.isfinite(truth).any() else None


def known_truth(trajectories: xr.Dataset, space: ParameterSpace) -> np.ndarray | None:
    """True parameters (M,) that all training recordings have in common, if every one is known."""
    truth = true_parameters(select(trajectories, "train"), space)
    if truth is None or not np.isfinite(truth).all() or (truth != truth[0]).any():
        return None
    return truth[0]


def true_places(
    trajectories: xr.Dataset, space: ParameterSpace, pairs: Sequence[Sequence[str]]
) -> np.ndarray | None:
    """Where the bodies are, (body, 2), whether or not other true parameters are known."""
    if not pairs:
        return None
    places = tuple(space.parameters[i] for i in columns_of(pairs, space.names).ravel())
    truth = known_truth(trajectories, ParameterSpace(places))
    return None if truth is None else truth.reshape(len(pairs), 2)


def window_length(frames: int, count: int) -> int:
    """Frames predicted by each of ``count`` windows of a recording.

    Raises:
        PdsimError: no frame is left for the last window.
    """
    predicted = frames - 1
    if not _fits(predicted, count):
        fitting = [n for n in range(1, predicted + 1) if _fits(predicted, n)]
        below = max(n for n in fitting if n < count)
        above = [n for n in fitting if n > count]
        near = f"{below} or {min(above)}" if above else str(below)
        raise PdsimError(
            f"likelihood.window_count: {frames} frames cannot be cut into {count} windows of equal "
            f"length with one left for the last; use {near}"
        )
    return -(-predicted // count)


def fitting_count(frames: int, count: int) -> int:
    """The number of windows nearest to ``count``, two or more, that ``frames`` can be cut into."""
    fitting = [n for n in range(2, frames) if _fits(frames - 1, n)]
    return min(fitting, key=lambda n: abs(n - count))


def check_prefix(prefix: int, lengths: Sequence[int]) -> None:
    """Refuse a prefix that leaves nothing of a held-out recording to predict.

    Args:
        lengths: of the held-out recordings, as far as known [frames].
    """
    if lengths and min(lengths) <= prefix:
        raise PdsimError(
            f"prediction.prefix: the shortest held-out recording has {min(lengths)} frames, so "
            f"{prefix} leave none to predict; give at most {min(lengths) - 1}"
        )


def _fits(predicted: int, count: int) -> bool:
    return -(-predicted // count) * (count - 1) < predicted


def windows(values: np.ndarray, length: int, count: int, fill: float) -> np.ndarray:
    """Cut (trajectory, frame, …) into windows, (length, trajectory, count, …), ``fill`` beyond."""
    trajectories, frames, *rest = values.shape
    padded = np.full((trajectories, count * length, *rest), fill)
    padded[:, :frames] = values
    return np.moveaxis(padded.reshape(trajectories, count, length, *rest), 2, 0)


def prolonged(channels: np.ndarray, frames: int) -> np.ndarray:
    """Repeat the last frame up to a number of frames, (…, frame, channel)."""
    missing = frames - channels.shape[-2]
    return np.concatenate([channels, *missing * [channels[..., -1:, :]]], axis=-2)
