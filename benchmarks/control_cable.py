"""Why is the cable of ``payload`` taken for longer than it is?

    pdsim control config/experiments/payload.yaml --controller prmppi --budget few \\
        --output prmppi.nc
    python benchmarks/control_cable.py prmppi.nc   # a minute

Flies one lap of the square with the plant of the task, with and without what the model lacks (the
lag of the rotors, the drag of the air), by a proportional and derivative law with white noise on
its accelerations, clipped to the limits, and lays the exact posterior of (6) over a grid of length
and both dampings, flat, with the task's deviations and transitions as a controller sees them: the
input is the one that it commanded. ``felt`` gives the model the input as the rotors followed it,
the mean over the step, in place of the command. The same for the flight of a log, if one is named.
Single precision. Writes ``results/benchmarks/control_cable.csv``, which was copied to
``docs/results``: mean, deviation and mode of the length [m], whose truth is 0.52 m, and the largest
angle of the swing [rad].
"""

import sys
from pathlib import Path

TRUTH = (0.52, 0.015, 0.015)
# Noise on the commanded acceleration [m/s²], gains on place [1/s²] and speed [1/s].
NOISES, PLACE, SPEED = (0.0, 0.5), 1.5, 2.0
LENGTHS, DAMPINGS = (0.3, 1.2, 91), (0.0, 0.3, 7)
PLANTS = {
    "neither": (False, False),
    "drag": (False, True),
    "lag": (True, False),
    "both": (True, True),
}


def of_log(path, task, dt):
    """Transitions of the first vehicle of a log, and the inputs as its rotors followed them."""
    import jax.numpy as jnp
    import numpy as np

    from pdsim.control.belief import Transition
    from pdsim.control.tasks import payload
    from pdsim.runtime.files import read_dataset

    log = read_dataset(path)
    states = np.concatenate([np.asarray(task.start(None))[None], log["state"].values[0]])
    inputs = log["input"].values[0]
    share, memory, felt = 1 - np.exp(-dt / payload._LAG), np.zeros(3), []
    for u in inputs:
        along = []
        for _ in range(task.substeps):
            memory = memory + share * (u - memory)
            along.append(memory)
        felt.append(np.mean(along, axis=0))
    seen = Transition(*map(jnp.asarray, (states[:-1], inputs, states[1:])))
    return seen, jnp.asarray(np.array(felt), seen.input.dtype)


def main():
    """Fly, and write the table."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import pandas as pd

    from pdsim.control.belief import Transition, log_likelihood
    from pdsim.control.tasks import payload

    task = payload.PayloadTask()
    system = task.system.with_integrator("semi_implicit_euler")
    prepared = task.prepare_plant(jnp.log(jnp.asarray(TRUTH) / task.nominal))
    dt = task.control_time / task.substeps
    steps = task.lap_steps

    @jax.jit
    def fly(lag, drag, noise):
        """Transitions by the command, and the inputs as the rotors followed them."""

        def substep(carry, _):
            x, memory, u, total = carry
            felt, memory = task.felt(x, memory, tuple(u), dt)
            felt = jnp.stack(felt)
            # Drag is what is felt beyond the memory of the rotors.
            pull = felt - memory
            thrust = jnp.where(lag, memory, u)
            force = thrust + jnp.where(drag, pull, 0.0)
            x = system.step(x, tuple(force), 0.0, prepared, dt)
            return (x, memory, u, total + thrust / task.substeps), None

        def advance(carry, drive):
            state, memory = carry
            number, noisy = drive
            goal = task.reference((number + 1) * task.control_time)
            error = jnp.stack(goal) - state
            u = jnp.clip(PLACE * error[:3] + SPEED * error[5:8] + noisy, -4.0, 4.0)
            first = (system.unpack(state), memory, u, jnp.zeros(3))
            (x, memory, _, mean), _ = jax.lax.scan(substep, first, length=task.substeps)
            after = system.pack(x)
            return (after, memory), (Transition(state, u, after), mean)

        shakes = noise * jax.random.normal(jax.random.key(0), (steps, 3))
        start = task.start(None)
        numbers = jnp.arange(steps, dtype=start.dtype)
        return jax.lax.scan(advance, (start, task.remembered(start)), (numbers, shakes))[1]

    axes = [np.linspace(*LENGTHS), np.linspace(*DAMPINGS), np.linspace(*DAMPINGS)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    logarithms = jnp.log(jnp.maximum(jnp.asarray(grid), 1e-6) / task.nominal)

    @jax.jit
    def log_density(transitions):
        def total(y):
            return jax.vmap(lambda one: log_likelihood(task, y, one))(transitions).sum()

        return jax.lax.map(jax.vmap(total), logarithms.reshape(91, -1, 3)).ravel()

    def row(name, noise, transitions):
        log_p = np.asarray(log_density(transitions), np.float64)
        weight = np.exp(log_p - log_p.max())
        weight /= weight.sum()
        length = grid[:, 0]
        mean = weight @ length
        found = {
            "flight": name if noise is None else f"{name}, noise {noise:g}",
            "mean": mean,
            "deviation": np.sqrt(weight @ (length - mean) ** 2),
            "mode": length[log_p.argmax()],
            "damping": (weight @ grid)[1:].mean(),
            "swing": np.abs(np.asarray(transitions.after)[:, 3:5]).max(),
        }
        print(found, flush=True)
        return found

    rows = []
    for noise in NOISES:
        for plant, (lag, drag) in PLANTS.items():
            transitions, felt = fly(lag, drag, noise)
            rows.append(row(plant, noise, transitions))
            if plant == "both":
                rows.append(row("both, felt", noise, transitions._replace(input=felt)))
    for path in sys.argv[1:]:
        flown, felt = of_log(path, task, dt)
        rows.append(row("prmppi", None, flown))
        rows.append(row("prmppi, felt", None, flown._replace(input=felt)))
    path = Path("results/benchmarks/control_cable.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)


if __name__ == "__main__":
    main()
