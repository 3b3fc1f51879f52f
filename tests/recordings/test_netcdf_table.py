"""NetCDF files: units that they state, and variables that are no columns."""

import netCDF4
import numpy as np
import pytest
import xarray as xr
from recordings.tables import ANGLES, TIME, read, refused

from pdsim.recordings.columns import numeric_columns, other_columns
from pdsim.recordings.csv_table import CsvConfig

A, B = np.sin(3 * TIME), np.cos(5 * TIME)
PAIR = np.dtype([("x", float), ("y", float)])


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "run.nc")


def written(path, a="rad", t="s"):
    xr.Dataset(
        {"a": ("row", A, {"units": a}), "b": ("row", B), "t": ("row", TIME, {"units": t})}
    ).to_netcdf(path)


@pytest.mark.parametrize(
    "units", ["radian", "radians", "Rad", "1", "-", "", "furlong", "not a unit at all", "g"]
)
def test_units_that_agree_or_say_nothing_are_passed(path, units):
    written(path, units, "seconds since 2024-01-01 12:00")
    assert np.array_equal(read(path).observed[:, 0], A)


@pytest.mark.parametrize(
    ("units", "meant"), [("degree", "deg"), ("Degrees", "deg"), ("deg", "deg"), ("mm", "mm")]
)
def test_units_that_the_file_contradicts_are_refused(path, units, meant):
    written(path, units)
    words = ["recording.channels.q0.unit: rad", path, "'a'", f"'{units}'", f"unit: {meant},"]
    refused(path, words)


@pytest.mark.parametrize("units", ["milliseconds since 2024-01-01", "ms", "Milliseconds", "days"])
def test_so_are_units_of_time(path, units):
    written(path, t=units)
    refused(path, ["recording.time.unit: s", "'t'", units])


def test_stamps_and_durations_are_the_numbers_that_the_file_holds(path):
    import pandas as pd

    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(TIME, unit="s")
    xr.Dataset({"a": ("t", A), "b": ("t", B)}, {"t": stamps}).to_netcdf(path)
    refused(path, ["recording.time.unit: s", "seconds since"])
    assert read(path, time={"column": "t", "unit": "ms"}).frame_time == 0.002


def record(file):
    file.createVariable("a", file.createCompoundType(PAIR, "pair"), ("row",))[:] = np.zeros(
        400, PAIR
    )


def lists(file):
    variable = file.createVariable("a", file.createVLType(float, "list"), ("row",))
    for row in range(400):
        variable[row] = np.zeros(1 + row % 3)


def words(file):
    file.createVariable("a", str, ("row",))[:] = np.array(["lost"] * 400, object)


def table(file):
    file.createDimension("joint", 2)
    file.createVariable("a", float, ("row", "joint"))[:] = 0


def letters(file):
    file.createVariable("a", "S1", ("row",))[:] = np.array([b"x"] * 400)


def number(file):
    file.createVariable("a", float, ())[...] = 1


def unscaled(file):
    file.createVariable("a", float, ("row",))[:] = 0
    file["a"].scale_factor = "one"


@pytest.mark.parametrize(
    ("add", "told"),
    [
        (record, ["'a' holds records (a compound type)", "a variable of its own"]),
        (lists, ["'a' holds values of type ndarray"]),
        (words, ["'a' holds text", "'lost' in row 1"]),
        (table, ["'a' has dimensions ('row', 'joint')", "a variable of its own"]),
        (letters, ["'a' holds", "row 1"]),
        (number, ["'a' has dimensions ()"]),
    ],
)
def test_variables_that_are_no_columns(path, add, told):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("row", 400)
        for name, values in (("t", TIME), ("b", B)):
            file.createVariable(name, float, ("row",))[:] = values
        add(file)
    refused(path, [path, *told])
    assert list(numeric_columns(path, CsvConfig())) == ["t", "b"]
    assert set(other_columns(path, CsvConfig())) == {"a"}
    # Those beside it are read.
    channels = ANGLES | {
        "q0": ANGLES["q0"] | {"column": "b"},
        "q1": {"column": "b", "unit": "rad", "sign": -1},
    }
    assert np.array_equal(read(path, channels=channels).observed[:, 0], B)


@pytest.mark.parametrize("group", [True, False])
def test_a_file_with_nothing_at_its_top(path, group):
    with netCDF4.Dataset(path, "w") as file:
        if group:
            file.createGroup("arm").createDimension("row", 4)
    refused(path, ["holds no variable at its top"] + group * ["a group (arm)"])


def test_attributes_that_libraries_stumble_over(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("row", 400)
        for name, values in (("t", TIME), ("b", B)):
            file.createVariable(name, float, ("row",))[:] = values
        unscaled(file)
    refused(path, ["not a readable NetCDF file"])


def test_more_rows_than_memory_are_not_read(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("row", 10**11)
        for name in ("t", "a", "b"):
            file.createVariable(name, float, ("row",), chunksizes=(10**6,))
    refused(path, ["has 100,000,000,000 rows", "every tenth row"])
