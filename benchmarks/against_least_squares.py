"""Are a run's predictions nearer than those of least squares, recording by recording?

    python benchmarks/against_least_squares.py    # seconds, after make trusted

Errors of recordings differ by factors of 30 to 120, so that a median over recordings is the error
of one or two in the middle, and a mean that of the worst. Two runs that predict the same recordings
are compared on each: a table tells in how many a run's error is the smaller one, and the geometric
mean of the ratios with the range that it is in for 90 % of sets of recordings drawn with
replacement. Of the median prediction (RMSE) and of the draws (CRPS); of each recording the
geometric mean over the seeds. Reads ``results/<experiment>/<run>/seed*/prediction.nc`` and writes
``results/benchmarks/against_least_squares.csv``, which was copied to ``docs/results``.
"""

from pathlib import Path

import numpy as np
from fits import load, write
from windows import SETTINGS

FIT = "least_squares_marginal"
RUNS = ("csvgd_marginal", "nuts_marginal", "crank_nicolson_marginal")
RESAMPLES, LEVEL = 4000, 0.9


def errors(data, path):
    """RMSE of the median and CRPS of each held-out recording, (2, recording)."""
    from pdsim.metrics.prefix import Observations, crps
    from pdsim.metrics.rmse import rmse_of_median
    from pdsim.runtime.files import read_dataset

    seen = Observations.of(data, read_dataset(path))
    scaled = list(zip(*seen.scaled, strict=True))
    return [
        [rmse_of_median(y[None], x[None]).value
         for y, x in zip(seen.came, seen.predicted, strict=True)],
        [crps(y[None], x[None]).value for y, x in scaled],
    ]  # fmt: skip


def compared(data, folder, run):
    """Logarithm of a run's errors over those of the fit, mean over seeds, (2, recording)."""

    def of(name):
        paths = sorted(Path(folder).glob(f"{name}/seed*/prediction.nc"))
        return np.log([errors(data, path) for path in paths]).mean(axis=0)

    return of(run) - of(FIT)


def main():
    """Make the table."""
    from pdsim.runtime.files import read_dataset

    rows = {}
    for motion, name in SETTINGS.items():
        if not list(Path(f"results/{name}/{FIT}").glob("seed*/prediction.nc")):
            continue
        data = read_dataset(load(name)[1])
        for run in RUNS:
            if not list(Path(f"results/{name}/{run}").glob("seed*/prediction.nc")):
                continue
            told: dict[str, float] = {}
            found = compared(data, f"results/{name}", run)
            for kind, ratios in zip(("rmse", "crps"), found, strict=True):
                drawn = np.random.default_rng(0).integers(
                    len(ratios), size=(RESAMPLES, len(ratios))
                )
                ends = np.quantile(ratios[drawn].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                told |= {
                    f"{kind}_smaller": int((ratios < 0).sum()),
                    f"{kind}_ratio": np.exp(ratios.mean()),
                    f"{kind}_low": np.exp(ends[0]),
                    f"{kind}_high": np.exp(ends[1]),
                }
            rows[f"{motion}, {run.removesuffix('_marginal')}"] = told | {"recordings": len(ratios)}
    write("against_least_squares", rows)


if __name__ == "__main__":
    main()
