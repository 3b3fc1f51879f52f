"""Named columns of numbers out of CSV, Parquet and NetCDF files, or a message that names the cell.

Rows are counted from 1, the first below the header.
"""

import io
import warnings
from csv import reader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from pdsim.config.messages import close_name
from pdsim.config.section import Section
from pdsim.runtime.errors import PdsimError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

FORMATS = "CSV (text in UTF-8), Parquet (.parquet) or NetCDF (.nc)"
_PARQUET = (".parquet", ".pq")
_NETCDF = (".nc", ".nc4", ".netcdf", ".cdf")
# A message shows no more names of columns than this.
_SHOWN = 40


class CsvConfig(Section):
    """How CSV files are written."""

    delimiter: str | None = Field(
        None, min_length=1, max_length=1, description="between cells; default: , ; tab or spaces"
    )
    decimal: str = Field(".", pattern=r"^[.,]$", description="decimal sign: . or ,")
    encoding: str = Field("utf-8", description="of the text, such as latin-1")
    header: bool = Field(True, description="false: no line of names; columns are 0, 1, 2 …")


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
    _check_file(path)
    suffix = path.suffix.lower()
    if suffix in _NETCDF:
        return _read_netcdf(path, names)
    table = _read_parquet(path) if suffix in _PARQUET else _read_csv(path, csv)
    _check_names(path, names, [str(name) for name in table.columns])
    return {name: _numbers(path, name, table[name]) for name in names}


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
    import pandas as pd

    _check_file(path)
    suffix = path.suffix.lower()
    if suffix in _NETCDF:
        variables = _open_netcdf(path).variables.items()
        flat = {str(name): v.to_numpy() for name, v in variables if v.ndim == 1}
        rows = max(map(len, flat.values()), default=0)
        table = pd.DataFrame({name: v for name, v in flat.items() if len(v) == rows})
    else:
        table = _read_parquet(path) if suffix in _PARQUET else _read_csv(path, csv)
    names = [str(name) for name in table.columns]
    found: list[tuple[str, np.ndarray | str]] = []
    for name, key in zip(names, table.columns, strict=True):
        if names.count(name) > 1:
            found.append((name, f"{names.count(name)} columns are called {name!r}"))
            continue
        try:
            values = _numbers(path, name, table[key])
        except PdsimError as error:
            found.append((name, str(error).removeprefix(f"{path}: ")))
            continue
        found.append((name, values if np.isfinite(values).any() else f"column {name!r} is empty"))
    return found


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise PdsimError(f"{path}: is a folder; name the files in it under recording.files")
    try:
        with path.open("rb") as file:
            begin = file.read(1)
    except FileNotFoundError:
        raise PdsimError(
            f"{path}: no such file; relative paths are looked for beside the experiment's file, "
            "below the folder PDSIM_DATA_DIR, and below data/"
        ) from None
    except OSError as error:
        raise PdsimError(f"{path}: cannot be read: {error.strerror}") from None
    if not begin:
        raise PdsimError(f"{path}: the file is empty")


def _check_names(path: Path, names: list[str], there: list[str]) -> None:
    for name in names:
        if name not in there:
            shown = ", ".join(there[:_SHOWN]) + (", …" if len(there) > _SHOWN else "")
            hint = close_name(name, there)
            guess = hint if hint.startswith("; did") else ""
            raise PdsimError(f"{path}: no column {name!r}{guess}; there are: {shown}")
        if there.count(name) > 1:
            raise PdsimError(
                f"{path}: {there.count(name)} columns are called {name!r}; rename one of them"
            )


def _read_parquet(path: Path) -> "pd.DataFrame":
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise PdsimError(
            f"{path}: reading Parquet needs pyarrow: `pip install pyarrow`, or save the table as "
            "CSV"
        ) from None
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: not a readable Parquet file: {error}") from None


def _open_netcdf(path: Path) -> "xr.Dataset":
    import xarray as xr

    try:
        # Stamps stay the numbers they are; their unit is in the config.
        with xr.open_dataset(path, decode_times=False) as file:
            return file.load()
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: not a readable NetCDF file ({_first_words(error)})") from None


def _first_words(error: Exception) -> str:
    """What another library says, without its hints and lines."""
    return " ".join(str(error).partition(". ")[0].split())


def _read_netcdf(path: Path, names: list[str]) -> dict[str, np.ndarray]:
    import pandas as pd

    data = _open_netcdf(path)
    _check_names(path, names, [str(name) for name in data.variables])
    flat = {name: data.variables[name] for name in names}
    for name, variable in flat.items():
        if variable.ndim != 1:
            raise PdsimError(
                f"{path}: variable {name!r} has dimensions {variable.dims}, but a column has one; "
                "write each of its columns as a variable of its own"
            )
    dimensions = {str(variable.dims[0]): name for name, variable in flat.items()}
    if len(dimensions) > 1:
        listed = ", ".join(f"{name} over {d}" for d, name in dimensions.items())
        raise PdsimError(f"{path}: columns must share one dimension, but here is {listed}")
    return {name: _numbers(path, name, pd.Series(x.to_numpy())) for name, x in flat.items()}


def _text(path: Path, encoding: str) -> str:
    content = path.read_bytes()
    try:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff") and encoding.lower() in ("utf-8", "utf8"):
            raise PdsimError(
                f"{path}: the text is in UTF-16; save it as UTF-8, or write "
                "csv: {encoding: utf-16}"
            )
        if b"\0" in content[:65536] and "16" not in encoding and "32" not in encoding:
            raise PdsimError(f"{path}: is a binary file; a table is {FORMATS}, told by its name")
        # A byte-order mark is no part of the first name.
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PdsimError(
            f"{path}: byte 0x{content[error.start]:02x} in line {line} is not {encoding}; save the "
            "file as UTF-8, or name its encoding: csv: {encoding: latin-1}"
        ) from None
    except LookupError:
        raise PdsimError(f"recording.csv.encoding: there is no encoding {encoding!r}") from None


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return False
    return True


def _delimiter(lines: list[str], csv: CsvConfig) -> str:
    """Return the sign that cuts the first line into most cells; else white space."""
    if csv.delimiter:
        return csv.delimiter
    # Where the comma is the decimal sign it cannot be between cells.
    signs = [sign for sign in ",;\t" if sign != csv.decimal]
    best = max(signs, key=lines[0].count)
    return best if best in lines[0] else r"\s+"


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == r"\s+":
        return [cell.strip('"') for cell in line.split()]
    return [
        cell.strip() for cell in next(reader([line], delimiter=delimiter, skipinitialspace=True))
    ]


def _read_csv(path: Path, csv: CsvConfig) -> "pd.DataFrame":
    """Read a CSV file; lines that begin with # may stand above the table, and nowhere else.

    The last of them is the line of names where the first line below it holds numbers, as
    ``numpy.savetxt`` writes it. A row that is commented out would close up the time around it.
    """
    import pandas as pd

    lines = _text(path, csv.encoding).splitlines()
    while lines and not lines[-1].strip(" \t,;"):
        lines.pop()
    above = []
    while lines and (not lines[0].strip() or lines[0].lstrip().startswith("#")):
        above.append(lines.pop(0).lstrip().removeprefix("#").strip())
    if not lines:
        raise PdsimError(f"{path}: holds no table")
    delimiter = _delimiter(lines, csv)
    first = _cells(lines[0], delimiter)
    if not csv.header:
        header = [str(i) for i in range(len(first))]
    elif all(_is_number(cell, csv.decimal) for cell in first if cell):
        header = _cells(above[-1], delimiter) if above else []
        if len(header) != len(first):
            raise PdsimError(
                f"{path}: the first line holds numbers ({lines[0][:60]}), not names; where there "
                "are no names write csv: {header: false}, and columns are called 0, 1, 2 …"
            )
    else:
        header = first
        del lines[0]
    if not lines:
        raise PdsimError(f"{path}: names of columns, and no row below them")
    if header and header[-1] == "":
        header[-1] = "(unnamed)"
    try:
        with warnings.catch_warnings():
            # Rows with more cells than names are no loss to be told in passing.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.StringIO("\n".join(lines)),
                sep=delimiter,
                header=None,
                names=range(len(header)),
                index_col=False,
                decimal=csv.decimal,
                skipinitialspace=True,
                skip_blank_lines=False,
                low_memory=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        long = next(
            (i for i, x in enumerate(lines) if len(_cells(x.rstrip(), delimiter)) > len(header)), 0
        )
        said = " ".join(str(error).split())
        raise PdsimError(
            f"{path}: row {long + 1} has {len(_cells(lines[long], delimiter))} cells, but there "
            f"are {len(header)} columns ({said}); if the cells are cut at the wrong sign, name it: "
            'csv: {delimiter: ";"}, and decimal: "," for a decimal comma'
        ) from None
    table.columns = header
    return table


def _numbers(path: Path, name: str, cells: "pd.Series[Any]") -> np.ndarray:
    import pandas as pd

    if cells.dtype == bool or cells.dtype.kind in "cM":
        raise PdsimError(f"{path}: column {name!r} holds {cells.dtype}, not real numbers")
    cells = cells.reset_index(drop=True)
    numbers = pd.to_numeric(cells, errors="coerce")
    text = np.flatnonzero((numbers.isna() & cells.notna()).to_numpy())
    if len(text):
        cell = str(cells[int(text[0])])[:40]
        remedy = ""
        if "," in cell and _is_number(cell.replace(",", ".", 1), "."):
            remedy = '; for a decimal comma write csv: {decimal: ","}'
        raise PdsimError(
            f"{path}: column {name!r} holds text in {len(text):,} of {len(cells):,} rows "
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
