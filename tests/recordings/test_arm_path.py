"""Recordings of the arm with the flexible loop: what is read of a file, and what is refused."""

import json

import numpy as np
import pytest

from pdsim.recordings.arm_path import (
    ArmPath,
    Config,
    check,
    make,
    of_the_arm,
    read,
    reference,
)
from pdsim.recordings.cut import cut
from pdsim.recordings.smoothing import Smoothing
from pdsim.runtime.errors import PdsimError
from pdsim.systems import oscillator
from pdsim.systems.baxter_arm import LINKS
from pdsim.systems.flexible_loop import Options, build

VALUES = {
    "source": "arm_path",
    "rate_hz": 100.0,
    "frame_count": 41,
    "links": 12,
    "train": [{"run": 0, "frames": [0, 41]}],
}


def config(**changes) -> Config:
    return Config.model_validate(VALUES | changes)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "truth.json").write_text(json.dumps({"kappa_psi": 0.9}))
    path = tmp_path / "0.csv"
    rows = np.random.default_rng(0).normal(size=(41, 24)).cumsum(axis=0)
    system = build(Options(links=12))
    names = ",".join(q.name for q in (*system.channels, *system.inputs))
    np.savetxt(path, rows, delimiter=",", header=names, comments="")
    return path, rows


def test_the_path_starts_smoothly_from_the_posture():
    times = np.array([0.0, 1e-3, 1.0, 1.7])
    posture = np.arange(7.0)
    b = reference(ArmPath(), posture, times)
    np.testing.assert_array_equal(b[0], posture)
    assert np.abs(b[1] - posture).max() < 1e-7
    np.testing.assert_allclose(b[3, 6], 6 + 0.6 * np.sin(2 * np.pi * 0.25 * 1.7), rtol=1e-12)


def test_a_run_is_read_with_the_start_it_is_known_to_have(file):
    path, rows = file
    system = build(Options(links=12))
    recording = read(config(), "0", str(path), system)
    np.testing.assert_allclose(recording.observed, rows[:, :3])
    np.testing.assert_allclose(recording.input, rows[:, 3:])
    np.testing.assert_array_equal(recording.start, system.start())
    assert np.isnan(recording.states[1:]).all()
    assert recording.truth == {"kappa_psi": 0.9}
    window = cut(recording, 0, 30, system, Smoothing(11, 4), derive_velocities=True)
    np.testing.assert_array_equal(window.start, system.start())
    np.testing.assert_array_equal(window.observed, recording.observed[:30])
    assert not window.start_covariance.any()


def test_a_model_of_other_links_has_no_truth(file):
    system = build(Options(links=6))
    assert read(config(), "0", str(file[0]), system).truth == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train": [{"run": 0, "frames": [5, 41]}]}, "known at frame 0 alone"),
        ({"train": [{"run": 0, "frames": [0, 42]}]}, "beyond frame_count"),
        ({"train": [{"run": 1, "frames": [0, 41]}]}, "run 1 does not exist"),
    ],
)
def test_windows_that_cannot_be_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        config(**changes)


def test_another_system_and_a_strange_parameter_are_refused():
    with pytest.raises(PdsimError, match="records flexible_loop, not oscillator"):
        check(config(), oscillator.build(oscillator.Options()))
    with pytest.raises(PdsimError, match=r"recording\.parameters\.kappa: .*no such parameter"):
        check(config(parameters={"kappa": 1.0}), build(Options(links=12)))


def test_masses_and_biases_are_the_arms_and_vanish_where_none_are_asked_for():
    nothing = of_the_arm(config())
    assert nothing.factors == () and nothing.bias == (0.0,) * 7
    drawn = of_the_arm(config(mass_spread=0.05, torque_bias=0.3))
    assert len(drawn.factors) == 12 and max(abs(x - 1) for x in drawn.factors) < 0.05
    assert of_the_arm(config(torque_bias=0.3)).bias == drawn.bias
    assert of_the_arm(config(torque_bias=0.3, seed=1)).bias != drawn.bias


@pytest.mark.slow
def test_torques_are_recorded_with_the_bias_that_is_told_as_true(tmp_path):
    """Only the arm's torques carry a bias, of the size that the recording gives as its truth."""
    short = {"frame_count": 21, "links": 6, "train": [{"run": 0, "frames": [0, 21]}]}
    system = build(Options(links=6))
    found = []
    for name, bias in (("with", 0.3), ("without", 0.0)):
        (tmp_path / name).mkdir()
        asked = config(**short, torque_bias=bias)
        make(asked, system, tmp_path / name)
        found.append(read(asked, "0", str(tmp_path / name / "0.csv"), system))
    truth = [found[0].truth[f"bias_{link.name}"] for link in LINKS]
    away = found[0].input - found[1].input
    np.testing.assert_allclose(away[:, :7], np.tile(truth, (21, 1)), atol=1e-12)
    np.testing.assert_allclose(away[:, 7:], 0.0, atol=1e-12)
    np.testing.assert_array_equal(found[0].observed, found[1].observed)
