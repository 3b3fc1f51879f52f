"""The arm that shakes a box: where the truth lies in what `trusted_box` and its weights find.

    python benchmarks/trusted_box.py

Reads the posterior files of ``least_squares`` that ``make panda`` writes, and writes
``trusted_box_found.csv`` and ``trusted_box_weights.csv`` into ``results/benchmarks``, which were
copied to ``docs/results``. Half of the draws name the weights the other way: they are counted as
the stand-in names them.
"""

from fits import load, write
from panda_box_found import ASIDE, MASS, as_the_truth, combinations, draws_of, row_of, truth_of

RUN = "least_squares_marginal"
# How the sought numbers of the box begin, and what they are in the robot's file.
LINEAR = {"moment_": "body/box/moment/", "J": "body/box/origin_inertia/"}
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")


def single(numbers):
    """Centre of mass and inertia about it, of first moment and inertia about the lid's frame."""
    from pdsim.rigid_body.inertia import from_linear

    named, rest = {"body/box/mass": MASS}, {}
    for key, value in numbers.items():
        begin = next((begin for begin in LINEAR if key.startswith(begin)), None)
        if begin:
            named[LINEAR[begin] + key.removeprefix(begin)] = value
        else:
            rest[key] = value
    own = from_linear(named, "box")
    inertia = {f"I{entry}": own[f"body/box/inertia/{entry}"] for entry in ENTRIES}
    return inertia | {f"com_{axis}": own[f"body/box/com/{axis}"] for axis in "xyz"} | rest


def rows_of(name):
    """Truth and draws of all that has a truth, and of numbers over m L.

    The weights lie in a box that is aside, with its lid.
    """
    from pdsim.experiment.load import load_experiment

    others = truth_of(load(name)[0])
    for key in others:
        if key.startswith("weight"):
            others[key] += ASIDE["xy".index(key[-1])]
    truth = truth_of(load_experiment("config/experiments/panda_box_empty.yaml")) | others
    draws, prior = (single(draws_of(name, RUN, group)) for group in ("posterior", "prior"))
    weights = {key: true for key, true in others.items() if key.startswith("weight")}
    if weights:
        draws |= as_the_truth(draws, weights)
    rows = {}
    for of in (dict, combinations):
        for key, true in of(truth).items():
            rows[key] = row_of(true, of(draws)[key], of(prior)[key])
    return rows


def main():
    """Write both tables."""
    for name, table in (
        ("trusted_box", "trusted_box_found"),
        ("trusted_box_weights", "trusted_box_weights"),
    ):
        write(table, rows_of(name))


if __name__ == "__main__":
    main()
