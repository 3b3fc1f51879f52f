"""Raw files that a user names: there, regular, not empty, and small enough for this machine."""

from pathlib import Path

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular
from pdsim.runtime.memory import physical_memory

# A table with more columns takes minutes to read, and no robot has as many sensors.
MOST_COLUMNS = 10_000
# Memory that reading takes, over the size of a text file: the bytes, the text, and the numbers.
_OF_TEXT = 8
# Memory of a number, with the copies of it that later steps make [bytes].
_OF_NUMBER = 64


def check_there(path: str | Path, wanted: str = "a table") -> None:
    """Refuse a path before it is opened, unless it names a regular file with something in it.

    Args:
        wanted: the file that the caller needs, for the message.

    Raises:
        PdsimError: names the path and the remedy.
    """
    path = Path(path)
    check_regular(path, wanted)
    if not path.exists():
        target = f" (the link points to {path.readlink()})" if path.is_symlink() else ""
        raise PdsimError(
            f"{path}: no such file{target}; relative paths are looked for beside the experiment's "
            "file, below the folder PDSIM_DATA_DIR, and below data/"
        )
    # Files of /proc have no size, and some of them block whoever reads.
    if path.stat().st_size == 0:
        raise PdsimError(f"{path}: the file is empty; name {wanted} that holds numbers")
    try:
        path.open("rb").close()
    except OSError as error:
        raise PdsimError(f"{path}: cannot be read: {error.strerror}") from None


def check_text_fits(path: str | Path) -> None:
    """Refuse a text file that this machine has too little memory to read."""
    size = Path(path).stat().st_size
    _check_fits(path, f"has {size / 1e9:,.3g} GB", _OF_TEXT * size)


def check_numbers_fit(path: str | Path, rows: int, columns: int) -> None:
    """Refuse more columns, or rows of the columns that are used, than can be handled."""
    _check_fits(path, f"has {rows:,} rows", _OF_NUMBER * rows * columns)


def check_columns(path: str | Path, count: int) -> None:
    """Refuse a table of so many columns that reading would take minutes."""
    if count > MOST_COLUMNS:
        raise PdsimError(
            f"{path}: has {count:,} columns, and at most {MOST_COLUMNS:,} are read; write a table "
            "of those that the experiment uses"
        )


def _check_fits(path: str | Path, has: str, needed: int) -> None:
    memory = physical_memory()
    if memory is not None and needed > memory:
        raise PdsimError(
            f"{path}: {has}; to read it takes about {needed / 1e9:,.3g} GB of memory, and this "
            f"machine has {memory / 1e9:,.3g} GB; cut the file into shorter runs, keep only the "
            "columns that are used, or every tenth row"
        )
