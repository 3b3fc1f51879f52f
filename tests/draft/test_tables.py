import re

import numpy as np
import pytest
from draft.swings import NOISE

from pdsim.cli.main import main
from pdsim.draft.tables import Asked, Named, guess_channels, guess_inputs, guess_time, read_tables
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


def table(**columns):
    rows = np.stack(list(columns.values()), axis=1)
    return ",".join(columns) + "\n" + "\n".join(",".join(map(str, row)) for row in rows)


STEPS = np.arange(100)
GOOD = {"t": STEPS / 100, "a": np.sin(STEPS / 9), "b": np.cos(STEPS / 9)}
# What is in the file, the arguments, and what the message must hold.
BAD = [
    ("", [], ["bad.csv", "empty"]),
    ("t,a,b\n", [], ["bad.csv", "no row below"]),
    ("t,a,b\n1,2,3\n", [], ["bad.csv", "1 rows", "20 or more are needed"]),
    ("x,y\nred,blue\n", [], ["bad.csv", "no column holds numbers"]),
    (table(a=GOOD["a"], b=GOOD["b"]), [], ["bad.csv", "a, b", "--time COLUMN:s", "--rate 500"]),
    (table(t=STEPS * 0.3, a=GOOD["a"], b=GOOD["b"]), [], ["'t'", "0.3", "--time t:ms"]),
    (table(**GOOD), ["--time", "stamp"], ["bad.csv", "'stamp'", "known: a, b, t"]),
    (table(**GOOD), ["--time", "t:kg"], ["--time t:kg", "cannot be converted", "ms"]),
    (table(**GOOD), ["--time", "t:blink"], ["--time t:blink", "not known"]),
    (table(t=-GOOD["t"], a=GOOD["a"], b=GOOD["b"]), [], ["bad.csv", "backwards"]),
    (table(t=GOOD["t"], a=GOOD["a"]), [], ["bad.csv", "q0, q1", "candidates: a", "--channel q0="]),
    (table(**GOOD, c=GOOD["a"]), [], ["q0, q1", "candidates: a, b, c", "--channel q1="]),
    (table(**GOOD), ["--channel", "q2=a"], ["--channel q2=", "no such channel", "q0"]),
    (table(**GOOD), ["--channel", "q0=c"], ["bad.csv", "'c'", "known: a, b, t"]),
    (table(**GOOD), ["--channel", "q0=a:kg"], ["--channel q0=a:kg", "cannot be converted"]),
    (table(**GOOD), ["--input", "torque_1=9"], ["torque_2", "or 0 where nothing acts"]),
    (table(**GOOD), ["--input", "torque_1=tau", "--input", "torque_2=0"], ["'tau'", "bad.csv"]),
    (
        table(t=STEPS / 10, a=10 * np.sin(STEPS / 10), b=10 * np.cos(STEPS / 10)),
        [],
        ["bad.csv", "'a'", "from -", "--channel q0=a:deg or --channel q0=a:rad"],
    ),
    (table(t=GOOD["t"], a=0 * STEPS + 1.0, b=0 * STEPS), [], ["bad.csv", "nothing moves"]),
    (table(**{k: v[:30] for k, v in GOOD.items()}), [], ["bad.csv", "record for longer"]),
    (table(**GOOD), ["--output", "mine.txt"], ["mine.txt", "mine.yaml"]),
    (table(**GOOD), ["--system", "double_pendulm"], ["double_pendulm", "--model"]),
    (table(**GOOD), ["--rate", "-5"], ["--rate -5", "above 0"]),
]


@pytest.mark.parametrize(("text", "arguments", "told"), BAD)
def test_what_cannot_be_guessed_is_said_with_its_remedy(
    tmp_path, monkeypatch, capsys, text, arguments, told
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(text)
    system = [] if "--system" in arguments else ["--system", "double_pendulum"]
    output = [] if "--output" in arguments else ["--output", "mine.yaml"]
    assert main(["new", "bad.csv", *system, *output, *arguments]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    for words in told:
        assert re.search(re.escape(words), error), (words, error)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv"]


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
