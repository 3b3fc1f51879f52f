"""The arm that shakes a box: where the truth lies in what `trusted_box` and its weights find.

    python benchmarks/trusted_box.py

Reads the posterior files of ``least_squares`` that ``make panda`` writes, and writes
``trusted_box_found.csv`` and ``trusted_box_weights.csv`` into ``results/benchmarks``, which were
copied to ``docs/results``. A Gaussian has one labeling of the weights: that of its start, in which
the first has the larger x, as in the stand-in.
"""

from fits import load, write
from panda_box_found import ASIDE, combinations, draws_of, row_of, truth_of

RUN = "least_squares_marginal"


def rows_of(name):
    """Truth and draws of all that has a truth, and of numbers over m L.

    The weights lie in a box that is aside, with its lid.
    """
    truth = truth_of(load(name)[0])
    for key in truth:
        if key.startswith("weight"):
            truth[key] += ASIDE["xy".index(key[-1])]
    draws, prior = (draws_of(name, RUN, group) for group in ("posterior", "prior"))
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
