import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from recordings.tables import ANGLES, DRIVEN, FREE, TIME, config, invalid, read, refused

from pdsim.recordings import table
from pdsim.recordings.cut import cut
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import sha256

A, B = 4 * np.sin(3 * TIME) + 0.3, 2 * np.cos(5 * TIME)


@pytest.fixture
def write(tmp_path):
    """Write a CSV file of columns and return its path."""

    def written(name="run.csv", delimiter=",", **columns):
        rows = zip(*columns.values(), strict=True)
        lines = [delimiter.join(columns), *(delimiter.join(str(x) for x in row) for row in rows)]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    return written


def wrapped(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


# What is read


def test_a_known_signal_comes_back(write):
    path = write(t=TIME, a=A, b=B)
    recording = read(path, truth={"mass_1": 0.6})
    assert recording.frame_time == 0.002
    assert np.array_equal(recording.observed[:, :2], np.stack([A, B], axis=1))
    assert np.isnan(recording.observed[:, 2:]).all() and np.isnan(recording.states).all()
    assert recording.input.shape == (400, 0)
    assert (recording.run, recording.source, recording.sha256) == ("run", path, sha256(path))
    assert recording.truth == {"mass_1": 0.6}


def test_wrapped_degrees_offset_and_sign(write):
    """Link 1 reads 180° hanging and grows clockwise; both columns jump at ±180°."""
    degrees = np.rad2deg(wrapped(np.deg2rad(180 - np.rad2deg(A))))
    path = write(t=TIME, a=degrees, b=np.rad2deg(wrapped(B)) % 360)
    channels = {
        "q0": {"column": "a", "unit": "deg", "offset": -180, "sign": -1},
        "q1": {"column": "b", "unit": "deg"},
    }
    observed = read(path, channels=channels).observed[:, :2]
    error = observed - np.stack([A, B], axis=1)
    turns = np.round(error / (2 * np.pi))
    assert (turns == turns[0]).all()
    assert np.abs(error - 2 * np.pi * turns).max() < 1e-12


def test_turns_are_counted_past_missing_rows(write):
    angle = np.where((TIME > 0.2) & (TIME < 0.22), -1.0, wrapped(9 * TIME))
    path = write(t=TIME, a=angle, b=B)
    observed = read(path, missing=[-1]).observed
    seen = np.isfinite(observed[:, 0])
    assert (~seen).sum() == 9
    assert observed[seen, 0] == pytest.approx(9 * TIME[seen], abs=1e-12)
    assert np.isfinite(observed[:, 1]).all()


def test_only_angles_are_unwrapped_and_a_key_overrules_the_kind(write):
    saw = np.where(np.arange(400) % 50 < 25, 4.0, -4.0)
    path = write(t=TIME, a=saw, b=B, v=saw)
    channels = ANGLES | {"dq0": {"column": "v", "unit": "rad/s"}}
    observed = read(path, channels=channels).observed
    assert np.array_equal(observed[:, 2], saw) and np.ptp(observed[:, 0]) != 8
    channels["q0"] = {"column": "a", "unit": "rad", "angle": False}
    assert np.array_equal(read(path, channels=channels).observed[:, 0], saw)


def test_absolute_angles_become_relative_and_back(write):
    path = write(t=TIME, a=wrapped(A), b=wrapped(A + B), c=B)
    channels = {
        "q0": {"column": "a", "unit": "rad"},
        "q1": {"column": "b", "unit": "rad", "minus": "q0"},
    }
    shown = read(path, channels=channels).observed
    assert shown[:, 0] == pytest.approx(A, abs=1e-12)
    assert wrapped(shown[:, 1] - B) == pytest.approx(np.zeros(400), abs=1e-12)
    channels["q1"] = {"column": "c", "unit": "rad", "plus": "q0"}
    assert read(path, channels=channels).observed[:, 1] == pytest.approx(A + B, abs=1e-12)


def test_references_follow_a_chain(write):
    """What is taken off is the column of the one before; what is added is finished."""
    columns = {"a": A, "b": B, "c": A * B}
    path = write(t=TIME, **columns)
    names = {"q0": "a", "q1": "b", "dq0": "c"}
    units = {"q0": "rad", "q1": "rad", "dq0": "rad/s"}
    for key, third in (("minus", A * B - B), ("plus", A * B + B + A)):
        channels = {n: {"column": c, "unit": units[n]} for n, c in names.items()}
        channels["q1"][key], channels["dq0"][key] = "q0", "q1"
        assert read(path, channels=channels).observed[:, 2] == pytest.approx(third, abs=1e-12)


def test_inputs_in_other_units_and_constants(write):
    path = write(t=TIME, a=A, b=B, m=1000 * B, v=60 * A)
    recording = read(
        path,
        DRIVEN,
        channels=ANGLES | {"dq0": {"column": "v", "unit": "rpm"}},
        inputs={
            "torque_1": {"column": "m", "unit": "mN m", "sign": -1},
            "torque_2": {"constant": 0, "unit": "N m"},
        },
    )
    assert recording.input[:, 0] == pytest.approx(-B, abs=1e-12)
    assert (recording.input[:, 1] == 0).all()
    assert recording.observed[:, 2] == pytest.approx(2 * np.pi * A, abs=1e-12)


@pytest.mark.parametrize(("unit", "scale"), [("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_stamps_in_other_units_from_any_origin(write, unit, scale):
    stamps = [round(scale * x) + 10**12 for x in TIME]
    path = write(t=stamps, a=A, b=B)
    assert read(path, time={"column": "t", "unit": unit}).frame_time == 0.002


def test_a_rate_stands_for_stamps(write):
    assert read(write(a=A, b=B), time=None, rate_hz=500).frame_time == 1 / 500


def test_missing_rows_of_a_clock_are_not_observed(write):
    kept = np.delete(np.arange(400), [7, 100, 101])
    rows = np.sort(np.append(kept, [50, 51]))
    late = TIME[rows] + np.random.default_rng(0).uniform(0, 5e-4, len(rows)).cumsum()
    path = write(t=late, k=rows * 2, a=A[rows], b=B[rows], u=A[rows])
    for ways in (
        {"clock": {"column": "k", "unit": "ms"}},
        {"time": {"column": "k", "unit": "ms"}, "drop_repeats": True},
        {"time": {"column": "t", "unit": "ms"}, "clock": "k"},
    ):
        inputs = {n: {"column": "u", "unit": "N m"} for n in ("torque_1", "torque_2")}
        recording = read(path, DRIVEN, inputs=inputs, **ways)
        seen = np.isfinite(recording.observed[:, 0])
        assert recording.frame_time == 0.002
        assert np.array_equal(np.flatnonzero(~seen), [7, 100, 101])
        assert np.array_equal(recording.observed[seen, 0], A[kept])
        assert np.array_equal(recording.input[[6, 7, 99, 101], 0], A[[6, 6, 99, 99]])


def test_what_is_read_can_be_cut(write):
    path = write(t=TIME, a=A, b=B)
    settings = config(path)
    window = cut(
        table.read(settings, "run", path, FREE),
        *(50, 350, FREE, settings.smoothing.build()),
        derive_velocities=settings.derives_velocities,
        measured_states=settings.measured_states,
    )
    assert window.states[:, 2] == pytest.approx(12 * np.cos(3 * TIME[50:350]), abs=1e-3)


# Files


def test_delimiters_comments_and_names(tmp_path):
    rows = np.stack([TIME, A, B], axis=1)
    for name, options, csv in (
        ("tab.csv", {"delimiter": "\t", "header": "t\ta\tb", "comments": ""}, {}),
        ("spaces.txt", {"header": "t a b"}, {}),
        ("semicolon.csv", {"delimiter": "; ", "header": "logged by me\nt; a; b"}, {}),
        ("quoted.csv", {"delimiter": ",", "header": '"t", "a","b"', "comments": ""}, {}),
        ("trailing.csv", {"delimiter": ",", "header": "t,a,b", "newline": ",\n"}, {}),
        ("bar.csv", {"delimiter": "|", "header": "t|a|b"}, {"delimiter": "|"}),
    ):
        np.savetxt(tmp_path / name, rows, fmt="%.17g", **options)
        observed = read(str(tmp_path / name), csv=csv).observed[:, :2]
        assert np.array_equal(observed, rows[:, 1:]), name


def test_a_table_without_names_and_one_with_decimal_commas(tmp_path):
    path = tmp_path / "run.csv"
    np.savetxt(path, np.stack([A, B], axis=1), fmt="%.17g", delimiter=",")
    channels = {"q0": {"column": 0, "unit": "rad"}, "q1": {"column": 1, "unit": "rad"}}
    settings = {"channels": channels, "time": None, "rate_hz": 500}
    refused(str(path), ["holds numbers", "csv: {header: false}"], **settings)
    observed = read(str(path), csv={"header": False}, **settings).observed
    assert np.array_equal(observed[:, 0], A)
    text = path.read_text().replace(",", ";").replace(".", ",")
    path.write_text("a;b\n" + text)
    refused(str(path), ["text", 'decimal: ","'], time=None, rate_hz=500)
    observed = read(str(path), csv={"decimal": ","}, time=None, rate_hz=500).observed
    assert observed[:, 1] == pytest.approx(B, abs=1e-14)


def test_netcdf(tmp_path):
    import xarray as xr

    path = tmp_path / "run.nc"
    columns = {"a": ("row", A), "b": ("row", B), "wide": (("row", "axis"), np.zeros((400, 3)))}
    stamps = {"t": ("row", TIME, {"units": "seconds since 2024-01-01"})}
    xr.Dataset(columns | {"short": ("other", B[:30])}, stamps).to_netcdf(path)
    assert np.array_equal(read(str(path)).observed[:, 0], A)
    wide = ANGLES | {"q0": {"column": "wide", "unit": "rad"}}
    refused(str(path), ["'wide'", "('row', 'axis')"], channels=wide)
    short = ANGLES | {"q0": {"column": "short", "unit": "rad"}}
    refused(str(path), ["one dimension", "short over other"], channels=short)
    path.write_bytes(path.read_bytes()[:200])
    refused(str(path), ["not a readable NetCDF"])


def test_parquet_or_what_it_needs(tmp_path, monkeypatch):
    """Without pyarrow, which only users of Parquet need: what pdsim asks of it is imitated."""
    import pandas as pd

    path = tmp_path / "run.parquet"
    path.write_bytes(b"PAR1 and so on")
    frame = pd.DataFrame({"t": TIME, "a": A, "b": B, "other": A})
    shape = SimpleNamespace(num_columns=4, num_rows=400)
    imitated = SimpleNamespace(
        read_metadata=lambda path: shape, read_schema=lambda path: SimpleNamespace(names=[*frame])
    )
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(parquet=imitated))
    monkeypatch.setattr(pd, "read_parquet", lambda path, columns: frame[columns])
    assert np.array_equal(read(str(path)).observed[:, 0], A)
    shape.num_rows = 10**11
    refused(str(path), ["has 100,000,000,000 rows", "this machine has", "every tenth row"])
    shape.num_columns = 10**5
    refused(str(path), ["has 100,000 columns, and at most 10,000 are read"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(str(path), ["pip install pyarrow", "CSV"])


# What is refused


def test_time_must_be_told_once():
    invalid(["time is given twice"], rate_hz=500)
    invalid(["needs time"], time=None)
    invalid(["less than or equal to 1000000"], time=None, rate_hz=1e12)
    invalid(["exclude each other"], clock="k", drop_repeats=True)
    invalid(["add time"], time=None, rate_hz=500, drop_repeats=True)
    invalid(["'rad' cannot be converted to 's'", "ms"], time={"column": "t", "unit": "rad"})


def test_channels_that_contradict_themselves():
    q1 = ANGLES["q1"]
    invalid(["minus and plus"], channels=ANGLES | {"q1": q1 | {"minus": "q0", "plus": "q0"}})
    invalid(["'q9' is not among"], channels=ANGLES | {"q1": q1 | {"minus": "q9"}})
    invalid(["itself"], channels=ANGLES | {"q1": q1 | {"minus": "q1"}})
    circle = {"q0": ANGLES["q0"] | {"plus": "q1"}, "q1": q1 | {"plus": "q0"}}
    invalid(["circle"], channels=circle)
    invalid(["either column or constant"], inputs={"u": {"unit": "N"}})
    invalid(["'furlong' is not known"], channels={"q0": {"column": "a", "unit": "furlong"}})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"channels": ANGLES | {"qq1": ANGLES["q1"]}}, ["channels.qq1", "did you mean"]),
        (
            {"channels": ANGLES | {"q1": {"column": "b", "unit": "mm"}}},
            ["recording.channels.q1.unit", "'mm'", "rad, mrad, deg"],
        ),
        ({"channels": {"q0": ANGLES["q0"]}}, ["recording.channels.q1", "smoothing needs"]),
        ({"states": "channels"}, ["recording.channels.dq0", "states: channels"]),
        ({"inputs": {}}, ["recording.inputs.torque_1", "constant: 0"]),
        ({"truth": {"mas_1": 1.0}}, ["recording.truth.mas_1", "'mass_1'"]),
        (
            {
                "channels": ANGLES | {"dq0": {"column": "a", "unit": "rad/s"}},
                "derive_velocities": True,
            },
            ["recording.derive_velocities", "dq0"],
        ),
    ],
)
def test_what_does_not_fit_the_system(changes, words):
    inputs = {n: {"column": "u", "unit": "N m"} for n in ("torque_1", "torque_2")}
    with pytest.raises(PdsimError) as error:
        table.check(config("run.csv", **({"inputs": inputs} | changes)), DRIVEN)
    for word in words:
        assert word in str(error.value)


def test_inputs_of_a_system_that_has_none():
    settings = config("run.csv", inputs={"torque_1": {"constant": 0, "unit": "N m"}})
    with pytest.raises(PdsimError, match="has none"):
        table.check(settings, FREE)


def test_files_that_are_no_tables(tmp_path):
    path = tmp_path / "run.csv"
    refused(str(tmp_path), ["is a folder"])
    refused(str(path), ["no such file", "PDSIM_DATA_DIR"])
    for content, words in (
        (b"", ["is empty"]),
        (b"# a comment\n\n", ["holds no table"]),
        (b"t,a,b\n", ["no row below"]),
        (b"\x89PNG\r\n\x1a\n\0\0\0", ["binary", "CSV"]),
        ("t,a,b,\u00b0\n1,2,3,4\n".encode("latin-1"), ["0xb0 in line 1", "encoding: latin-1"]),
        ("t,a,b\n1,2,3\n".encode("utf-16"), ["UTF-16"]),
        (b"t,a,b\n1,2,3\n1,2,3,4\n", ["row 2 has 4 cells", "3 columns"]),
        (b"t,a,b\n" + b"1,2,3,4\n" * 30, ["row 1 has 4 cells"]),
        (b"t,a,a,b\n1,2,3,4\n", ["2 columns are called 'a'"]),
        (b"t,a\n1,2\n", ["no column 'b'", "there are: t, a"]),
        (b"t,a,b\n0,0,0\n1,1,1\n", ["2 rows", "20 or more"]),
    ):
        path.write_bytes(content)
        refused(str(path), [str(path), *words])
    path.write_text("\ufeff" + "t,a,b,\u00b0\n" + "0,0,0,0\n" * 30, encoding="utf-8")
    refused(str(path), ["all 30 rows have the same time"])
    path.write_bytes("t,a,b,\u00b0\n".encode("latin-1") + b"0,0,0,0\n" * 30)
    refused(str(path), ["same time"], csv={"encoding": "latin-1"})
    refused(str(path), ["recording.csv.encoding"], csv={"encoding": "klingon"})


def test_cells_that_are_no_measurements(write):
    a = [*A[:100], "lost", *A[101:]]
    refused(write(t=TIME, a=a, b=B), ["'a'", "1 of 400 rows (0.25 %)", "'lost' in row 101"])
    refused(write(t=TIME, a=[*A[:399], "inf"], b=B), ["infinite in 1 of 400", "row 400"])
    refused(write(t=TIME, a=[*A[:399], "1e300"], b=B), ["beyond", "1e+300 rad", "row 400"])
    refused(write(t=["", *TIME[1:]], a=A, b=B), ["no time in 1 of 400", "row 1"])
    refused(write(t=TIME, a=[""] * 400, b=B), ["channel q0", "no number"])
    inputs = {n: {"column": "u", "unit": "N m"} for n in ("torque_1", "torque_2")}
    path = write(t=TIME, a=A, b=B, u=[*A[:9], "", *A[10:]])
    refused(path, ["torque_1", "1 of 400", "row 10"], system=DRIVEN, inputs=inputs)


def test_a_row_that_is_commented_out_does_not_close_up(write):
    path = write(t=TIME, a=A, b=B)
    text = Path(path).read_text().split("\n")
    text[100] = "#" + text[100]
    Path(path).write_text("\n".join(text))
    refused(path, ["'t'", "text", "row 100"])


def test_suspicious_columns_are_told(write, caplog):
    with caplog.at_level(logging.WARNING):
        read(write(t=TIME, a=A, b=B))
        assert caplog.text == ""
        read(write(t=TIME, a=np.ones(400), b=B))
        assert "all rows hold 1" in caplog.text
        lost = np.where(np.arange(400) % 50 < 3, 9999, B)
        read(write(t=TIME, a=A, b=lost))
        assert "the number 9999, far" in caplog.text and "in 24 of 400 rows" in caplog.text
        assert "missing: [9999]" in caplog.text
        caplog.clear()
        read(write(t=TIME, a=A, b=lost), missing=[9999])
        read(
            write(t=TIME, a=A, b=lost), channels=ANGLES | {"q1": ANGLES["q1"] | {"missing": [9999]}}
        )
        assert caplog.text == ""
