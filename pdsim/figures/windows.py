"""Shooting windows and their defects (like Fig. 2c)."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, detailed
from pdsim.posterior import read_draws
from pdsim.recordings.trajectories import channel_labels, inputs_of, select, window_length
from pdsim.recordings.trajectories import windows as cut
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.systems.ensemble import first_frame
from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator, build_simulator

_COLOURS = ("#08519c", "#d95f02")


def draw(request: Request) -> None:
    """Draw the shooting windows of the first training recording before and after.

    Before: parameters at the centre of the box, windows from the estimated states. After: the most
    likely draw.
    """
    device.configure()
    simulator = build_simulator(request.sections["simulator"])
    data = select(read_dataset(request.files["trajectories"][0]), "train")
    path = request.files["posterior"][0]
    first = 0
    likely = np.nan_to_num(
        read_dataset(path, "sample_stats")["log_likelihood"].values.ravel(), nan=-np.inf
    )
    best = int(np.argmax(likely))
    shooting = read_dataset(path, "shooting")
    if "start" not in shooting or shooting["start"].shape[2] == 0:
        raise PdsimError(f"{path}: this run has no shooting windows to draw")
    later = shooting["start"].values[best, 0]
    frames = int(data["length"].values[first])
    # As in the likelihood, whose windows are cut from the longest training trajectory.
    length = window_length(data.sizes["time"], len(later) + 1)
    # Windows beyond the end of a short recording hold nothing.
    begin = length * np.arange(len(later) + 1)
    begin = begin[begin < frames - 1]
    later = later[: len(begin) - 1]
    seen = np.flatnonzero(np.isfinite(data["observed"].values).any(axis=(0, 1)))

    def simulate(coordinates: np.ndarray, later: np.ndarray) -> np.ndarray:
        starts = np.concatenate([data["start"].values[first : first + 1], later])
        shown = simulated_windows(simulator, coordinates, starts, data, first, length, begin)[
            ..., seen
        ]
        # The last window may reach beyond the recording.
        shown[begin[:, None] + np.arange(length + 1) >= frames] = np.nan
        return shown

    draws = read_draws(path, simulator.space)
    draw_windows(
        data["time"].values[:frames],
        data["observed"].values[first, :frames][:, seen],
        (begin[:, None] + np.arange(length + 1)) * data.attrs["frame_time"],
        {
            "before: centre of the box": simulate(
                np.full(simulator.space.dimension, 0.5), data["states"].values[first, begin[1:]]
            ),
            "after: most likely draw": simulate(
                np.asarray(simulator.space.to_coordinates(draws[best])), later
            ),
        },
        [channel_labels(data)[channel] for channel in seen],
        f"{request.title} (shooting windows)",
        request.stem,
    )


def simulated_windows(
    simulator: Simulator,
    coordinates: np.ndarray,
    starts: np.ndarray,
    data: xr.Dataset,
    trajectory: int,
    length: int,
    begin: np.ndarray,
) -> np.ndarray:
    """Simulate windows (window, length + 1, channel), the first entry of each is its start.

    Args:
        coordinates: (M,) unit coordinates.
        starts: (window, S).
        begin: (window,) frame at which each starts.
    """
    system, space, substeps = simulator
    prepared = system.prepare(space.system_parameters(jnp.asarray(coordinates)))
    frame_time = float(data.attrs["frame_time"])
    count = -(-(data.sizes["time"] - 1) // length)
    inputs = cut(inputs_of(data)[trajectory][None], length, count, 0.0)[:, 0, : len(begin)]

    def one(start, drive, first_time):
        channels, _ = rollout(
            system,
            prepared,
            system.unpack(start),
            tuple(drive[:, i] for i in range(len(system.inputs))),
            frames=length,
            frame_time=frame_time,
            substeps=substeps,
            first_time=first_time,
        )
        return jnp.stack(channels, axis=-1)

    simulated = jax.vmap(one, in_axes=(0, 1, 0))(
        jnp.asarray(starts), jnp.asarray(inputs), jnp.asarray(begin * frame_time)
    )
    shown = first_frame(simulator, np.tile(coordinates, (len(starts), 1)), starts)
    return np.concatenate([shown[:, None], np.asarray(simulated)], axis=1)


def draw_windows(
    time: np.ndarray,
    recorded: np.ndarray,
    window_times: np.ndarray,
    guesses: Mapping[str, np.ndarray],
    labels: list[str],
    title: str,
    stem: str,
) -> None:
    """Draw one column per guess: each window a curve, its start a dot, its defect a bar.

    Args:
        time: (time,) [s] of the recording.
        recorded: (time, channel).
        window_times: (window, h + 1) [s]; window w's last instant is window w + 1's first.
        guesses: column title → (window, h + 1, channel), simulated; the first entry of each
            window is its start state.
        labels: (channel,), with units.
    """
    plt = style.apply()
    channels = recorded.shape[1]
    figure, axes = plt.subplots(
        channels,
        len(guesses),
        figsize=(4.8 * len(guesses), 1.6 * channels + 0.9),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    for column, (name, simulated) in enumerate(guesses.items()):
        axes[0, column].set_title(name)
        axes[-1, column].set_xlabel("time [s]")
        for c in range(channels):
            _draw_channel(axes[c, column], time, recorded[:, c], window_times, simulated[..., c])
            if column == 0:
                axes[c, column].set_ylabel(style.plain(labels[c]))
    handles = [
        plt.Line2D([], [], color=style.RECORDING, linewidth=0.8, label="recording"),
        plt.Line2D([], [], color=_COLOURS[0], marker="o", markersize=3.5, label="even windows"),
        plt.Line2D([], [], color=_COLOURS[1], marker="o", markersize=3.5, label="odd windows"),
        plt.Line2D([], [], color=style.TRUTH, linewidth=2, label="defects"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    style.title(figure, title)
    style.save(figure, stem)


def _draw_channel(axis, time, recorded, window_times, windows) -> None:
    axis.plot(time, recorded, color=style.RECORDING, linewidth=0.8)
    for w, (t, x) in enumerate(zip(window_times, windows, strict=True)):
        axis.plot(t, x, color=_COLOURS[w % 2], linewidth=1.6, alpha=0.8)
        axis.plot(t[0], x[0], "o", color=_COLOURS[w % 2], markersize=3.5)
        if w > 0:
            axis.plot([t[0], t[0]], [windows[w - 1, -1], x[0]], color=style.TRUTH, linewidth=2)
    # A channel may have been observed in other recordings only.
    known = recorded if np.isfinite(recorded).any() else windows
    known = known[np.isfinite(known)]
    low, high = (known.min(), known.max()) if known.size else (-1.0, 1.0)
    margin = 0.3 * max(high - low, 1e-6 * max(abs(low), abs(high), 1.0))
    axis.set_ylim(low - margin, high + margin)


def _applies(experiment, budget, identity) -> bool:
    return detailed(experiment, budget, identity) and identity.shooting == "multiple"


FIGURE = Figure(
    needs=("trajectories", "posterior"),
    sections=("title", "simulator"),
    caption="Each window simulated from its own start state (dot); red bars are the defects "
    "between windows. Left, before: centre of the box, windows started from the recording's "
    "estimated states. Right, after: the most likely draw.",
    draw=draw,
    of_each_run=True,
    applies=_applies,
)
