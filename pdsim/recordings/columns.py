"""Named columns of numbers out of CSV, Parquet and NetCDF files, or a message that names the cell.

Rows are counted from 1, the first below the header.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pdsim.recordings.csv_table import CsvConfig, is_number, read_csv
from pdsim.recordings.netcdf_table import (
    attributes,
    read_netcdf,
    sort_variables,
    variable_names,
)
from pdsim.recordings.raw_file import check_columns, check_numbers_fit, check_there
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import close_name

if TYPE_CHECKING:
    import pandas as pd

_PARQUET = (".parquet", ".pq")
_NETCDF = (".nc", ".nc4", ".netcdf", ".cdf")
# A message shows no more names of columns than this.
_SHOWN = 40
# Kinds of numpy's types that are no real numbers → what they hold.
_KINDS = {"b": "truth values", "c": "complex numbers", "M": "dates", "m": "durations"}


def read_columns(path: str | Path, names: list[str], csv: CsvConfig) -> dict[str, np.ndarray]:
    """Read columns of a table as float64, NaN where a cell is empty.

    Args:
        names: of the columns, in the file's spelling.

    Returns:
        name → (row,).

    Raises:
        PdsimError: the file, a column or a cell cannot be used; the message says which and why.
    """
    path = Path(path)
    check_there(path)
    try:
        if _is_netcdf(path):
            _check_names(path, names, variable_names(path))
            table = read_netcdf(path, names)
        else:
            table = _read(path, csv, names)
            _check_names(path, names, [str(name) for name in table.columns])
        return {name: _numbers(path, name, table[name]) for name in names}
    except MemoryError:
        raise _too_large(path) from None


def units_in_file(path: str | Path, names: Sequence[str]) -> dict[str, str]:
    """The units that a file states of columns, as it spells them; those of NetCDF files do."""
    return attributes(Path(path), names) if _is_netcdf(Path(path)) else {}


def numeric_columns(path: str | Path, csv: CsvConfig) -> dict[str, np.ndarray]:
    """Read every column of a table that holds numbers, in its order, as ``read_columns`` does.

    Left out are columns of text, empty ones and those that share a name: ``other_columns``.

    Raises:
        PdsimError: the file is no table.
    """
    return {name: x for name, x in _every_column(Path(path), csv) if not isinstance(x, str)}


def other_columns(path: str | Path, csv: CsvConfig) -> dict[str, str]:
    """Why columns are none of numbers, by name."""
    return {name: x for name, x in _every_column(Path(path), csv) if isinstance(x, str)}


def _every_column(path: Path, csv: CsvConfig) -> list[tuple[str, np.ndarray | str]]:
    """Each column's name, and its numbers or why there are none."""
    check_there(path)
    found: list[tuple[str, np.ndarray | str]] = []
    try:
        if _is_netcdf(path):
            variable_names(path)
            flat, why = sort_variables(path)
            found += why.items()
            table = read_netcdf(path, flat)
        else:
            table = _read(path, csv)
    except MemoryError:
        raise _too_large(path) from None
    counts = Counter(map(str, table.columns))
    for key in table.columns:
        name = str(key)
        if counts[name] > 1:
            found.append((name, f"{counts[name]} columns are called {name!r}"))
            continue
        try:
            values = _numbers(path, name, table[key])
        except PdsimError as error:
            found.append((name, str(error).removeprefix(f"{path}: ")))
            continue
        found.append((name, values if np.isfinite(values).any() else f"column {name!r} is empty"))
    return found


def _is_netcdf(path: Path) -> bool:
    return path.suffix.lower() in _NETCDF


def _too_large(path: Path) -> PdsimError:
    return PdsimError(
        f"{path}: this machine has too little memory to read it; cut the file into shorter runs, "
        "keep only the columns that are used, or every tenth row"
    )


def _read(path: Path, csv: CsvConfig, names: Sequence[str] | None = None) -> "pd.DataFrame":
    """Read a table that is no NetCDF file; all columns, or in Parquet those that are named."""
    return _read_parquet(path, names) if path.suffix.lower() in _PARQUET else read_csv(path, csv)


def _check_names(path: Path, names: list[str], there: list[str]) -> None:
    counts = Counter(there)
    for name in names:
        if name not in counts:
            shown = ", ".join(there[:_SHOWN]) + (", …" if len(there) > _SHOWN else "")
            hint = close_name(name, there)
            guess = hint if hint.startswith("; did") else ""
            raise PdsimError(f"{path}: no column {name!r}{guess}; there are: {shown}")
        if counts[name] > 1:
            raise PdsimError(
                f"{path}: {counts[name]} columns are called {name!r}; rename one of them"
            )


def _read_parquet(path: Path, names: Sequence[str] | None) -> "pd.DataFrame":
    import pandas as pd

    try:
        from pyarrow import parquet

        shape = parquet.read_metadata(path)
        check_columns(path, shape.num_columns)
        there = parquet.read_schema(path).names
        wanted = there if names is None or not set(names) <= set(there) else list(names)
        check_numbers_fit(path, shape.num_rows, len(wanted))
        table = pd.read_parquet(path, columns=wanted)
        # pandas keeps a column that was the index when it wrote as an index.
        return table.reset_index() if table.index.name else table
    except ImportError:
        raise PdsimError(
            f"{path}: reading Parquet needs pyarrow: `pip install pyarrow`, or save the table as "
            "CSV"
        ) from None
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: not a readable Parquet file: {error}") from None


def _numbers(path: Path, name: str, cells: "pd.Series[Any]") -> np.ndarray:
    import pandas as pd

    kind = _KINDS.get(cells.dtype.kind)
    if kind:
        raise PdsimError(f"{path}: column {name!r} holds {kind}, not real numbers")
    cells = cells.reset_index(drop=True)
    numbers = pd.to_numeric(cells, errors="coerce")
    text = np.flatnonzero((numbers.isna() & cells.notna()).to_numpy())
    if len(text):
        first = cells[int(text[0])]
        cell = str(first)[:40]
        what = "text" if isinstance(first, str) else f"values of type {type(first).__name__}"
        remedy = ""
        if "," in cell and is_number(cell.replace(",", ".", 1), "."):
            remedy = '; for a decimal comma write csv: {decimal: ","}'
        raise PdsimError(
            f"{path}: column {name!r} holds {what} in {len(text):,} of {len(cells):,} rows "
            f"({100 * len(text) / len(cells):.3g} %), first {cell!r} in row {text[0] + 1}; leave "
            f"cells without a measurement empty, or write nan{remedy}"
        )
    values = numbers.to_numpy(dtype=float, na_value=np.nan)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise PdsimError(
            f"{path}: column {name!r} is infinite in {len(infinite):,} of {len(values):,} rows "
            f"({100 * len(infinite) / len(values):.3g} %), first in row {infinite[0] + 1}"
        )
    return values
