"""How point estimators descend: cost and slope by iteration (Fig. 4), and where iterates go."""

import numpy as np

from pdsim.figures import style
from pdsim.figures.figure import Figure, Request, whose
from pdsim.recordings.trajectories import known_truth
from pdsim.runtime.files import read_dataset
from pdsim.systems.simulator import build_simulator

# Estimators whose history holds every iterate; the first tells its cost and slope, too.
DESCENDING, KEEPING = "steepest_descent", ("steepest_descent", "gauss_newton")


def draw(request: Request) -> None:
    """Draw J and |DJ| of steepest descent, and the iterates' first two parameters, of every run."""
    space = build_simulator(request.sections["simulator"]).space
    truth = known_truth(read_dataset(request.files["trajectories"][0]), space)
    plt = style.apply()
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6))
    files = {path: whose(read_dataset(path).attrs) for path in request.files["posterior"]}
    files = {path: identity for path, identity in files.items() if identity.method in KEEPING}
    looks = style.run_looks(list(files.values()))
    first, second = space.parameters[:2]
    for path, identity in files.items():
        look = {**looks[identity.run], "linewidth": 1.2}
        history = read_dataset(path, "history")
        if identity.method == DESCENDING:
            count = np.arange(history.sizes["iteration"])
            axes[0].plot(count, history["cost"], **look)
            axes[1].plot(count, history["slope"], **look)
        places = (history[f"at_{parameter.name}"] for parameter in (first, second))
        # Every iterate is a point; a marker that tells runs of one method apart stays, hollow.
        if not look["marker"].strip():
            look["marker"] = "."
        look |= {"markerfacecolor": "none", "label": style.plain(identity.label)}
        axes[2].plot(*places, **look)
    axes[0].set(yscale="log", xlabel="iteration", ylabel="J", title="cost, steepest descent")
    axes[1].set(yscale="log", xlabel="iteration", ylabel="|DJ|", title="slope, steepest descent")
    labels = [style.plain(f"{parameter.name} [{parameter.unit}]") for parameter in (first, second)]
    axes[2].set(xlabel=labels[0], ylabel=labels[1], title="iterates")
    if truth is not None:
        axes[2].plot(*truth[:2], "*", color=style.TRUTH, markersize=10, label="truth")
    handles, names = axes[2].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    style.title(figure, request.title)
    style.save(figure, request.stem)


def applies(experiment, budget, identity) -> bool:
    """Whether a run descends, and there are two parameters to show it by."""
    del budget, identity
    several = len(experiment.simulator.parameters) > 1
    return several and any(run.method == DESCENDING for run in experiment.runs)


FIGURE = Figure(
    needs=("trajectories", "posterior"),
    sections=("title", "simulator"),
    caption="Cost J and length of its slope, |DJ|, by iteration, in the units that the run's "
    "cost_of_nat gives. Right: the first two parameters of every iterate, and the truth where it "
    "is known. A slope that falls while the cost does not move is a valley.",
    draw=draw,
    applies=applies,
)
