"""BayesSim on the problem that tells a broken pipeline from a hard one: two link lengths."""

import numpy as np
import pytest
import yaml

from pdsim.cli.main import main
from pdsim.inference.bayessim.calibration import ranks
from pdsim.inference.bayessim.conditioning import conditioned
from pdsim.inference.bayessim.config import BayesSimConfig
from pdsim.inference.bayessim.scaling import scaling
from pdsim.runtime.files import read_dataset

pytestmark = pytest.mark.slow

STATISTICS = ("downsampled", "difference")
BAYESSIM = {
    "statistics": list(STATISTICS),
    "densities": ["mdn"],
    "training_set": {"count": 3000, "held_out_count": 500},
    "density": {"epochs": 300, "batch_size": 100},
}


@pytest.fixture(scope="module")
def learned(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("two_lengths")
    values = yaml.safe_load((root / "config/experiments/two_lengths.yaml").read_text())
    values["bayessim"] = BAYESSIM
    values["recording"]["test"] = values["recording"]["test"][:2]
    values["simulator"]["substeps"] = 2
    experiment = folder / "two_lengths.yaml"
    experiment.write_text(yaml.safe_dump(values))

    def pdsim(verb, *arguments):
        assert main(["--quiet", verb, str(experiment), *map(str, arguments)]) == 0

    pdsim("record", "--output", folder / "raw")
    recorded = ("--trajectories", folder / "trajectories.nc")
    pdsim("preprocess", "--raw", folder / "raw", "--output", recorded[1])
    pdsim("training-set", *recorded, "--output", folder / "set.nc")
    for name in STATISTICS:
        variant = ("--run", f"bayessim_{name}_mdn")
        seen = ("--statistics", folder / f"{name}.nc")
        pdsim(
            "statistics", *recorded, "--name", name,
            "--training-set", folder / "set.nc", "--output", seen[1],
        )  # fmt: skip
        pdsim("train", *variant, *seen, "--output", folder / f"{name}_density.nc")
        pdsim(
            "condition", *variant, *recorded, *seen,
            "--trained", folder / f"{name}_density.nc", "--output", folder / f"{name}_posterior.nc",
        )  # fmt: skip
    return folder


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_truth_is_found(learned, statistic):
    """Within three deviations, which are a hundredth of the prior's box or less."""
    draws = read_dataset(learned / f"{statistic}_posterior.nc", "posterior")
    found = np.stack([draws[name].values.ravel() for name in ("link_1", "link_2")])
    deviation = found.std(axis=1)
    assert deviation.max() < 0.1
    assert np.abs((found.mean(axis=1) - [1.5, 2.0]) / deviation).max() < 3


@pytest.mark.parametrize("statistic", STATISTICS)
def test_widths_can_be_believed(learned, statistic):
    """How many of 500 simulations nobody trained on lie in central bands of their posterior.

    The share's standard error is 0.02. Three thousand pairs over the whole box let a density be
    off by more than that: up to 0.1 too sure; or too wide, where it cannot tell neighbours apart.
    """
    data = read_dataset(learned / f"{statistic}.nc")
    held_out = data["held_out"].values
    config = BayesSimConfig.model_validate(BAYESSIM).density
    density = conditioned(
        str(learned / f"{statistic}_density.nc"), data["simulated"].values[held_out], config, 2
    )
    rank = ranks(density, data["coordinates"].values[held_out], count=99) / 99
    for share, most in ((0.5, 0.75), (0.9, 1.0)):
        covered = (np.abs(rank - 0.5) <= share / 2).mean(axis=0)
        assert (covered > share - 0.1).all()
        assert (covered < most).all()


def test_simulations_without_sensors_do_not_look_like_recordings(learned):
    """A seventh of a recording's differences is beyond three widths of clean simulations.

    Of the simulations themselves 2 % are; seen through sensors, the recording is one like them.
    """

    def share_beyond(statistics):
        data = read_dataset(statistics)
        standardise = scaling(data["simulated"].values)
        return (np.abs(standardise(data["recorded"].values)) > 3).mean()

    values = yaml.safe_load((learned / "two_lengths.yaml").read_text())
    values["bayessim"]["training_set"]["noise"] = False
    (learned / "clean.yaml").write_text(yaml.safe_dump(values))
    recorded = ("--trajectories", learned / "trajectories.nc")
    clean = ("--output", learned / "clean_set.nc")
    for arguments in (
        ("training-set", learned / "clean.yaml", *recorded, *clean),
        (
            "statistics", learned / "clean.yaml", *recorded, "--name", "difference",
            "--training-set", clean[1], "--output", learned / "clean_difference.nc",
        ),
    ):  # fmt: skip
        assert main(["--quiet", *map(str, arguments)]) == 0
    assert share_beyond(learned / "difference.nc") < 0.05
    assert share_beyond(learned / "clean_difference.nc") > 0.1
