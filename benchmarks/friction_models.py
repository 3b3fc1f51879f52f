"""What friction do all recordings of a motion ask for? Fits with one model of it after the other.

    python benchmarks/friction_models.py        # ten minutes; goes on where it was cut
    python benchmarks/friction_models.py fast   # the rows that begin so

Least squares fits all recordings of a motion at once. ``log_p`` is what they are worth at the
optimum, in nats, above the model with dry friction alone; ``numbers`` is how many that model seeks.
Numbers of each recording's own have a prior, which is integrated out. Reads
``results/<experiment>/trajectories.nc`` and writes ``results/benchmarks/friction_models.csv``,
which was copied to ``docs/results``.
"""

import sys

from fits import VISCOUS, finished, sought, varying, write
from process_noise import SETTINGS, fitted

# Deviation of the logarithm between recordings, its median.
OWN = 0.5
FIRST = {"friction_1": VISCOUS, "friction_2": 0.0}
SECOND = {"friction_1": 0.0, "friction_2": VISCOUS}
BOTH = {"friction_1": VISCOUS, "friction_2": VISCOUS}
NEITHER = {"friction_1": 0.0, "friction_2": 0.0}
# Numbers, and those of each recording's own.
DRY = "dry alone"
KINDS = {
    DRY: (NEITHER, ()),
    "dry, viscous in joint 1": (FIRST, ()),
    "dry, viscous in joint 2": (SECOND, ()),
    "dry and viscous": (BOTH, ()),
    "no dry in joint 1": (BOTH | {"dry_friction_1": 0.0}, ()),
    "no dry in joint 2": (BOTH | {"dry_friction_2": 0.0}, ()),
    "viscous alone": (BOTH | {"dry_friction_1": 0.0, "dry_friction_2": 0.0}, ()),
    "dry alone, own in joint 1": (NEITHER, ("dry_friction_1",)),
    "dry alone, own in both": (NEITHER, ("dry_friction_1", "dry_friction_2")),
    "dry and viscous, own dry in both": (BOTH, ("dry_friction_1", "dry_friction_2")),
}


def main():
    """Make the table."""
    import jax
    import jax.numpy as jnp

    from pdsim.likelihood.problem import Position
    from pdsim.runtime import device

    device.configure()
    rows, begin = finished("friction_models"), "".join(sys.argv[1:])
    for motion, name in SETTINGS.items():
        for kind, (numbers, own) in KINDS.items():
            label = f"{motion}, {kind}"
            if label in rows or not label.startswith(begin):
                continue

            def change(experiment, numbers=numbers, own=own):
                return varying(sought(experiment, **numbers), dict.fromkeys(own, OWN))

            problem, best = fitted(name, change)
            at = Position(best[None], jnp.zeros((1, *problem.start_shooting().shape)))
            found = float(problem.evaluate(at)[0][0])
            first = rows.get(f"{motion}, {DRY}", {"log_likelihood": found})["log_likelihood"]
            rows[label] = {
                "numbers": problem.simulator.space.dimension,
                "log_likelihood": found,
                "gain": found - first,
            }
            write("friction_models", rows)
            jax.clear_caches()


if __name__ == "__main__":
    main()
