"""Recordings of real robots, read from their tables."""

import numpy as np
import pytest
from recordings.tables import DRIVEN, config, read, refused

from pdsim.recordings import table
from pdsim.runtime.errors import PdsimError

PENDUBOT = {
    "q0": {"column": "pos_meas1", "unit": "rad"},
    "q1": {"column": "pos_meas2", "unit": "rad"},
    "dq0": {"column": "vel_meas1", "unit": "rad/s"},
    "dq1": {"column": "vel_meas2", "unit": "rad/s"},
}


def pendubot(robots_dir, run, **changes):
    path = str(robots_dir / f"dfki_pendubot/trajectory_0{run}.csv")
    inputs = {f"torque_{i}": {"column": f"tau_meas{i}", "unit": "N m"} for i in (1, 2)}
    values = {"time": {"column": "time"}, "channels": PENDUBOT, "inputs": inputs}
    return table.read(config(path, **(values | changes)), "run", path, DRIVEN)


def test_a_pendubot_that_stamped_a_few_rows_late(robots_dir):
    with pytest.raises(PdsimError, match=r"4,997 stamps; .*to 3\.3 ms; 0\.14 %") as error:
        pendubot(robots_dir, 0)
    assert "resample: {rate_hz: 500" in str(error.value) and "do not" in str(error.value)
    with pytest.raises(PdsimError, match=r"7 of 4,996 steps"):
        pendubot(robots_dir, 0, drop_repeats=True)
    recording = pendubot(robots_dir, 0, resample={"rate_hz": 500})
    assert recording.observed.shape == (5000, 4) and recording.frame_time == 0.002
    assert np.isfinite(recording.observed).all() and recording.input.shape == (5000, 2)
    derived = np.gradient(recording.observed[:, 0], 0.002)
    assert np.corrcoef(derived, recording.observed[:, 2])[0, 1] > 0.98


def test_a_panda_whose_logger_jitters_and_whose_clock_does_not(robots_dir):
    """Differences of positions agree with measured rates by the clock, and not by the stamps."""
    path = str(robots_dir / "panda_log/exciting_trajectory_1.csv")
    channels = {
        **{f"q{i}": {"column": f"q{i + 1}", "unit": "rad"} for i in (0, 1)},
        **{f"dq{i}": {"column": f"dq{i + 1}", "unit": "rad/s"} for i in (0, 1)},
    }
    settings = {"channels": channels, "time": {"column": "time"}}

    def disagreement(recording):
        q, frame_time = recording.observed, recording.frame_time
        rates = (q[2:, :2] - q[:-2, :2]) / (2 * frame_time)
        return np.sqrt(np.nanmean((rates - q[1:-1, 2:]) ** 2, axis=0))

    refused(path, ["20,544 stamps", "0.7 ms to 8.81 ms", "82 %"], **settings)
    refused(path, ["whole periods"], **settings, drop_repeats=True)
    stamped = read(path, **settings, resample={"rate_hz": 1000})
    assert (disagreement(stamped) > 0.1).all()
    clocked = read(path, **settings, clock="clock")
    assert clocked.frame_time == 0.001 and clocked.frames == 21000
    assert np.isfinite(clocked.observed[:, 0]).sum() == 20544 - 1253
    assert (disagreement(clocked) < 0.012).all()
