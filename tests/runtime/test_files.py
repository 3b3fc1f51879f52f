import subprocess

import numpy as np
import pytest
import xarray as xr

from pdsim.cli.main import main
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import (
    fullest,
    is_full,
    read_dataset,
    write_atomically,
    write_dataset,
    write_folder_atomically,
    write_text,
)


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
    write_dataset(tmp_path / "whole.nc", xr.Dataset({"x": ("t", np.arange(5.0))}))
    other = r"whole\.nc: has no group 'posterior', so it is another kind of file \(it holds x\)"
    with pytest.raises(PdsimError, match=other):
        read_dataset(tmp_path / "whole.nc", "posterior")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a file system needs root")
    yield tmp_path
    # HDF5 keeps a file open whose last chunks it could not write.
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_a_full_disk_is_named_and_keeps_what_was_there(small_disk):
    path = small_disk / "result.nc"
    small = xr.Dataset({"x": ("t", np.arange(5.0))})
    write_dataset(path, small)
    large = xr.Dataset({"x": ("t", np.random.default_rng(0).normal(size=10**6))})
    for attempt in (
        lambda: write_dataset(path, large),
        lambda: write_text(path, "x" * 4 * 2**20),
    ):
        with pytest.raises(PdsimError, match="no space left to write it"):
            attempt()
        xr.testing.assert_identical(read_dataset(path), small)
    assert list(small_disk.iterdir()) == [path]


def test_what_a_killed_writer_left_is_cleared_away(tmp_path):
    (tmp_path / ".table.999999.partial.csv").write_text("half")
    (tmp_path / ".other.999999.partial.csv").write_text("half")
    write_text(tmp_path / "table.csv", "whole")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        ".other.999999.partial.csv",
        "table.csv",
    ]


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def record(root, capsys):
    def run(output):
        demo = str(root / "config/experiments/demo.yaml")
        code = main(["--quiet", "record", demo, "--output", str(output)])
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    "names",
    [["thesis.tex"], ["0.csv", "notes.txt"], ["truth.json", "0.csv", "mine/data.csv"], []],
    ids=["another's", "with another's", "with a folder", "empty"],
)
def test_a_folder_that_is_no_recording_is_left_alone(tmp_path, record, names):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"my {name}")
    before = contents(folder)
    code, error = record(folder)
    assert code == 2
    assert f"{folder}: there is something else already, which is not touched" in error
    assert "Traceback" not in error
    assert contents(folder) == before
    assert list(tmp_path.iterdir()) == [folder]


def test_a_file_or_a_link_is_left_alone(tmp_path, record):
    file, folder, link = tmp_path / "file", tmp_path / "folder", tmp_path / "link"
    file.write_text("mine")
    assert record(folder)[0] == 0
    link.symlink_to(folder)
    for path in (file, link):
        code, error = record(path)
        assert code == 2
        assert "there is something else already" in error
    assert file.read_text() == "mine"
    assert link.is_symlink()


def test_an_earlier_recording_is_replaced(tmp_path, record):
    folder = tmp_path / "deep/recording"
    assert record(folder) == (0, "")
    whole = contents(folder)
    assert {str(name) for name in whole} == {"truth.json", *(f"{i}.csv" for i in range(6))}
    (folder / "0.csv").write_text("an older one")
    (folder / "17.csv").write_text("of a longer one")
    assert record(folder) == (0, "")
    assert contents(folder) == whole
    assert list(folder.parent.iterdir()) == [folder]


def test_a_recording_that_fails_leaves_the_earlier_one(tmp_path):
    folder = tmp_path / "recording"
    write_folder_atomically(folder, lambda new: (new / "a").write_text("old"), lambda _: True)

    def fail(new):
        (new / "a").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_folder_atomically(folder, fail, lambda _: True)
    assert contents(tmp_path) == {(folder / "a").relative_to(tmp_path): b"old"}
    assert list(tmp_path.iterdir()) == [folder]


def test_the_fullest_disk_is_found_also_for_folders_that_are_not_there(
    small_disk, tmp_path_factory
):
    large, small = tmp_path_factory.mktemp("large"), small_disk / "not/there"
    folder, free = fullest([large, small])
    assert folder == small
    assert free <= 2 * 2**20
    assert not is_full(free)
    (small_disk / "all").write_bytes(bytes(3 * 2**19))
    assert is_full(fullest([large, small])[1])
