"""Tables in NetCDF files: each column a variable of one dimension, at the top of the file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pdsim.recordings.raw_file import check_columns, check_numbers_fit
from pdsim.runtime.errors import PdsimError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# What the libraries below raise of a file that is damaged, or no NetCDF file.
_BROKEN = (OSError, ValueError, TypeError, RuntimeError, KeyError, IndexError, AttributeError)
# Kinds of numpy's types that are no columns of numbers → what they hold.
_NO_NUMBERS = {"V": "records (a compound type)", "c": "complex numbers"}


@contextmanager
def _opened(path: Path) -> Iterator["xr.Dataset"]:
    """The file, from which nothing is read yet.

    Raises:
        PdsimError: it cannot be read, also later, within the context.
    """
    import xarray as xr

    try:
        # Stamps stay the numbers they are; their unit is in the config.
        with xr.open_dataset(path, decode_times=False, cache=False) as file:
            check_columns(path, len(file.variables))
            yield file
    except _BROKEN as error:
        raise PdsimError(f"{path}: not a readable NetCDF file ({_first_words(error)})") from None


def _first_words(error: Exception) -> str:
    """What another library says, without its hints and lines."""
    return " ".join(str(error).partition(". ")[0].split())


def variable_names(path: Path) -> list[str]:
    """Names of all variables at the top of a file.

    Raises:
        PdsimError: there is none.
    """
    with _opened(path) as file:
        names = [str(name) for name in file.variables]
    if not names:
        raise PdsimError(f"{path}: holds no variable at its top{_groups(path)}")
    return names


def _groups(path: Path) -> str:
    """The groups of a file, for a message; empty where it has none."""
    import netCDF4

    try:
        with netCDF4.Dataset(path) as file:
            groups = list(file.groups)
    except OSError:  # of another kind of NetCDF
        return ""
    listed = ", ".join(groups[:10])
    return f"; write the variables of a group ({listed}) without one" if groups else ""


def read_netcdf(path: Path, names: Sequence[str]) -> "pd.DataFrame":
    """Read variables, one column each.

    Raises:
        PdsimError: a variable cannot be a column, or they are not of one length.
    """
    import pandas as pd

    with _opened(path) as file:
        variables = {name: file.variables[name] for name in names}
        for name, variable in variables.items():
            if why := _no_column(name, variable):
                raise PdsimError(f"{path}: {why}")
        dimensions = {str(variable.dims[0]): name for name, variable in variables.items()}
        if len(dimensions) > 1:
            listed = ", ".join(f"{name} over {d}" for d, name in dimensions.items())
            raise PdsimError(f"{path}: columns must share one dimension, but here is {listed}")
        check_numbers_fit(path, max(v.size for v in variables.values()), len(variables))
        return pd.DataFrame({name: v.to_numpy() for name, v in variables.items()})


def sort_variables(path: Path) -> tuple[list[str], dict[str, str]]:
    """The variables that are columns of the longest dimension, and why each other is none."""
    with _opened(path) as file:
        why = {str(name): _no_column(str(name), v) for name, v in file.variables.items()}
        flat = {str(n): v for n, v in file.variables.items() if not why[str(n)]}
        rows = max((v.size for v in flat.values()), default=0)
        for name, variable in flat.items():
            if variable.size < rows:
                why[name] = f"variable {name!r} has {variable.size:,} of {rows:,} rows"
    return [name for name, reason in why.items() if not reason], {k: v for k, v in why.items() if v}


def _no_column(name: str, variable: "xr.Variable") -> str:
    """Why a variable cannot be a column; empty where it can."""
    if variable.ndim != 1:
        return (
            f"variable {name!r} has dimensions {variable.dims}, but a column has one; write each "
            "of its columns as a variable of its own"
        )
    what = _NO_NUMBERS.get(variable.dtype.kind)
    if what:
        return (
            f"variable {name!r} holds {what}, not real numbers; write each of their parts as a "
            "variable of its own"
        )
    return ""


def attributes(path: Path, names: Sequence[str]) -> dict[str, str]:
    """The attribute ``units`` of variables, where they have one that is text."""
    with _opened(path) as file:
        given = {name: file.variables[name].attrs.get("units") for name in names}
    return {name: text.strip() for name, text in given.items() if isinstance(text, str)}
