"""What was learned from and what was held out, as it was observed."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request
from pdsim.recordings.trajectories import channel_labels, is_position, is_test
from pdsim.runtime.files import read_dataset

# Stretches of each kind that are drawn, and those that have a colour and a name of their own.
_SHOWN, _NAMED = 30, 4


def draw(request: Request) -> None:
    """Draw the observed positions: a row for each, training left and held-out stretches right."""
    data = read_dataset(request.files["trajectories"][0])
    observed, time, test = data["observed"].values, data["time"].values, is_test(data)
    rows = np.flatnonzero(is_position(data) & np.isfinite(observed).any(axis=(0, 1)))
    if not rows.size:
        rows = np.flatnonzero(np.isfinite(observed).any(axis=(0, 1)))
    kinds = [
        (word, np.flatnonzero(test == held)) for word, held in (("training", 0), ("held out", 1))
    ]
    kinds = [(word, which) for word, which in kinds if which.size]
    plt = style.apply()
    figure, axes = plt.subplots(
        len(rows), len(kinds), figsize=(4.6 * len(kinds) + 0.6, 1.7 * len(rows) + 1.0),
        sharex=True, sharey="row", squeeze=False,
    )  # fmt: skip
    labels = channel_labels(data)
    for column, (word, which) in enumerate(kinds):
        text = f"{word}: {which.size} stretch{'es' * (which.size > 1)}"
        more = f", the first {_SHOWN} shown" if which.size > _SHOWN else ""
        axes[0, column].set_title(text + more)
        axes[-1, column].set_xlabel("time [s]")
        for trajectory in which[:_SHOWN]:
            length = int(data["length"].values[trajectory])
            first = int(data["first_frame"].values[trajectory])
            name = f"{data['run'].values[trajectory]}, from frame {first}"
            for row, channel in enumerate(rows):
                look = {"label": style.plain(name)} if which.size <= _NAMED else {"color": "0.4"}
                seen = observed[trajectory, :length, channel]
                axes[row, column].plot(time[:length], seen, linewidth=0.8, **look)
        if which.size <= _NAMED:
            # Below: within the axes it would stand on what was recorded.
            handles, names = axes[0, column].get_legend_handles_labels()
            axes[-1, column].legend(
                handles, names, fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.32)
            )
    for row, channel in enumerate(rows):
        axes[row, 0].set_ylabel(style.plain(labels[channel]))
    style.title(figure, request.title)
    style.save(figure, request.stem)


FIGURE = Figure(
    needs=("trajectories",),
    sections=("title",),
    caption="What was observed of the positions: left what was learned from, right, where there is "
    "any, what was kept to predict. Motion on the right that looks like none on the left asks the "
    "model for more than it was taught.",
    draw=draw,
)
