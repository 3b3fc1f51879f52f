"""Is there drag of air, do markers sit on the axes, and what differs between recordings?

    python benchmarks/pendulum_model.py        # an hour; goes on where it was cut
    python benchmarks/pendulum_model.py fast   # the rows that begin so

`csvgd` learns from three recordings of the real pendulum at a time and predicts all others: with
markers as they are read and in still air, with the drag of air (``air_drag``), with markers moved
onto the joints' axes (``recording.marker_offsets``), with both, as `trusted_chaotic` has it, with
numbers of each recording's own (``likelihood.marginal.varying``): S1x, which holds the zero of the
angles, or dry friction of joint 1, and without viscous friction, as `trusted_calibrated` has it.
`nuts` makes one trial of each motion too, of some of these.
Reads the raw recordings, from the folder in ``PDSIM_IBM_DIR``; writes
``results/benchmarks/pendulum_model.csv``, which was copied to ``docs/results``.
"""

import sys

from fits import both_frictions, dry_alone, finished, read, still_air, varying, write
from training_recordings import COVERAGE, SETS, trial
from windows import SETTINGS

METHOD, REFERENCE = "csvgd", "nuts"
# Medians of deviations between recordings: of S1x over S1y [rad] and of the logarithm of friction.
ZERO, FRICTION = {"S1x": 2e-3}, {"dry_friction_1": 0.5}
# From joint 2 to the marker at the end of link 2 [m].
ARM = 0.07
# Of both links, over S1y.
DRAG = {
    "lower": 1e-8,
    "upper": 1e-3,
    "unit": "N m s^2",
    "scale": "log",
    "prior": "half_cauchy",
    "median": 1e-5,
}
SCORES = (
    "log_likelihood",
    "prefix_rmse_median",
    "prefix_crps",
    *COVERAGE,
    "prefix_coverage_50",
    "above_q0",
    "above_q1",
    "mean_S1x",
    "deviation_S1x",
    "mean_J2",
    "deviation_J2",
    "mean_length",
    "deviation_length",
    "mean_drag_2",
    "deviation_drag_2",
    "pareto_k",
    "r_hat",
)


def with_drag(experiment):
    """The experiment, in still air, with the drag of air on both links."""
    told = experiment.model_dump(mode="json", exclude_unset=True)
    simulator = told["simulator"]
    simulator["options"]["air_drag"] = True
    simulator["parameters"] |= {f"drag_{link}": DRAG for link in (1, 2)}
    simulator["fixed"] = simulator.get("fixed", {}) | {"drag_arm": ARM}
    return type(experiment).model_validate(told)


# Whether markers are moved, deviations between recordings, whether there is drag, and whether there
# is viscous friction beside the dry one.
KINDS = {
    "as read": (False, {}, False, True),
    "drag": (False, {}, True, True),
    "on the axes": (True, {}, False, True),
    "on the axes, drag": (True, {}, True, True),
    "on the axes, own zero": (True, ZERO, False, True),
    "on the axes, drag, own friction": (True, FRICTION, True, True),
    "on the axes, dry alone": (True, {}, False, False),
    "on the axes, drag, dry alone": (True, {}, True, False),
}
# Those of one motion only.
OF_MOTION = {"on the axes, dry alone": "slow", "on the axes, drag, dry alone": "fast"}
# Those that `nuts` learns too, from the first recordings.
OF_REFERENCE = ("as read", "on the axes, drag", "on the axes, drag, own friction")


def main():
    """Make the table."""
    from pdsim.runtime import device

    device.configure()
    rows, begin = finished("pendulum_model"), "".join(sys.argv[1:])
    for motion in ("slow", "fast"):
        data = {moved: read(SETTINGS[motion], offsets=moved) for moved in (False, True)}
        first = [(SETS[motion]["three"][0], kind) for kind in OF_REFERENCE]
        for trained in SETS[motion]["three"]:
            for kind, (offsets, between, drag, viscous) in KINDS.items():
                if OF_MOTION.get(kind, motion) != motion:
                    continue
                of = f"{motion}, {', '.join(map(str, trained))}"

                def change(experiment, between=between, drag=drag, viscous=viscous):
                    frictions = both_frictions if viscous else dry_alone
                    still = frictions(still_air(experiment))
                    return varying(with_drag(still) if drag else still, between)

                for method in (METHOD, REFERENCE):
                    end = "" if method == METHOD else f", {method}"
                    label = f"{of}, {kind}{end}"
                    if not label.startswith(begin) or label in rows:
                        continue
                    if method == REFERENCE and (trained, kind) not in first:
                        continue
                    found = trial(SETTINGS[motion], method, trained, data[offsets], change, SCORES)
                    # The first of the kinds has nothing to gain on.
                    before = rows.get(f"{of}, {next(iter(KINDS))}{end}", found)["log_likelihood"]
                    rows[label] = found | {"gain": found["log_likelihood"] - before}
                    write("pendulum_model", rows)


if __name__ == "__main__":
    main()
