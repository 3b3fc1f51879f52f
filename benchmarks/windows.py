"""How long may a window be at whose end process noise acts? Fits with several lengths.

    python benchmarks/windows.py        # half an hour; goes on where it was cut
    python benchmarks/windows.py fast   # the rows that begin so

Reads ``results/<experiment>/trajectories.nc``, which ``snakemake`` writes if asked, and writes
``results/benchmarks/windows.csv``, which was copied to ``docs/results``.
"""

import sys

from fits import finished, fit, load, write

SETTINGS = {
    "slow": "trusted_calibrated",
    "fast": "trusted_chaotic",
    "pendubot": "trusted_pendubot",
}
# Windows of a training recording.
COUNTS = {
    "trusted_calibrated": (10, 20, 40, 80),
    "trusted_chaotic": (10, 20, 40, 80),
    "trusted_pendubot": (10, 25, 50, 100),
}
SCORES = (
    "log_likelihood",
    "prefix_coverage_90",
    "prefix_coverage_90_first",
    "prefix_coverage_90_second",
    "prefix_coverage_90_third",
    "prefix_rmse_median",
    "prefix_crps",
)


def main():
    """Make the table."""
    from pdsim.runtime import device

    device.configure()
    rows, begin = finished("windows"), "".join(sys.argv[1:])
    for motion, name in SETTINGS.items():
        experiment, path = load(name)
        for count in COUNTS[name]:
            label = f"{motion}, {count} windows"
            if label in rows or not label.startswith(begin):
                continue
            likelihood = experiment.likelihood.model_copy(update={"window_count": count})
            changed = experiment.model_copy(update={"likelihood": likelihood})
            scores = fit(name, changed, path, "least_squares_marginal")
            rows[label] = {key: scores[key] for key in SCORES}
            write("windows", rows)


if __name__ == "__main__":
    main()
