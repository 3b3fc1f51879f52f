"""How many of the sequences carry a plan's weight, at two temperatures?

    python benchmarks/control_weights.py   # some minutes

Flies three vehicles of ``quadrotor_circle`` for a lap by PRMPPI. At every tenth control step M
sequences are drawn about the nominal plan as the controller draws them, and the effective number of
their weights w is 1/Σw². Writes ``results/benchmarks/control_weights.csv``, which was copied to
``docs/results``: medians, near the ceiling (within 0.15 m) and elsewhere.
"""

from pathlib import Path

NEAR = 0.15
VEHICLES, EVERY, LAPS = 3, 10, 1


def effective(controller, simulation, time, key):
    """Effective number of the weights about a simulation's nominal plan."""
    import jax
    import jax.numpy as jnp

    from pdsim.control.mppi import evaluate, nominal_cost, references, shifted, weights

    planner, task = controller.planner, controller.task
    draw, explore = jax.random.split(key)
    logarithms = controller.belief.draw(simulation.belief, draw, controller.samples)
    centre = shifted(simulation.plan.nominal)
    normal = jax.random.normal(explore, (planner.sequences, *centre.shape), centre.dtype)
    noise = normal @ jnp.asarray(task.exploration, centre.dtype).T
    lowest, highest = (jnp.asarray(x) for x in (task.lowest_input, task.highest_input))
    sequences = jnp.clip(centre + noise, lowest, highest)
    state = task.system.unpack(simulation.state)
    outcome = evaluate(planner, state, references(planner, time), logarithms, sequences)
    w = weights(nominal_cost(planner, outcome)[0], planner.beta)
    return 1 / jnp.sum(w * w)


def measured(name):
    """Effective numbers and distances to the ceiling along a lap of a controller, (n, 2)."""
    from functools import partial

    import jax
    import jax.numpy as jnp
    import numpy as np

    from pdsim.control.closed_loop import advance_all, begin_all
    from pdsim.experiment.load import load_control

    experiment = load_control("config/experiments/quadrotor_circle.yaml")
    task = experiment.task.build()
    controller = experiment.controller(name).build(task)
    count = jax.jit(jax.vmap(partial(effective, controller), in_axes=(0, None, 0)))
    simulations, found = begin_all(controller, experiment.seed, VEHICLES), []
    for first in range(0, LAPS * task.lap_steps, EVERY):
        time = jnp.asarray((first % task.lap_steps) * task.control_time, jnp.float32)
        keys = jax.random.split(jax.random.key(first), VEHICLES)
        clearance = task.ceiling - np.asarray(simulations.state)[:, 1]
        found += zip(np.asarray(count(simulations, time, keys)), clearance, strict=True)
        simulations, _ = advance_all(
            controller, experiment.seed, simulations, jnp.asarray(first), EVERY
        )
    return np.array(found)


def main():
    """Write the table."""
    import numpy as np
    import pandas as pd

    from pdsim.runtime import device

    device.configure("float32")
    rows = {}
    for name in ("prmppi_cold", "prmppi"):
        number, clearance = measured(name).T
        near = clearance < NEAR
        rows[name] = {
            "near": np.median(number[near]),
            "elsewhere": np.median(number[~near]),
            "steps_near": near.sum(),
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("controller")
    path = Path("results/benchmarks/control_weights.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path)
    print(table)


if __name__ == "__main__":
    main()
