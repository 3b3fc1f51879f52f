"""Does the pendulum have dry friction? Fits with and without it.

    python benchmarks/dry_friction.py        # half an hour; goes on where it was cut
    python benchmarks/dry_friction.py fast   # the rows that begin so

`csvgd` learns from three recordings of a motion at a time and predicts all others, with dry
friction and with viscous friction alone; in both without drag, with markers as they were read and
with the default spread of process noise over recordings (``pendulum_model.py`` has what the
`trusted` experiments have besides). Reads the raw recordings, from the folder in
``PDSIM_IBM_DIR``; writes ``results/benchmarks/dry_friction.csv``, which was copied to
``docs/results``.
"""

import sys

from fits import both_frictions, finished, read, still_air, write
from training_recordings import COVERAGE, SETS, default_spread, setting, trial
from windows import SETTINGS

METHOD = "csvgd"
SCORES = ("prefix_rmse_median", "prefix_crps", *COVERAGE, "pareto_k")
FRICTION = {
    "viscous": setting,
    "dry too": lambda experiment: default_spread(both_frictions(still_air(experiment))),
}


def main():
    """Make the table."""
    from pdsim.runtime import device

    device.configure()
    rows, begin = finished("dry_friction"), "".join(sys.argv[1:])
    for motion in ("slow", "fast"):
        data = read(SETTINGS[motion], offsets=False)
        for trained in SETS[motion]["three"]:
            for friction, change in FRICTION.items():
                label = f"{motion}, {', '.join(map(str, trained))}, {friction}"
                if label.startswith(begin) and label not in rows:
                    found = trial(SETTINGS[motion], METHOD, trained, data, change)
                    rows[label] = {key: found[key] for key in SCORES}
                    write("dry_friction", rows)


if __name__ == "__main__":
    main()
