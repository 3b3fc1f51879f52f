"""Bodies that are said to be alike, from the experiment file to the posterior."""

import numpy as np
import pytest
import yaml

from pdsim.cli.main import main
from pdsim.runtime.files import read_dataset

PAIRS = [["com_x_1", "com_y_1"], ["com_x_2", "com_y_2"]]
NAMES = [name for pair in PAIRS for name in pair]


@pytest.fixture(scope="module")
def posteriors(root, tmp_path_factory):
    """The same run with and without the key; the bodies need not be alike to be called so."""
    folder = tmp_path_factory.mktemp("alike")
    path = root / "config/experiments/calibration_pendulum.yaml"
    values = yaml.safe_load(path.read_text())
    del values["calibration"]
    limits = {"lower": -0.5, "upper": 2.5, "unit": "m"}
    values["simulator"]["parameters"] = dict.fromkeys(NAMES, limits)
    values["simulator"]["fixed"]["length"] = 1.5
    values["likelihood"] = {"combination": "product"}
    values["runs"] = [
        {"method": "least_squares", "shooting": "single", "settings": {"start_count": 1}}
    ]
    values["budgets"] = {"quick": {"particle_count": 40, "iteration_count": 10}}
    found = []
    for name, pairs in (("alike", PAIRS), ("plain", None)):
        values.pop("exchangeable", None)
        if pairs:
            values["exchangeable"] = pairs
        file = folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump(values, sort_keys=False))
        raw, data, output = folder / "raw", folder / "data.nc", folder / name / "posterior.nc"
        if not data.exists():
            pdsim("record", file, "--output", raw)
            pdsim("preprocess", file, "--raw", raw, "--output", data)
        options = ("--run", "least_squares_single", "--budget", "quick", "--trajectories", data)
        pdsim("infer", file, *options, "--output", output)
        found.append(str(output))
    return found


def pdsim(*arguments):
    assert main(["--quiet", *map(str, arguments)]) == 0


def bodies(path, group="posterior"):
    data = read_dataset(path, group)
    draws = np.stack([data[name].values for name in NAMES], axis=-1)
    return draws.reshape(*draws.shape[:-1], 2, 2)


def test_half_of_the_draws_have_the_other_naming(posteriors):
    """All else is as without: each draw's bodies, and the order of the draws."""
    alike, plain = (bodies(path)[0] for path in posteriors)
    swapped = (alike == plain[:, ::-1]).all(axis=(1, 2))
    assert swapped.sum() == len(plain) / 2
    np.testing.assert_array_equal(alike[~swapped], plain[~swapped])
    roots = [read_dataset(path).attrs for path in posteriors]
    assert [root["filled_in"] for root in roots] == [1, 0]


def test_likelihoods_are_those_of_the_draws_as_they_are_named(posteriors):
    """Of draws that are named as before they are as before; these bodies are no mirror images."""
    alike, plain = (bodies(path)[0] for path in posteriors)
    kept = (alike == plain).all(axis=(1, 2))
    one, other = (read_dataset(path, "sample_stats")["log_likelihood"][0] for path in posteriors)
    np.testing.assert_allclose(one[kept], other[kept], rtol=1e-9)
    assert (np.abs(one[~kept] - other[~kept]) > 1).all()


def test_the_course_ends_with_the_draws(posteriors):
    course, draws = bodies(posteriors[0], "course"), bodies(posteriors[0])
    np.testing.assert_array_equal(course[-1], draws[0])
