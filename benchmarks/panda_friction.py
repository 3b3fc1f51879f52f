"""What friction of the real Panda is a function of: its velocity, or also the way since it turned.

    python benchmarks/panda_friction.py   # a minute

Reads the recording of ``panda_log`` and writes ``results/benchmarks/panda_friction.csv``, which was
copied to ``docs/results``. The fit of inverse dynamics of ``panda_log.py`` is taken, and what it
misses is fitted again, joint by joint and linearly, on the training motion: centres of mass,
offsets and dry friction f tanh(v / s) as they are sought, and

- nothing more (``dry``),
- any odd function of the velocity: broken lines and four more bends tanh(v / s) (``velocity``),
- a state z that follows the way, dz/dt = v / x₀ (1 − z sgn v), with force f z, x₀ the best of five
  between 0.3 and 30 mrad (``yielding``; Dahl, A Solid Friction Model, 1968).

The table has the root mean square of what each misses on held-out motion [N m], and x₀ [mrad].
"""

import numpy as np
from fits import write
from panda_log import NAME, torque_fit, torque_model, torque_rows

# Rows are this far apart [s]; the fit of inverse dynamics takes every fifth.
STEP, FIFTH = 0.002, slice(None, None, 5)
WAYS = (0.0003, 0.001, 0.003, 0.01, 0.03)
BENDS = (0.005, 0.01, 0.02, 0.1, 0.2)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


def yielded(v, way):
    """z of Dahl's model along a motion, (row,)."""
    found, z = np.zeros(len(v)), 0.0
    for k, velocity in enumerate(v):
        z = np.clip(z + STEP * velocity / way * (1 - np.sign(velocity) * z), -1.0, 1.0)
        found[k] = z
    return found


def missed(columns, target, held_out):
    """Root mean square on held-out rows, and on those of the fit."""
    a = np.stack(columns, axis=1)
    solution = np.linalg.lstsq(a[~held_out], target[~held_out], rcond=1e-8)[0]
    rest = (target - a @ solution) ** 2
    return float(np.sqrt(rest[held_out].mean())), float(np.sqrt(rest[~held_out].mean()))


def main():
    """Make the table."""
    import jax

    from pdsim.experiment.load import load_experiment
    from pdsim.runtime import device
    from pdsim.systems.simulator import build_simulator

    device.configure()
    experiment = load_experiment(f"config/experiments/{NAME}.yaml")
    simulator = build_simulator(experiment.simulator)
    times, *rows = torque_rows(experiment, STEP)
    (train,) = experiment.recording.train
    held_out = times >= train.seconds[1]
    fitted = torque_fit(simulator, [x[~held_out][FIFTH] for x in rows])
    model = torque_model(simulator)
    q, v, a, seen = rows
    rest = seen - np.asarray(model(fitted, q, v, a))
    slopes = np.asarray(jax.jit(jax.jacfwd(model))(fitted, q, v, a))
    straight = [
        i for i, n in enumerate(simulator.space.names) if n.startswith(("com", "off", "dry"))
    ]
    table = {"dry": {}, "velocity": {}, "yielding": {}, "way": {}}
    for joint in range(seen.shape[1]):
        own, speed = v[:, joint], np.abs(v[:, joint])
        base = [slopes[:, joint, i] for i in straight if np.abs(slopes[:, joint, i]).max() > 1e-9]
        broken = [np.sign(own) * np.maximum(speed - k, 0) for k in np.quantile(speed, SHARES)]
        bends = [np.tanh(own / s) for s in BENDS]
        tried = {way: missed([*base, yielded(own, way)], rest[:, joint], held_out) for way in WAYS}
        way = min(tried, key=lambda way: tried[way][1])
        label = f"joint {joint + 1}"
        table["dry"][label] = missed(base, rest[:, joint], held_out)[0]
        table["velocity"][label] = missed([*base, own, *broken, *bends], rest[:, joint], held_out)[
            0
        ]
        table["yielding"][label] = tried[way][0]
        table["way"][label] = 1e3 * way
    write("panda_friction", table)


if __name__ == "__main__":
    main()
