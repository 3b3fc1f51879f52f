"""The real Panda: forward simulation against an ordinary fit of the torques, on held-out motion.

    python benchmarks/panda_log.py   # a few minutes

Reads ``results/panda_log/trajectories.nc`` and the posterior files beside it, which ``snakemake
panda_log`` writes, and writes ``results/benchmarks/panda_log.csv``, which was copied to
``docs/results``. Each row is a set of parameter values:

- the prior's centre,
- least squares on inverse dynamics, with rates and torques through a low-pass filter of 10 Hz
  (second order, forward and back) and rows at 100 Hz, each joint weighed by its own residual; the
  same parameters within the same limits, no prior,
- the median draw of each posterior.

What the least-squares fit misses is correlated between joints, as torques and as the accelerations
M⁻¹ times them: ``panda_log_residuals.csv``, of the training motion.

Scores, on held-out motion alone: root mean square over joints and frames of what roll-outs of 0.2 s
from the recorded states miss [mrad], and of the torques that inverse dynamics misses, by joint
[N m].
"""

import csv
import sys
from pathlib import Path

import numpy as np
from fits import write

NAME = "panda_log"
FOLDER = Path("results") / NAME
CUTOFF, EVERY, EDGE = 10.0, 0.01, 0.2
HORIZON = 20
# Joints that are compared.
PAIRS = ((1, 3), (2, 4), (5, 6), (1, 4), (3, 5), (4, 6), (6, 7))


def torque_rows(experiment, every=EVERY):
    """Time, positions, velocities, accelerations and torques through the filter, (row, joint).

    Args:
        every: time between rows [s].
    """
    from scipy.signal import butter, filtfilt

    from pdsim.runtime.files import find_file

    recording = experiment.recording
    (path,) = recording.files.values()
    table = np.genfromtxt(find_file(path, "."), delimiter=",", names=True)
    clock = table[recording.time.column]
    kept = np.concatenate([[True], np.diff(clock) > 0])
    step = 0.001
    times = np.arange(0, clock[-1], step)

    def columns(configs):
        names = [config.column for config in configs.values()]
        return np.stack([np.interp(times, clock[kept], table[n][kept]) for n in names], axis=1)

    q, torques = columns(recording.channels), columns(recording.inputs)
    b, a = butter(2, 2 * CUTOFF * step)
    q, torques = (filtfilt(b, a, x, axis=0) for x in (q, torques))
    v = np.gradient(q, step, axis=0)
    a = np.gradient(v, step, axis=0)
    rows = slice(round(EDGE / step), len(times) - round(EDGE / step), round(every / step))
    return tuple(x[rows] for x in (times, q, v, a, torques))


def torque_model(simulator):
    """Function of coordinates and motions: the torques that the sensors would show."""
    import jax
    import jax.numpy as jnp

    from pdsim.rigid_body.dynamics import inverse_dynamics
    from pdsim.rigid_body.forces import passive

    system, space = simulator.system, simulator.space

    def torques(coordinates, q, v, a):
        links = system.prepare(space.system_parameters(coordinates)).cast(q.dtype)
        offsets = [links[f"torque/{system.model.joints[i].name}/offset"] for i in system.actuated]

        def row(q, v, a):
            acting = inverse_dynamics(system.model, links, q, v, a)
            return acting - passive(system.model, links, q, v)

        return jax.vmap(row)(q, v, a) - jnp.stack([jnp.asarray(x) for x in offsets])

    return jax.jit(torques)


def torque_fit(simulator, rows):
    """Coordinates of the least-squares fit of inverse dynamics."""
    import jax
    from scipy.optimize import least_squares

    model = torque_model(simulator)
    q, v, a, seen = rows
    slope = jax.jit(jax.jacfwd(model))
    centre = np.full(simulator.space.dimension, 0.5)
    weights, found = np.ones(seen.shape[1]), centre
    for _ in range(3):
        fit = least_squares(
            lambda x, w=weights: (np.asarray(model(x, q, v, a) - seen) / w).ravel(),
            found,
            lambda x, w=weights: (np.asarray(slope(x, q, v, a)) / w[:, None]).reshape(
                -1, len(centre)
            ),
            bounds=(0.0, 1.0),
        )
        # The solver keeps away from the limits.
        found = np.clip(fit.x, 1e-6, 1 - 1e-6)
        weights = np.sqrt(np.mean(np.asarray(model(found, q, v, a) - seen) ** 2, axis=0))
    return found


def position_errors(simulator, trajectories, coordinates):
    """What roll-outs of 0.2 s miss, (start, frame, joint) [rad]."""
    import jax
    import jax.numpy as jnp

    from pdsim.recordings.trajectories import inputs_of, is_test
    from pdsim.systems.rollout import rollout

    system = simulator.system
    test = trajectories.isel(trajectory=is_test(trajectories))
    states, inputs, observed = (
        np.asarray(x)[is_test(trajectories)]
        for x in (trajectories["states"], inputs_of(trajectories), trajectories["observed"])
    )
    joints = len(system.model.joints)
    frame_time = float(trajectories.attrs["frame_time"])
    starts = [
        (i, f) for i, n in enumerate(test["length"].values) for f in range(0, n - HORIZON, HORIZON)
    ]

    def one(start, acting):
        shown, _ = rollout(
            system,
            system.prepare(simulator.space.system_parameters(jnp.asarray(coordinates))),
            system.unpack(start),
            tuple(acting.T),
            frames=HORIZON,
            frame_time=frame_time,
            substeps=simulator.substeps,
        )
        return jnp.stack(shown[:joints], axis=1)

    began = jnp.asarray([states[i, f] for i, f in starts])
    acting = jnp.asarray([inputs[i, f : f + HORIZON] for i, f in starts])
    came = np.array([observed[i, f + 1 : f + 1 + HORIZON, :joints] for i, f in starts])
    return np.asarray(jax.jit(jax.vmap(one))(began, acting)) - came


def correlations(simulator, coordinates, q, missed):
    """Between the joints of ``PAIRS``: of torques that are missed, and of accelerations by them."""
    import jax

    from pdsim.rigid_body.dynamics import mass_matrix

    system = simulator.system
    links = system.prepare(simulator.space.system_parameters(coordinates))
    masses = jax.jit(jax.vmap(lambda q: mass_matrix(system.model, links, q)))(q)
    accelerations = np.linalg.solve(np.asarray(masses), missed[..., None])[..., 0]
    return {
        what: {f"{i} and {j}": np.corrcoef(x.T)[i - 1, j - 1] for i, j in PAIRS}
        for what, x in (("torques", missed), ("accelerations", accelerations))
    }


def posteriors(simulator):
    """Label and median coordinates of each posterior file."""
    from pdsim.runtime.files import read_dataset

    for path in sorted(FOLDER.rglob("posterior.nc")):
        draws = read_dataset(str(path), "posterior")
        medians = np.array([float(draws[name].median()) for name in simulator.space.names])
        label = " ".join(path.relative_to(FOLDER).parts[:-1])
        yield label, np.asarray(simulator.space.to_coordinates(medians))


def main():
    """Make the table."""
    from pdsim.experiment.load import load_experiment
    from pdsim.runtime import device
    from pdsim.runtime.files import read_dataset
    from pdsim.systems.simulator import build_simulator

    path = FOLDER / "trajectories.nc"
    if not path.exists():
        sys.exit(f"{path}: no such file; run snakemake {path}")
    device.configure()
    experiment = load_experiment(f"config/experiments/{NAME}.yaml")
    simulator, trajectories = build_simulator(experiment.simulator), read_dataset(str(path))
    times, *rows = torque_rows(experiment)
    (train,) = experiment.recording.train
    held_out = times >= train.seconds[1]
    fitted = torque_fit(simulator, [x[~held_out] for x in rows])
    candidates = {
        "prior's centre": np.full(simulator.space.dimension, 0.5),
        "inverse dynamics": fitted,
        **dict(posteriors(simulator)),
    }
    model = torque_model(simulator)
    q, v, a, seen = (x[~held_out] for x in rows)
    missed = np.asarray(model(fitted, q, v, a)) - seen
    write(f"{NAME}_residuals", correlations(simulator, fitted, q, missed))
    q, v, a, seen = (x[held_out] for x in rows)
    target = Path(f"results/benchmarks/{NAME}.csv")
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", newline="") as file:
        writer = csv.writer(file)
        joints = seen.shape[1]
        writer.writerow(
            ["parameters", "position_mrad"]
            + [f"{what}_{i + 1}" for what in ("position_mrad", "torque") for i in range(joints)]
        )
        for label, coordinates in candidates.items():
            missed = 1e3 * position_errors(simulator, trajectories, coordinates)
            torque = np.asarray(model(coordinates, q, v, a)) - seen
            scores = [
                np.sqrt(np.mean(missed**2)),
                *np.sqrt(np.mean(missed**2, axis=(0, 1))),
                *np.sqrt(np.mean(torque**2, axis=0)),
            ]
            writer.writerow([label, *(f"{x:.4g}" for x in scores)])
    print(target.read_text())


if __name__ == "__main__":
    main()
