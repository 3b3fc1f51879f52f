"""How long may a window be at whose end process noise acts? Fits with several lengths.

    python benchmarks/windows.py   # a quarter of an hour

Reads ``results/<experiment>/trajectories.nc``, which ``snakemake`` writes if asked, and writes
``results/benchmarks/windows.csv``, which was copied to ``docs/results``.
"""

from fits import fit, load, write

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


def windows(name):
    """Fits with windows of several lengths: likelihoods, and scores of predictions."""
    experiment, path = load(name)
    found = {}
    for count in COUNTS[name]:
        likelihood = experiment.likelihood.model_copy(update={"window_count": count})
        changed = experiment.model_copy(update={"likelihood": likelihood})
        scores = fit(name, changed, path, "least_squares_marginal")
        found[count] = {key: scores[key] for key in SCORES}
    return found


def main():
    """Make the table."""
    from pdsim.runtime import device

    device.configure()
    rows = {
        f"{motion}, {count} windows": scores
        for motion, name in SETTINGS.items()
        for count, scores in windows(name).items()
    }
    write("windows", rows)


if __name__ == "__main__":
    main()
