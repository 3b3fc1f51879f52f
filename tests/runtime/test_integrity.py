"""Damage in a NetCDF file is found wherever it is."""

import random

import netCDF4
import numpy as np
import pytest
import xarray as xr

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.runtime.integrity import DIGEST


def group(seed, frames=50):
    rng = np.random.default_rng(seed)
    return xr.Dataset(
        {
            "observed": (("run", "time"), rng.normal(size=(3, frames)), {"units": "rad"}),
            "single": (("run", "time"), rng.normal(size=(3, frames)).astype(np.float32)),
            "gaps": ("time", np.where(np.arange(frames) < 5, np.nan, 1.0)),
            "works": ("run", [True, False, True]),
            "number": ((), 4.0),
            "nothing": (("run", "input"), np.zeros((3, 0))),
        },
        coords={"run": np.arange(3), "split": ("run", ["train", "test", "tëst"])},
        attrs={"frame_time": 0.01, "seed": 3, "sizes": [1, 2], "one": [5.0], "empty": ""},
    )


def test_a_file_comes_back_as_it_was_written(tmp_path):
    data = group(0)
    write_dataset(tmp_path / "a.nc", data)
    xr.testing.assert_equal(read_dataset(tmp_path / "a.nc"), data)
    tree = {"/": xr.Dataset(attrs={"run": "a"}), "/posterior": data, "/deep/er": group(1)}
    write_dataset(tmp_path / "b.nc", xr.DataTree.from_dict(tree))
    for name, one in tree.items():
        found = read_dataset(tmp_path / "b.nc", name)
        xr.testing.assert_equal(found, one)
        assert DIGEST not in found.attrs
    assert read_dataset(tmp_path / "b.nc").attrs == {"run": "a"}


def test_every_array_of_numbers_has_a_checksum(tmp_path):
    data = group(0)
    write_dataset(tmp_path / "a.nc", xr.DataTree.from_dict({"/": data, "/inner": group(1)}))
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        for place in (file, file["inner"]):
            for name, variable in place.variables.items():
                if variable.ndim and variable.size and variable.dtype is not str:
                    assert variable.filters()["fletcher32"], name


@pytest.mark.parametrize("length", [1, 64])
def test_no_flip_is_taken_for_what_was_written(tmp_path, length):
    """In numbers, text, attributes or the file's own tables: 100 places each."""
    data, path = group(0, 2000), tmp_path / "a.nc"
    write_dataset(path, data)
    whole, rng, told = path.read_bytes(), random.Random(1), 0
    for _ in range(100):
        damaged = bytearray(whole)
        first = rng.randrange(len(damaged) - length)
        for at in range(first, first + length):
            damaged[at] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        try:
            found = read_dataset(path)
        except PdsimError:
            told += 1
        else:
            # Some bytes hold nothing.
            assert found.identical(data.assign_attrs(one=5.0)), first
    assert told > 50


def test_what_is_damaged_is_named(tmp_path):
    path = tmp_path / "a.nc"
    write_dataset(path, group(0))
    with netCDF4.Dataset(path, "a") as file:
        file.frame_time = 0.02
    with pytest.raises(PdsimError, match=r"a\.nc: what it holds .* is not what pdsim wrote"):
        read_dataset(path)
    # So is what another program wrote.
    group(0).to_netcdf(tmp_path / "b.nc")
    with pytest.raises(PdsimError, match=r"another program changed it.*run the stage that makes"):
        read_dataset(tmp_path / "b.nc")
