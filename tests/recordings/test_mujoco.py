import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from reference import NEAR_HANGING, hanging_arm

from pdsim.recordings import mujoco as source
from pdsim.recordings import table
from pdsim.recordings.cut import cut
from pdsim.recordings.smoothing import Smoothing
from pdsim.runtime.errors import PdsimError
from pdsim.systems import articulated


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.xml"
    path.write_text(hanging_arm("1 0 0"))
    return path


def section(arm, **changes):
    return {
        "source": "mujoco",
        "model": str(arm),
        "rate_hz": 100.0,
        "frame_count": 120,
        "train": [{"run": 0, "frames": [0, 120]}],
        "smoothing": {"frames": 11, "order": 4},
        "parameters": {"body/lower/com/y": 0.05, "joint/elbow/damping": 0.02},
        "controllers": {"shoulder": {"at": 0.2, "kp": 100.0, "kd": 5.0, "speed": 1.0}},
        "frames": {"tip": {"body": "lower", "noise": 0.0005}},
        "steps": 8,
        "runs": [{"moves": [{"joint": "shoulder", "after": 0.3, "to": 0.2}]}],
        "states": {"near": NEAR_HANGING, "rest": 20},
    } | changes


def config_of(arm, **changes):
    return source.Config.model_validate(section(arm, **changes))


@pytest.fixture(scope="module")
def system(arm):
    return articulated.build(
        articulated.Options(
            model=str(arm),
            actuation="pd",
            joints=("shoulder",),
            observe={"positions": [], "velocities": [], "frames": {"tip": "lower"}},
        )
    )


@pytest.fixture(scope="module")
def recorded(arm, system, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    source.make(config_of(arm), system, folder)
    return folder


def test_the_same_seed_gives_the_same_log_and_another_one_other_noise(
    arm, system, recorded, tmp_path
):
    assert source.made(recorded)
    for seed, same in ((0, True), (1, False)):
        source.make(config_of(arm, seed=seed), system, tmp_path)
        assert ((tmp_path / "0.csv").read_bytes() == (recorded / "0.csv").read_bytes()) == same
    assert json.loads((recorded / "truth.json").read_text())["body/lower/com/y"] == 0.05


def test_it_rests_first_and_targets_move_at_the_speed_that_is_given(arm):
    config = config_of(arm)
    shown, wanted = source.simulate(config, 0), source.targets(config, 0)
    assert np.ptp(shown[:30], axis=0).max() < 1e-4
    assert np.ptp(shown[30:], axis=0).max() > 0.05
    assert wanted[0] == pytest.approx(0.2)
    assert wanted[-1] == pytest.approx(0.4)
    assert np.diff(wanted[:, 0]).max() * 100 == pytest.approx(1.0, rel=0.01)


def test_the_source_table_reads_the_log_as_it_would_a_real_one(arm, system, recorded):
    channels = [channel.name for channel in system.channels]
    log = table.Config.model_validate(
        {
            "source": "table",
            "files": {"0": str(recorded / "0.csv")},
            "time": {"column": "time", "unit": "s"},
            "channels": {name: {"column": name, "unit": "m"} for name in channels},
            "inputs": {"target_shoulder": {"column": "target_shoulder", "unit": "rad"}},
            "smoothing": {"frames": 11, "order": 4},
            "states": section(arm)["states"],
        }
    )
    config, path = config_of(arm), str(recorded / "0.csv")
    source.check(config, system)
    mine, theirs = (s.read(c, "0", path, system) for s, c in ((source, config), (table, log)))
    assert mine.truth == config.parameters
    assert theirs.frame_time == pytest.approx(mine.frame_time)
    np.testing.assert_array_equal(mine.observed, theirs.observed)
    np.testing.assert_array_equal(mine.input, theirs.input)
    both = [
        cut(
            replace(run, frame_time=0.01),
            0,
            120,
            system,
            Smoothing(11, 4),
            derive_velocities=False,
            fitted=config.fitted_states,
        )
        for config, run in ((config, mine), (log, theirs))
    ]
    np.testing.assert_array_equal(both[0].states, both[1].states)


def test_fitted_states_are_those_of_the_robot_within_their_errors(arm, system, recorded):
    config = config_of(arm)
    run = source.read(config, "0", str(recorded / "0.csv"), system)

    def window(first):
        return cut(
            run,
            first,
            120,
            system,
            Smoothing(11, 4),
            derive_velocities=False,
            fitted=config.states,
        )

    joints = {"shoulder": 0.0, "elbow": 0.0}
    true = source.simulate(config_of(arm, frames={}, joints=joints), 0)
    for first in (0, 40):
        found = window(first)
        deviation = np.sqrt(np.diag(found.start_covariance))
        error = found.start[:2] - true[first]
        assert np.abs(error).max() < 4 * deviation[:2].max()
        assert deviation[:2].max() < 1e-3
    still, moving = window(0), window(40)
    assert (still.start[2:] == 0).all()
    rate = (true[41] - true[39]) / 0.02
    deviation = np.sqrt(np.diag(moving.start_covariance))[2:]
    assert np.abs(moving.start[2:] - rate).max() < 5 * deviation.max()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"frames": {}}, "nothing is seen"),
        ({"runs": [{"moves": [{"joint": "shoulde", "after": 0, "to": 1}]}]}, "did you mean"),
        (
            {"runs": [{"moves": [{"joint": "shoulder", "after": t, "to": t + 1} for t in (0, 1)]}]},
            "raise controllers.shoulder.speed",
        ),
        ({"train": [{"run": 1, "frames": [0, 120]}]}, "run 1 does not exist"),
        ({"states": {"near": {"elbow": {"deviation": 1.0}}}}, "either value or input"),
    ],
)
def test_mistakes_in_the_section_are_told_before_anything_moves(arm, changes, message):
    with pytest.raises(ValueError, match=message):
        config_of(arm, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameters": {"body/lower/weight": 1.0}}, "recording.parameters.body/lower/weight"),
        ({"parameters": {"body/lower/inertia/xx": 0.9}}, "MuJoCo refuses it"),
        ({"frames": {"tip": {"body": "hand", "noise": 0}}}, "recording.frames: .* 'hand'"),
        ({"frames": {"top": {"body": "lower", "noise": 0}}}, "has no channel 'top_o_x'"),
        ({"controllers": {}, "runs": [{}]}, "recording.controllers: needs exactly"),
        (
            {"states": {"near": {"elbow": {"value": 0, "deviation": 1}}}},
            "recording.states.near.shoulder: is missing",
        ),
        (
            {"states": {"near": {"wrist": {"value": 0, "deviation": 1}}}},
            "recording.states.near.wrist",
        ),
        ({"states": None}, "recording.channels.shoulder: is missing"),
    ],
)
def test_names_that_do_not_go_together_are_refused(arm, system, changes, message):
    with pytest.raises(PdsimError, match=message):
        source.check(config_of(arm, **changes), system)


def test_a_missing_file_of_the_stand_in_is_named(arm, tmp_path):
    with pytest.raises(PdsimError, match=r"recording.model: nobody.xml"):
        source.located(config_of("nobody.xml"), tmp_path)


def test_a_robot_that_does_not_come_to_rest_is_refused(arm):
    with pytest.raises(PdsimError, match=r"recording.settle"):
        source.simulate(config_of(arm, settle=0.05), 0)


def test_a_truth_that_is_cut_short_is_named(arm, system, recorded, tmp_path):
    shutil.copy(recorded / "0.csv", tmp_path)
    (tmp_path / "truth.json").write_text("{")
    with pytest.raises(PdsimError, match=r"truth\.json: cannot be read"):
        source.read(config_of(arm), "0", str(tmp_path / "0.csv"), system)
