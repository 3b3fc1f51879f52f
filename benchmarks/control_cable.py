"""Why is the cable of ``payload`` taken for longer than it is?

    python benchmarks/control_cable.py   # a minute

Flies one lap of the square with the plant of the task, with and without what the model lacks (the
lag of the rotors, the drag of the air), by a proportional and derivative law with white noise on
its accelerations, clipped to the limits, and lays the exact posterior of (6) over a grid of length
and both dampings, with the task's deviations and transitions as a controller sees them: the input
is the one that it commanded. ``felt`` gives the model the input as the rotors followed it, the mean
over the step, in place of the command. Single precision. Writes
``results/benchmarks/control_cable.csv``, which was copied to ``docs/results``: mean and deviation
of the posterior, metres; the truth is 0.52 m.
"""

from pathlib import Path

TRUTH = (0.52, 0.015, 0.015)
# Noise on the commanded acceleration [m/s²], gains on place [1/s²] and speed [1/s].
NOISES, PLACE, SPEED = (0.0, 0.5, 2.0), 3.0, 3.0
LENGTHS, DAMPINGS = (0.3, 1.2, 91), (0.0, 0.3, 7)
PLANTS = {
    "neither": (False, False),
    "drag": (False, True),
    "lag": (True, False),
    "both": (True, True),
}


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

    rows = []
    for noise in NOISES:
        for plant, (lag, drag) in PLANTS.items():
            transitions, felt = fly(lag, drag, noise)
            inputs = {plant: transitions}
            if plant == "both":
                inputs["both, felt"] = transitions._replace(input=felt)
            for name, seen in inputs.items():
                log_p = np.asarray(log_density(seen), np.float64)
                weight = np.exp(log_p - log_p.max())
                weight /= weight.sum()
                mean = weight @ grid
                deviation = np.sqrt(weight @ (grid - mean) ** 2)
                rows.append({"plant": name, "noise": noise, "length": mean[0]}
                            | {"deviation": deviation[0], "damping": mean[1:].mean()})  # fmt: skip
                print(rows[-1], flush=True)
    path = Path("results/benchmarks/control_cable.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)


if __name__ == "__main__":
    main()
