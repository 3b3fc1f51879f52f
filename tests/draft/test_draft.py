"""From two tables to a file: what is chosen, on motions whose truth is known."""

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from draft.swings import BASE, NOISE, swing, write_csv

from pdsim.cli.main import main
from pdsim.draft.entries import told_apart
from pdsim.draft.limits import of_double_pendulum
from pdsim.draft.matching import motion_of
from pdsim.draft.robot_limits import _beyond, _inertias
from pdsim.draft.step import choose_step
from pdsim.draft.stretches import choose_stretches, positions_of, slowest_period
from pdsim.draft.windows import growth
from pdsim.recordings.smoothing import Smoothing, state_covariance
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.double_pendulum import Options, build
from pdsim.systems.simulator import build_simulator

SYSTEM = build(Options())


@pytest.fixture(scope="module")
def limits(runs):
    recordings = list(runs.values())
    places = [positions_of(run, SYSTEM) for run in recordings]
    return of_double_pendulum(motion_of(recordings, places, 1.0), driven=False)


def test_limits_hold_the_truth_and_the_first_guess_is_near(limits):
    assert set(limits.parameters) == set(BASE)
    for name, truth in BASE.items():
        entry = limits.parameters[name]
        assert entry["lower"] < truth < entry["upper"], (name, truth, entry)
    for name in ("J1", "length", "J2", "S2y"):
        entry = limits.parameters[name]
        guess = np.sqrt(entry["lower"] * entry["upper"])
        assert guess == pytest.approx(BASE[name], rel=0.15)
        assert entry["upper"] / entry["lower"] == pytest.approx(25, rel=0.2)


def test_columns_that_others_make_up_are_not_told_apart():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    slopes = np.stack([a, b, a + b, 1e-3 * rng.normal(size=200)], axis=1)
    assert len(told_apart(slopes)) == 2
    assert 3 not in told_apart(slopes)


def test_limits_of_inertias_are_those_of_bodies():
    def found(*sizes):
        value = {f"body/b/inertia/{a}{a}": s for a, s in zip("xyz", sizes, strict=True)}
        return {label: (lower, upper) for label, lower, upper, _ in _inertias(value, "b")}

    rod, block = found(0.01, 0.01, 5e-4), found(0.03, 0.04, 0.05)
    assert set(rod) == {"xx", "zz"}
    # Two alike: the third may not exceed their sum. One alone: between difference and sum.
    assert rod["xx"][0] >= 5e-4 / 2
    assert rod["zz"][1] <= 0.02
    for label, others in (("xx", (0.04, 0.05)), ("yy", (0.03, 0.05)), ("zz", (0.03, 0.04))):
        assert block[label][0] > abs(others[0] - others[1])
        assert block[label][1] < sum(others)


def test_friction_that_a_file_does_not_know_has_limits_around_the_first_guess():
    entry = {"lower": 5e-6, "upper": 0.05, "unit": "N m s", "scale": "log"}
    assert _beyond(entry, 0.01) == entry
    assert _beyond(entry, 0.04) == {**entry, "lower": 2e-5, "upper": 0.2}


def frames_of(stretches):
    return [(one["run"], *one["frames"]) for one in (*stretches.train, *stretches.test)]


def test_nothing_of_a_held_out_recording_is_learned_from(runs):
    chosen = choose_stretches(runs, SYSTEM)
    assert {one["run"] for one in chosen.train} == {"swing_a"}
    assert {one["run"] for one in chosen.test} == {"swing_b"}
    check_apart(chosen, runs)


def test_one_recording_is_used_in_turn(runs):
    alone = {"swing_a": runs["swing_a"]}
    chosen = choose_stretches(alone, SYSTEM)
    order = sorted(frames_of(chosen))
    learned = [(one["run"], *one["frames"]) for one in chosen.train]
    assert [one in learned for one in order[:3]] == [True, False, True]
    check_apart(chosen, alone)


def check_apart(chosen, runs):
    """No two stretches share a frame, and all are within their recordings."""
    order = sorted(frames_of(chosen))
    for run, first, last in order:
        assert last - first == chosen.frames
        assert 0 <= first < last <= runs[run].frames
    for (run, _, last), (other, first, _) in pairwise(order):
        assert run != other or last <= first


def test_the_period_is_that_of_the_slowest_joint():
    times = np.arange(0, 12, 0.01)
    observed = np.stack([np.sin(np.pi * times), np.sin(4 * np.pi * times), 0 * times, 0 * times], 1)
    run = SimpleNamespace(observed=observed, frame_time=0.01)
    assert slowest_period({"a": run}, SYSTEM) == pytest.approx(2.0, rel=0.01)


def test_errors_of_a_free_mass_grow_as_its_velocity_says():
    simulator = build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": "oscillator",
                "parameters": {"damping": {"lower": 1e-9, "upper": 2e-9, "unit": "N s/m"}},
                "fixed": {"stiffness": 0.0},
            }
        )
    )
    smoothing, frames, dt = Smoothing(11, 4), 30, 0.01
    run = SimpleNamespace(
        frames=100, frame_time=dt, input=np.zeros((100, 1)), states=np.zeros((100, 2))
    )
    found = growth(simulator, [run], np.array([1e-3, 1.0]), smoothing, frames, np.full(1, 0.5))
    sigma = state_covariance(np.array([[1e-6]]), 50, 100, dt, smoothing)
    t = dt * np.arange(1, frames + 1)
    expected = np.sqrt(sigma[0, 0] + 2 * t * sigma[0, 1] + t**2 * sigma[1, 1]) / 1e-3
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_draft_of_two_tables_passes_check_and_says_why(folder, capsys):
    mine = folder / "mine.yaml"
    tables = [str(path) for path in sorted(folder.glob("*.csv"))]
    arguments = ["new", *tables, "--system", "double_pendulum", "--output", str(mine)]
    assert main([*arguments, "--overwrite"]) == 0
    told = capsys.readouterr().out
    assert "q0: column 'Arm upper (deg)' in deg, as its name says" in told
    assert f"Next: pdsim fit {mine}" in told
    assert main(["check", str(mine)]) == 0
    text = mine.read_text()
    values = yaml.safe_load(text)
    assert values["recording"]["files"] == {"swing_a": "swing a.csv", "swing_b": "swing b.csv"}
    assert values["simulator"]["integrator"] == "rk4"
    assert [run["method"] for run in values["runs"]] == ["least_squares", "csvgd", "nuts"]
    assert set(values["budgets"]) == {"quick", "paper"}
    assert values["budgets"]["quick"]["runs"] == ["least_squares_marginal", "csvgd_marginal"]
    assert values["simulator"]["parameters"]["length"]["unit"] == "m"
    assert "# distance between the joints; first guess" in text
    reason = next(line for line in text.splitlines() if "Error of one step halved:" in line)
    told = " ".join(text[text.index(reason) :].replace("#", " ").split())
    error, noise = (float(part.split(" rad")[0]) for part in told.split(": ")[1:3])
    assert error < 0.1 * noise
    assert noise == pytest.approx(NOISE, rel=0.2)
    # What cannot be a pendulum is no matter of the limits; all others can be simulated.
    assert main(["preflight", str(mine), "--budget", "quick"]) == 0
    told = capsys.readouterr().out
    assert "cannot be simulated" not in told
    assert re.search(
        r"csvgd_marginal: \d[\d,]* roll-outs at most, \d[\d.]* min of one core: ", told
    )


def test_what_was_not_observed_and_what_is_not_used_is_told(tmp_path, capsys):
    starts = [(1.2, 0.4), (-1.0, 0.8), (0.9, -0.5), (0.7, 0.1)]
    paths = [tmp_path / f"{letter}.csv" for letter in "abcd"]
    for i, (path, start) in enumerate(zip(paths, starts, strict=True)):
        write_csv(path, swing(start, 300, i))
    lines = paths[0].read_text().splitlines()
    paths[0].write_text("\n".join(lines[:101] + lines[121:]))
    output = tmp_path / "mine.yaml"
    tables = [str(path) for path in paths]
    assert main(["new", *tables, "--system", "double_pendulum", "--output", str(output)]) == 0
    told = capsys.readouterr().out
    assert "not observed: 20 of 300 frames of a (6.7 %), the first after 0.495 s" in told
    assert "from a and b: " in told
    assert "; c is not used" in told


@pytest.mark.parametrize(("noise", "integrator"), [(0.1, "semi_implicit_euler"), (1e-6, "rk4")])
def test_the_cheapest_step_that_errs_less_than_the_sensors_is_taken(noise, integrator):
    """A mass on a spring, exactly recorded; the guess is right, so the noise is all that is missed."""
    simulator = build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": "oscillator",
                "parameters": {"stiffness": {"lower": 20.0, "upper": 30.0, "unit": "N/m"}},
                "fixed": {"damping": 0.0, "mass": 1.0},
            }
        )
    )
    dt = 0.01
    time = dt * np.arange(200)
    states = np.stack([0.1 * np.cos(5 * time), -0.5 * np.sin(5 * time)], axis=1)
    run = SimpleNamespace(
        frames=200, frame_time=dt, input=np.zeros((200, 1)), states=states, observed=states
    )
    chosen = choose_step(simulator, [run], np.array([noise, np.nan]), np.array([0.5]), 60)
    assert chosen.integrator == integrator
    assert chosen.frames == 60
    assert chosen.error.ratio < 0.1
    assert chosen.tried[integrator, chosen.substeps] < 0.1
