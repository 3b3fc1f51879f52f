import numpy as np
import pytest
import xarray as xr
from draft.swings import NOISE

from pdsim.cli.main import main
from pdsim.draft.stamps import guess_time
from pdsim.draft.tables import Asked, Named, guess_channels, guess_inputs, read_tables
from pdsim.systems.double_pendulum import Options, build


def guessed(path, asked=None, *, motors=False):
    """Time, channels and inputs of one table."""
    asked, system = asked or Asked(), build(Options(motors=motors))
    tables = read_tables([str(path)])
    time, step = guess_time(tables, asked)
    channels = guess_channels(tables, system, asked, time, step)
    inputs = guess_inputs(tables, system, asked)
    return time.values, channels.values, inputs.values


def test_degrees_milliseconds_and_odd_names_come_back_as_they_were_made(runs, swings):
    for recording, angles in zip(runs.values(), swings, strict=True):
        assert recording.frame_time == pytest.approx(0.005)
        turns = np.round((angles[0] - recording.observed[0, :2]) / (2 * np.pi)) * 2 * np.pi
        gap = recording.observed[:, :2] + turns - angles
        assert np.abs(gap).max() < 0.01 * NOISE


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("t,a1,a2\n" + "\n".join(f"{i / 100},{i % 7 / 9},{i % 5 / 9}" for i in range(60)), "t"),
        ("t;a1;a2\n" + "\n".join(f"0,{i:02d};0,{i % 7};0,{i % 5}" for i in range(60)), "t"),
        ("\n".join(f"{i / 100} {i % 7 / 9} {i % 5 / 9}" for i in range(60)), "0"),
    ],
)
def test_commas_semicolons_decimal_commas_and_no_names(tmp_path, text, time):
    (tmp_path / "a.csv").write_text(text)
    values, channels, _ = guessed(tmp_path / "a.csv")
    assert values["time"] == {"column": time, "unit": "s"}
    assert [one["unit"] for one in channels.values()] == ["rad", "rad"]


def test_units_are_those_that_a_netcdf_file_states(tmp_path, swings):
    """Although the range of the angle is that of radians."""
    first = swings[0].T
    stamps = ("row", 0.005 * np.arange(800), {"units": "seconds since 2024-01-01"})
    data = {"t": stamps, "a": ("row", first[0], {"units": "degrees"}), "b": ("row", first[1])}
    xr.Dataset(data).to_netcdf(tmp_path / "a.nc")
    tables = read_tables([str(tmp_path / "a.nc")])
    time, step = guess_time(tables, Asked())
    assert time.reasons["time"] == "as its attribute says: units = 'seconds since 2024-01-01'"
    channels = guess_channels(tables, build(Options()), Asked(), time, step)
    assert channels.values["q0"] == {"column": "a", "unit": "deg"}
    assert channels.reasons["q0"] == "as its attribute says: units = 'degrees'"


def test_real_robot_by_its_names_and_stamps(robots_dir):
    time, channels, inputs = guessed(robots_dir / "dfki_pendubot/trajectory_00.csv", motors=True)
    assert time["time"] == {"column": "time", "unit": "s"}
    assert time["resample"] == {"rate_hz": 500.0, "method": "linear"}
    assert channels == {f"q{i - 1}": {"column": f"pos_meas{i}", "unit": "rad"} for i in (1, 2)}
    assert inputs == {f"torque_{i}": {"column": f"tau_meas{i}", "unit": "N m"} for i in (1, 2)}


def test_what_is_asked_for_is_taken(folder):
    asked = Asked(
        rate_hz=100.0,
        channels={"q1": Named.of("Arm upper (deg):rad"), "q0": Named.of("Arm lower:rad")},
        inputs={"torque_1": Named.of("Battery V:mN m"), "torque_2": Named.of("0")},
        absolute=True,
    )
    time, channels, inputs = guessed(folder / "swing a.csv", asked, motors=True)
    assert time == {"rate_hz": 100.0}
    assert channels["q0"] == {"column": "Arm lower", "unit": "rad"}
    assert channels["q1"] == {"column": "Arm upper (deg)", "unit": "rad", "minus": "q0"}
    assert inputs == {
        "torque_1": {"column": "Battery V", "unit": "mN m"},
        "torque_2": {"constant": 0.0, "unit": "N m"},
    }


def test_an_output_that_is_there_stays(folder, tmp_path, capsys):
    mine = tmp_path / "mine.yaml"
    mine.write_text("my work")
    arguments = [str(folder / "swing a.csv"), "--system", "double_pendulum", "--output", str(mine)]
    assert main(["new", *arguments]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert mine.read_text() == "my work"


def test_a_file_twice_is_one_run(folder):
    path = str(folder / "swing a.csv")
    with pytest.raises(Exception, match="named twice"):
        read_tables([path, path])
