"""What is process noise of? Fits with noise of states, and of momenta.

    python benchmarks/process_of.py        # half an hour, most of it for the Panda
    python benchmarks/process_of.py slow   # the rows that begin so

``least_squares`` with seed 0, on the Panda from one start. Reads ``results/<experiment>/
trajectories.nc``, which ``snakemake`` writes if asked, and writes ``results/benchmarks/
process_of.csv``, which was copied to ``docs/results``.
"""

import sys

from fits import finished, fit, load, write
from windows import SCORES, SETTINGS

RUN = "least_squares_marginal"


def main():
    """Make the table."""
    from pdsim.runtime import device

    device.configure()
    rows, begin = finished("process_of"), "".join(sys.argv[1:])
    for motion, name in (SETTINGS | {"Panda": "panda_log"}).items():
        if not motion.startswith(begin):
            continue
        experiment, path = load(name)
        run = experiment.run(RUN)
        if motion == "Panda":
            run = run.model_copy(update={"settings": {"start_count": 1}})
        for kind in ("states", "momenta"):
            if f"{motion}, {kind}" in rows:
                continue
            marginal = experiment.likelihood.marginal.model_copy(update={"process_of": kind})
            likelihood = experiment.likelihood.model_copy(update={"marginal": marginal})
            changed = experiment.model_copy(update={"likelihood": likelihood, "runs": [run]})
            scores = fit(name, changed, path, RUN)
            rows[f"{motion}, {kind}"] = {key: scores[key] for key in SCORES}
            write("process_of", rows)


if __name__ == "__main__":
    main()
