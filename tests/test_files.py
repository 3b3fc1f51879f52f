import numpy as np
import pytest
import xarray as xr

from pdsim.errors import PdsimError
from pdsim.files import read_dataset, write_atomically, write_dataset


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")

    def write(temporary):
        temporary.write_text("half of the new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, write)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_same_data_same_bytes(tmp_path):
    data = xr.Dataset({"x": ("t", np.arange(5.0))}, attrs={"units": "m"})
    for name in ("a.nc", "b.nc"):
        write_dataset(tmp_path / name, data)
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()


def test_missing_and_broken_files_are_named(tmp_path):
    with pytest.raises(PdsimError, match="no such file"):
        read_dataset(tmp_path / "none.nc")
    (tmp_path / "half.nc").write_bytes(b"\x89HDF\r\n\x1a\n and then nothing")
    with pytest.raises(PdsimError, match=r"half\.nc: not a readable NetCDF"):
        read_dataset(tmp_path / "half.nc")
