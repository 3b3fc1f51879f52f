"""What bounds the gain of many simulations at once? A control step by simulations and sequences.

    python benchmarks/control_batch.py            # some minutes, on one core
    python benchmarks/control_batch.py --cores 2

PRMPPI of ``quadrotor_circle``. Each row, ``vehicles, M``, is a control step with M sequences for
each of two plans, 20 M roll-outs a vehicle: milliseconds for one vehicle, by the clock, the least,
median and most of seven counts of twenty steps each, taken in turns with the other rows. Where a
line through the M of one vehicle meets M = 0 stands what a step costs without roll-outs, which is
what vehicles can share. Writes ``results/benchmarks/control_batch_<cores>.csv``, which was copied
to ``docs/results``.
"""

import time
from argparse import ArgumentParser
from dataclasses import replace

import numpy as np
from fits import write

SIMULATIONS, SEQUENCES = (1, 2, 10), (50, 500)
STEPS, TURNS = 20, 7


def main(cores):
    """Make the table."""
    from pdsim.runtime import device

    device.configure("float32", cores)
    import jax
    import jax.numpy as jnp

    from pdsim.control.closed_loop import advance_all, begin_all
    from pdsim.experiment.load import load_control
    from pdsim.xla.cores import gathered

    experiment = load_control("config/experiments/quadrotor_circle.yaml")
    usual = experiment.controller("prmppi").build(experiment.task.build())
    cases, states = [], {}
    for count in SIMULATIONS:
        for sequences in SEQUENCES:
            planner = replace(usual.planner, sequences=sequences)
            case = replace(usual, planner=planner), count
            states[case] = begin_all(case[0], experiment.seed, count)
            cases.append(case)
    seconds = {case: [] for case in cases}
    # The first turn compiles.
    for turn in range(TURNS + 1):
        for case in cases:
            began = time.perf_counter()
            states[case], _ = jax.block_until_ready(
                advance_all(
                    case[0],
                    experiment.seed,
                    gathered(states[case]),
                    jnp.asarray(turn * STEPS),
                    STEPS,
                )
            )
            seconds[case].append((time.perf_counter() - began) / STEPS / case[1])
    rows = {}
    for case in cases:
        label = f"{case[1]}, {case[0].planner.sequences}"
        found = 1e3 * np.array(seconds[case][1:])
        rows[label] = {"least": found.min(), "median": np.median(found), "most": found.max()}
    write(f"control_batch_{cores}", rows)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=1)
    main(parser.parse_args().cores)
