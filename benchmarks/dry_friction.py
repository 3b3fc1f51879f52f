"""Does the pendulum have dry friction? Fits with and without it.

    python benchmarks/dry_friction.py   # some twenty minutes

`csvgd` learns from three recordings of a motion at a time and predicts all others, with the viscous
friction of the `trusted` experiments and with dry friction in both joints beside it: that of a
joint over S1y has a half-Cauchy prior with a median of 0.01 N m, and is 76 % of its full size at
0.3 rad/s. What is without it are trials of ``training_recordings.py``. Reads
``results/<experiment>/trajectories.nc`` and, for trials without, ``docs/results/
training_recordings_all.csv``; writes ``results/benchmarks/dry_friction.csv``, which was copied to
``docs/results``.
"""

from fits import write
from training_recordings import COVERAGE, SETS, trial
from windows import SETTINGS

METHOD = "csvgd"
SCORES = ("prefix_rmse_median", "prefix_crps", *COVERAGE, "pareto_k")
PRIOR = {
    "lower": 1e-6,
    "upper": 1.0,
    "unit": "N m",
    "scale": "log",
    "prior": "half_cauchy",
    "median": 0.01,
}


def with_dry_friction(experiment):
    """The experiment, with dry friction in both joints."""
    told = experiment.model_dump(mode="json", exclude_unset=True)
    simulator = told["simulator"]
    simulator["options"] |= {"dry_friction": True, "friction_velocity": 0.3}
    simulator["parameters"] |= {f"dry_friction_{i}": PRIOR for i in (1, 2)}
    # Recovered links would need limits of their own.
    del simulator["single"]
    return type(experiment).model_validate(told)


def main():
    """Make the table."""
    import pandas as pd

    from pdsim.runtime import device

    device.configure()
    without = pd.read_csv("docs/results/training_recordings_all.csv", index_col="run")
    rows = {}
    for motion in ("slow", "fast"):
        for trained in SETS[motion]["three"]:
            names = ", ".join(map(str, trained))
            plain = without.loc[f"{motion}, three, {METHOD}, trained on {names}", list(SCORES)]
            found = trial(SETTINGS[motion], METHOD, trained, change=with_dry_friction)
            rows[f"{motion}, {names}, viscous"] = plain.to_dict()
            rows[f"{motion}, {names}, dry too"] = {key: found[key] for key in SCORES}
            write("dry_friction", rows)


if __name__ == "__main__":
    main()
