"""Paths that name no file that can be read: refused by every reader, before anything is opened."""

import os
import socket
from pathlib import Path

import pytest

from pdsim.recordings.columns import numeric_columns, read_columns
from pdsim.recordings.csv_table import CsvConfig
from pdsim.recordings.ibm import check_file
from pdsim.recordings.markers import read_pixels
from pdsim.recordings.raw_file import check_numbers_fit
from pdsim.recordings.simulated import read_log
from pdsim.runtime.errors import PdsimError
from pdsim.systems.double_pendulum import Options, build

# Reader → the end of its files' names, and how it is called.
READERS = {
    "columns": (".csv", lambda path: read_columns(path, ["a"], CsvConfig())),
    "every column": (".csv", lambda path: numeric_columns(path, CsvConfig())),
    "NetCDF": (".nc", lambda path: read_columns(path, ["a"], CsvConfig())),
    "Parquet": (".parquet", lambda path: numeric_columns(path, CsvConfig())),
    "pixels": (".csv", read_pixels),
    "log": (".csv", lambda path: read_log("0", path, build(Options()), 0.01)),
    "ibm": (".csv", lambda path: check_file(path, 0)),
}


def pipe(path):
    os.mkfifo(path)


def sock(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (pipe, "is a named pipe, not a regular file"),
        (sock, "is a socket, not a regular file"),
        (lambda path: path.mkdir(), "is a folder, not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device, not a regular file"),
        (lambda path: path.symlink_to("nowhere.csv"), "no such file"),
        (lambda path: path.write_bytes(b""), "is empty|SHA-256"),
    ],
    ids=["pipe", "socket", "folder", "device", "dangling", "nothing"],
)
def test_what_is_no_file_to_read_is_refused(tmp_path, monkeypatch, make, words, reader):
    suffix, read = READERS[reader]
    monkeypatch.chdir(tmp_path)
    path = Path(f"run{suffix}")  # sockets have short ones
    make(path)
    with pytest.raises(PdsimError, match=words) as error:
        read(str(path))
    assert str(path) in str(error.value)


@pytest.mark.parametrize("reader", ["columns", "every column", "pixels", "log"])
def test_a_text_larger_than_memory_is_not_read(tmp_path, reader):
    path = tmp_path / "run.csv"
    with path.open("wb") as file:
        file.truncate(10**13)  # takes no room on the disk
    with pytest.raises(PdsimError, match=r"run\.csv: has 1e\+04 GB; .*this machine has .* GB; cut"):
        READERS[reader][1](str(path))


def test_rows_beyond_memory_are_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr("pdsim.recordings.raw_file.physical_memory", lambda: 10**9)
    check_numbers_fit("run.nc", 10**6, 4)
    with pytest.raises(PdsimError, match=r"run\.nc: has 100,000,000 rows; .* every tenth row"):
        check_numbers_fit("run.nc", 10**8, 4)
    monkeypatch.setattr("pdsim.recordings.raw_file.physical_memory", lambda: None)
    check_numbers_fit("run.nc", 10**8, 4)
