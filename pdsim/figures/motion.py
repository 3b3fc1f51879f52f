"""What is seen of a robot's frames, against roll-outs before and after the estimation (Fig. 14)."""

import jax.numpy as jnp
import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, detailed
from pdsim.posterior import read_draws
from pdsim.recordings.trajectories import channel_labels, inputs_of, is_test
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.systems.ensemble import roll_out
from pdsim.systems.simulator import build_simulator

_BEFORE = "#d95f02"


def draw(request: Request) -> None:
    """Draw a panel for each channel, on a held-out recording where there is one.

    Before: parameters at the centre of their limits. After: the most likely draw, and the range of
    all draws whose roll-outs are finite.
    """
    device.configure()
    simulator = build_simulator(request.sections["simulator"])
    data = read_dataset(request.files["trajectories"][0])
    path, rollouts = request.files["posterior"][0], request.files["rollouts"][0]
    shown = int(np.argmax(is_test(data)))
    length = int(data["length"].values[shown])
    time = data["time"].values[:length]
    centre = np.full((1, simulator.space.dimension), 0.5)
    before = roll_out(
        simulator,
        np.asarray(simulator.space.to_physical(jnp.asarray(centre))),
        data["start"].values[shown : shown + 1],
        inputs_of(data)[shown : shown + 1],
        frame_time=float(data.attrs["frame_time"]),
        precision="float64",
    )[0, 0]
    after = read_dataset(rollouts)["simulated"].values[shown]
    stats = read_dataset(path, "sample_stats")["log_likelihood"].values.ravel()
    best = int(np.argmax(np.nan_to_num(stats, nan=-np.inf)))
    assert len(after) == len(read_draws(path, simulator.space))
    whole = after[np.isfinite(after).all(axis=(1, 2))]
    observed, labels = data["observed"].values[shown, :length], channel_labels(data)
    channels = np.flatnonzero(np.isfinite(observed).any(axis=0))
    plt = style.apply()
    rows = -(-len(channels) // 3)
    figure, axes = plt.subplots(
        rows, 3, figsize=(10.5, 1.75 * rows + 0.9), sharex=True, squeeze=False
    )
    for axis in axes.flat[len(channels) :]:
        axis.set_visible(False)
    for axis, channel in zip(axes.flat, channels, strict=False):
        seen = observed[:, channel]
        axis.plot(time, seen, color=style.RECORDING, linewidth=0.7, label="recording")
        axis.plot(
            time[1:], before[: length - 1, channel], color=_BEFORE, linewidth=0.8,
            label="before: centre of the limits",
        )  # fmt: skip
        if len(whole):
            low, high = (f(whole[:, : length - 1, channel], axis=0) for f in (np.min, np.max))
            axis.fill_between(
                time[1:], low, high, color=style.DRAWS, alpha=0.25, linewidth=0, label="all draws"
            )
        axis.plot(
            time[1:], after[best, : length - 1, channel], color=style.DRAWS, linewidth=0.8,
            linestyle="--", label="after: most likely draw",
        )  # fmt: skip
        axis.set_ylabel(style.plain(labels[channel]))
        # What has run away would hide the recording.
        seen = seen[np.isfinite(seen)]
        margin = max(0.6 * np.ptp(seen), 0.002)
        axis.set_ylim(seen.min() - margin, seen.max() + margin)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    kind = "held-out" if is_test(data)[shown] else "training"
    style.title(figure, f"{request.title} (motion of the {kind} run {data['run'].values[shown]})")
    style.save(figure, request.stem)


def shows_frames(experiment) -> bool:
    """Whether frames of a robot are observed."""
    observe = experiment.simulator.options.get("observe") or {}
    return experiment.simulator.system == "articulated" and bool(observe.get("frames"))


FIGURE = Figure(
    needs=("trajectories", "posterior", "rollouts"),
    sections=("title", "simulator"),
    caption="Black: what was seen of the robot's frames. Orange: simulated with parameters at the "
    "centre of their limits. Blue, dashed: with the most likely draw; the band holds the roll-outs "
    "of all draws, without noise of the sensors. Axes end at a little more than the recording.",
    draw=draw,
    of_each_run=True,
    applies=lambda experiment, budget, identity: (
        shows_frames(experiment) and detailed(experiment, budget, identity)
    ),
)
