"""The path of the hand for the iterates of a descent, over the recorded one (Fig. 5)."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.descent import KEEPING
from pdsim.figures.figure import Figure, Request
from pdsim.figures.loop import is_loop
from pdsim.recordings.trajectories import inputs_of, select
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset
from pdsim.systems.ensemble import roll_out
from pdsim.systems.simulator import build_simulator

# Iterates that are simulated, at most.
_SHOWN = 10
_PLANES = ((0, 1), (0, 2), (1, 2))


def chosen(count: int) -> np.ndarray:
    """Which of ``count`` iterates are shown: the first, the last, and fewer and fewer between."""
    return np.unique(np.geomspace(1, count, min(count, _SHOWN)).round().astype(int)) - 1


def draw(request: Request) -> None:
    """Draw the first training recording in the three planes, with the roll-outs of iterates."""
    device.configure()
    simulator = build_simulator(request.sections["simulator"])
    data = select(read_dataset(request.files["trajectories"][0]), "train")
    history = read_dataset(request.files["posterior"][0], "history")
    numbers = chosen(history.sizes["iteration"])
    iterates = np.stack(
        [history[f"at_{name}"].values[numbers] for name in simulator.space.names], axis=1
    )
    length = int(data["length"].values[0])
    found = roll_out(
        simulator,
        iterates,
        data["start"].values[:1],
        inputs_of(data)[:1, : length - 1],
        frame_time=float(data.attrs["frame_time"]),
        precision="float64",
    )[0]
    observed = data["observed"].values[0, :length]
    plt = style.apply()
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.4))
    shades = plt.get_cmap("Blues")(np.linspace(0.25, 1.0, len(numbers)))
    for axis, (i, j) in zip(axes, _PLANES, strict=True):
        axis.plot(observed[:, i], observed[:, j], color="#e6ab02", linewidth=3.0, label="recording")
        for number, path, shade in zip(numbers, found, shades, strict=True):
            axis.plot(path[:, i], path[:, j], color=shade, linewidth=0.8, label=f"{number}")
        axis.set(xlabel=f"{'xyz'[i]} [m]", ylabel=f"{'xyz'[j]} [m]", aspect="equal")
        axis.set_adjustable("datalim")
        axis.locator_params(nbins=4)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=_SHOWN + 1, title="iteration", fontsize=8
    )
    style.title(figure, f"{request.title} (path of the hand, run {data['run'].values[0]})")
    style.save(figure, request.stem)


FIGURE = Figure(
    needs=("trajectories", "posterior"),
    sections=("title", "simulator"),
    caption="Path of the hand in three planes: recorded (broad), and simulated with iterates of "
    "the descent, light to dark. Of many iterates ten are shown, evenly by the logarithm of their "
    "number.",
    draw=draw,
    of_each_run=True,
    applies=lambda experiment, budget, identity: (
        is_loop(experiment) and identity is not None and identity.method in KEEPING
    ),
)
