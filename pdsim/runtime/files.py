"""Writing and reading files so that a half-written one is never taken for a whole one."""

import contextlib
import errno
import glob
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import netCDF4
import xarray as xr

from pdsim.runtime import integrity
from pdsim.runtime.errors import PdsimError

# Where raw data and models are looked for beside what names them.
FOLDER_VARIABLE = "PDSIM_DATA_DIR"
DEFAULT_FOLDER = "data"

_FULL = (errno.ENOSPC, errno.EDQUOT)
# A file where a folder should be, or the reverse, folders that cannot be written in, and names
# that cannot be given.
_IN_THE_WAY = (
    errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip
# Groups and variables that a message lists, at most.
_LISTED = 6
# A disk with less free space than this is full [bytes].
_RESERVE = 2**20


def expanded(path: str | Path) -> Path:
    """The path with ``~`` and ``~name`` replaced by the home folder.

    Raises:
        PdsimError: there is no such home.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise PdsimError(
            f"{path}: {Path(path).parts[0]} is nobody's home folder here; write the whole path, or "
            "./ before a name that begins with ~"
        ) from None


def find_file(path: str | Path, folder: str | Path) -> Path:
    """Where a file is that another one names.

    A relative path is looked for beside the file that names it, then below the folder that the
    environment names as ``PDSIM_DATA_DIR``, then below ``data``; one that is nowhere is expected in
    the first place.

    Args:
        folder: of the file that names it.

    Raises:
        PdsimError: the environment names a folder that is not there, and the file is nowhere.
    """
    folders = [folder, os.environ.get(FOLDER_VARIABLE) or "", DEFAULT_FOLDER]
    candidates = [expanded(place) / expanded(path) for place in folders if str(place)]
    found = next((c for c in candidates if c.exists()), None)
    named = os.environ.get(FOLDER_VARIABLE)
    if found is None and named and not (expanded(named).is_dir() or expanded(path).is_absolute()):
        raise PdsimError(
            f"{FOLDER_VARIABLE}={named!r}: no such folder, and {path} is not beside the file that "
            "names it either; name the folder of your recordings, or unset the variable"
        )
    return found or candidates[0]


# What a path can name beside a regular file: test of its mode → what it is called.
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check_regular(path: str | Path, wanted: str) -> None:
    """Refuse a path that names something other than a regular file, before it is opened.

    A read of a pipe blocks until somebody writes, and a device such as ``/dev/zero`` never ends.
    A path where nothing is passes: whoever opens it says what was expected there.

    Args:
        wanted: the file that the caller needs, as ``a table`` or ``a posterior.nc``.

    Raises:
        PdsimError: names the path, what it is and what is wanted.
    """
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            raise PdsimError(f"{path}: is {kind}, not a regular file; name {wanted}")


def check_output(path: str | Path) -> None:
    """Make the folder of a file that a long job will write, or refuse before it begins.

    Raises:
        PdsimError: no file can be written there.
    """
    path = Path(path)
    check_regular(path, "a file to write")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _blocked(path, error) from error
    if not os.access(path.parent, os.W_OK):
        raise PdsimError(f"{path.parent}: cannot be written in; name another output")


def checkpoint_of(output: str | Path) -> Path:
    """Where a job keeps its state until the output is written: a file for each output.

    Raises:
        PdsimError: something that is no file is in its place.
    """
    path = Path(output).with_suffix(".checkpoint.npz")
    check_regular(path, "another output, or move it away: the checkpoint goes there")
    return path


def _blocked(path: Path, error: OSError) -> PdsimError:
    return PdsimError(
        f"{path}: cannot be written: {error.strerror}; name another output, or clear what is there"
    )


def write_atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` on a temporary name beside ``path``, flush it to disk, then rename it.

    The temporary name keeps the suffix, since writers choose the format by it. Temporary files
    that killed processes left for this path are removed.

    Raises:
        PdsimError: the disk is full, or a quota used up, or something is in the way; what was at
            ``path`` is still there.
    """
    path = Path(path)
    # The new file would take the place of a device.
    check_regular(path, "another output")
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for stale in path.parent.glob(f".{glob.escape(path.stem)}.*.partial{path.suffix}"):
            stale.unlink(missing_ok=True)
        write(temporary)
        _flush(temporary)
        temporary.replace(path)
        # The new name itself must survive a node that goes down.
        _flush(path.parent)
    except (OSError, RuntimeError) as error:
        # netCDF4 tells of a full disk by a RuntimeError that does not say so.
        number, name = (error.errno, error.filename) if isinstance(error, OSError) else (None, None)
        # No name can be given in some folders of the system.
        nowhere = number == errno.ENOENT and name == str(temporary)
        if isinstance(error, OSError) and (number in _IN_THE_WAY or nowhere):
            raise _blocked(path, error) from error
        if number in _FULL or is_full(shutil.disk_usage(path.parent).free):
            raise PdsimError(
                f"{path}: no space left to write it ({error}); free some and run again: what was "
                "finished before is kept"
            ) from error
        raise
    finally:
        with contextlib.suppress(NotADirectoryError):
            temporary.unlink(missing_ok=True)


# What the system and pdsim say where nothing more can be written.
_FULL_WORDS = ("no space left", "disk quota exceeded")


def says_full(text: str) -> bool:
    """Whether a message says that a disk is full, or a quota used up."""
    return any(words in text.lower() for words in _FULL_WORDS)


def fullest(folders: Iterable[Path]) -> tuple[Path, int]:
    """The folder whose disk has the least free space, and how much that is [bytes].

    Folders that are not there yet are looked for further up.
    """
    found = []
    for folder in folders:
        place = next(place for place in (folder, *folder.parents) if place.exists())
        found.append((shutil.disk_usage(place).free, folder))
    free, folder = min(found)
    return folder, free


def is_full(free: int) -> bool:
    """Whether a disk with so much free space [bytes] is full."""
    return free < _RESERVE


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_folder_atomically(
    path: str | Path, write: Callable[[Path], object], own: Callable[[Path], bool]
) -> None:
    """Call ``write`` on a new folder, then rename it to ``path``.

    Args:
        own: whether an existing folder holds what such a call wrote and nothing else; only then is
            it replaced.

    Raises:
        PdsimError: there is something else at ``path``, which stays as it is.
    """
    path = Path(path)
    if path.is_symlink() or (path.exists() and not (path.is_dir() and own(path))):
        raise PdsimError(
            f"{path}: there is something else already, which is not touched; name another folder"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        place = tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _blocked(path, error) from error
    with place as scratch:
        temporary = Path(scratch) / path.name
        temporary.mkdir()
        write(temporary)
        if path.exists():
            # Moved beside first: what stands there goes only once the new one is whole.
            path.rename(Path(scratch) / "before")
        temporary.replace(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically."""
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_text(path: str | Path) -> str:
    """Read a text file, or say which is missing."""
    check_regular(path, "a text file")
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PdsimError(f"{path}: cannot be read: {error}") from error


def write_dataset(path: str | Path, data: xr.Dataset | xr.DataTree) -> None:
    """Write a NetCDF file atomically, with checksums (``pdsim.runtime.integrity``)."""
    if isinstance(data, xr.Dataset):
        whole, encoding = integrity.sealed(data), integrity.encoding(data)
        write_atomically(path, lambda t: whole.to_netcdf(t, engine="netcdf4", encoding=encoding))
        return
    groups = {node.path: node.to_dataset(inherit=False) for node in data.subtree}
    tree = xr.DataTree.from_dict({name: integrity.sealed(one) for name, one in groups.items()})
    encodings = {name: integrity.encoding(one) for name, one in groups.items()}
    write_atomically(path, lambda t: tree.to_netcdf(t, engine="netcdf4", encoding=encodings))


def read_dataset(path: str | Path, group: str | None = None) -> xr.Dataset:
    """Read one group of a NetCDF file into memory, or say which file is missing or broken."""
    check_regular(path, "a NetCDF file")
    if not Path(path).is_file():
        raise PdsimError(f"{path}: no such file; run the stage that makes it first")
    try:
        _check_group(path, group)
        with xr.open_dataset(path, group=group, engine="netcdf4") as file:
            data = file.load()
    except (MemoryError, PdsimError):
        raise
    except Exception as error:  # A damaged file may raise anything.
        raise PdsimError(
            f"{path}: not a readable NetCDF file: {error}; name another file, or run the stage "
            "that makes it again"
        ) from error
    if not integrity.is_whole(data):
        raise PdsimError(
            f"{path}: what it holds (group {group or '/'}) is not what pdsim wrote: it is damaged, "
            "another program changed it, or an earlier pdsim made it; run the stage that makes it "
            "again"
        )
    data.attrs.pop(integrity.DIGEST, None)
    return data


def _check_group(path: str | Path, group: str | None) -> None:
    """Refuse a file without a group, which is whole but of another kind."""
    if group in (None, "/"):
        return
    with netCDF4.Dataset(path) as file:
        try:
            file[group]
        except IndexError:
            held = ", ".join([*file.groups, *file.variables][:_LISTED]) or "nothing"
            raise PdsimError(
                f"{path}: has no group {group!r}, so it is another kind of file (it holds {held}); "
                "name the file of a stage that writes this group"
            ) from None


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits, or say which cannot be read."""
    check_regular(path, "a file")
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PdsimError(f"{path}: cannot be read: {error.strerror}") from None
