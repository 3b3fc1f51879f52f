"""What does a Gaussian process inside the roll-outs cost?

    taskset -c 0 python benchmarks/control_process.py   # a minute

Rolls out 2000 sequences of 30 control steps of the quadrotor in single precision, as a control
step does, with drawn parameters, with the process of ``pdsim.control.gaussian_process`` on 4³ grid
points (10 drawn functions), and with the mean of an exact process on as many scattered points, in
JAX and by scikit-learn's ``predict`` (30 calls for 2000 places, without the roll-out around them).
Processor time on one core for each step of a roll-out, the least of some repetitions, so that other
work on the machine counts little. Writes ``results/benchmarks/control_process.csv``, which was
copied to ``docs/results``.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POINTS, SEQUENCES, DRAWS, STEPS, REPEATS = 64, 2000, 10, 30, 4


@dataclass(frozen=True)
class Scattered:
    """The mean of an exact process on scattered points: s k(z, Z) α, of one scale."""

    process: Any

    def prepare(self, draw):
        return self.process.model.task.prepare(draw[0]), *draw[1:]

    def body(self, prepared):
        return prepared[0]

    def step(self, state, input, prepared):
        import jax.numpy as jnp

        from pdsim.control.gaussian_process import _scaled

        task, (body, places, weights) = self.process.task, prepared
        z = jnp.stack(_scaled(task, state, input))
        near = jnp.exp(-0.5 * ((places - z) ** 2).sum(axis=1))
        lacking = near @ weights
        after = task.system.step(state, input, 0.0, body, task.control_time)
        speeds = [v + task.control_time * a for v, a in zip(after[3:], lacking, strict=True)]
        return (*after[:3], *speeds)


def seconds(call):
    """Processor time of the quickest of some calls, after one that compiles."""
    call()
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def main():
    """Time all four, and write the table."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import pandas as pd
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    from pdsim.control.gaussian_process import GaussianProcess
    from pdsim.control.mppi import Planner, evaluate, references
    from pdsim.control.tasks.quadrotor import QuadrotorTask

    task = QuadrotorTask()
    process = GaussianProcess(task)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(SEQUENCES, STEPS, 2)) @ np.array(task.exploration).T
    inputs = jnp.asarray(np.array(task.rest_input) + noise, jnp.float32)
    state = task.system.unpack(task.start(jax.random.key(0)))

    def timed(learnt, draws, count):
        planner = Planner(task, learnt=learnt)
        ahead = references(planner, jnp.zeros(()))
        run = jax.jit(lambda draws, inputs: evaluate(planner, state, ahead, draws, inputs))
        some = inputs[: SEQUENCES // count]
        return seconds(lambda: jax.block_until_ready(run(draws, some)))

    places = rng.uniform(-1, 1, (POINTS, 3)).astype(np.float32)
    weights = rng.normal(size=(POINTS, 3)).astype(np.float32)
    nothing = jnp.zeros((1, 2))
    library = GaussianProcessRegressor(RBF(1.0), optimizer=None, alpha=0.1).fit(places, weights)
    asked = rng.uniform(-1, 1, (SEQUENCES, 3))

    def predictions():
        for _ in range(STEPS):
            library.predict(asked)

    first = process.init(jnp.zeros(2), None)
    functions = process.draw(first, jax.random.key(0), DRAWS)
    scattered = (nothing, jnp.asarray(places)[None], jnp.asarray(weights)[None])
    rows = {
        "parameters": timed(None, jnp.zeros((DRAWS, 2)), DRAWS),
        "grid": timed(process.model, functions, DRAWS),
        "exact": timed(Scattered(process), scattered, 1),
        "library": seconds(predictions),
    }
    each = [1e9 * spent / (SEQUENCES * STEPS) for spent in rows.values()]
    table = pd.DataFrame({"model": list(rows), "nanoseconds": each})
    path = Path("results/benchmarks/control_process.csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
