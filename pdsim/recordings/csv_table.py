"""Tables of text: names in the first line, numbers below, a sign or spaces between the cells.

A row ends with a line feed, a carriage return, or both, and with nothing else: the other line ends
of Unicode may stand in a cell. Where a quote opens and does not close, the rows up to the next
quote would be one cell; no row may go lost that way.
"""

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from pdsim.recordings.raw_file import check_columns, check_text_fits
from pdsim.runtime.errors import PdsimError
from pdsim.settings.section import Section

if TYPE_CHECKING:
    import pandas as pd

FORMATS = "CSV (text in UTF-8), Parquet (.parquet) or NetCDF (.nc)"
# Beginnings of files that are no text → what they are, and what to do.
_CONTENTS = (
    (b"\x1f\x8b", "is compressed (gzip); unpack it"),
    (b"BZh", "is compressed (bzip2); unpack it"),
    (b"\xfd7zXZ", "is compressed (xz); unpack it"),
    (b"\x28\xb5\x2f\xfd", "is compressed (Zstandard); unpack it"),
    (b"PK\x03\x04", "is a ZIP archive or a spreadsheet; unpack it, or save the sheet as CSV"),
    (b"PAR1", "is a Parquet file; give it a name that ends in .parquet"),
    (b"\x89HDF", "is an HDF5 or NetCDF file; give a NetCDF file a name that ends in .nc"),
    (b"CDF", "is a NetCDF file; give it a name that ends in .nc"),
)
# Lines of a name, at most: spreadsheets write the unit below it.
_LONGEST_NAME = 5
_SPACES = r"\s+"
# What stands between the cells of the separator "spaces".
_BLANK = re.compile(r"[ \t]+")


class CsvConfig(Section):
    """How CSV files are written."""

    delimiter: str | None = Field(
        None, min_length=1, max_length=1, description="between cells; default: , ; tab or spaces"
    )
    decimal: str = Field(".", pattern=r"^[.,]$", description="decimal sign: . or ,")
    encoding: str = Field("utf-8", description="of the text, such as latin-1")
    header: bool = Field(True, description="false: no line of names; columns are 0, 1, 2 …")


def is_number(cell: str, decimal: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return False
    return True


def read_csv(path: Path, config: CsvConfig) -> "pd.DataFrame":
    """Read a CSV file; lines that begin with # may stand above the table, and nowhere else.

    The last of them is the line of names where the first line below it holds numbers, as
    ``numpy.savetxt`` writes it. A row that is commented out would close up the time around it.

    Raises:
        PdsimError: it is no text, no table, or a row of it would go lost.
    """
    text = _text(path, config.encoding)
    above, line, begin = [], "", 0
    while begin < len(text):
        end = text.find("\n", begin) % (len(text) + 1)
        line = text[begin:end]
        if line.strip() and not line.lstrip().startswith("#"):
            break
        above.append(line.lstrip().removeprefix("#").strip())
        begin = end + 1
    text = text[begin:]
    if not text:
        raise PdsimError(f"{path}: holds no table")
    delimiter = _delimiter(line, config)
    first, below = _header(text, delimiter)
    if not config.header:
        header = [str(i) for i in range(len(first))]
    elif all(is_number(cell, config.decimal) for cell in first if cell):
        header = _cells(above[-1], delimiter) if above else []
        if len(header) != len(first):
            raise PdsimError(
                f"{path}: the first line holds numbers ({line[:60]}), not names; where there "
                "are no names write csv: {header: false}, and columns are called 0, 1, 2 …"
            )
    else:
        header, text = first, below
    if not text:
        raise PdsimError(f"{path}: names of columns, and no row below them")
    check_columns(path, len(header))
    if header and header[-1] == "":
        header[-1] = "(unnamed)"
    table = _rows(path, text, delimiter, len(header), config.decimal)
    table.columns = header
    return table


def _text(path: Path, encoding: str) -> str:
    """The text of a file, with a line feed after each row but the last, which is no empty one."""
    check_text_fits(path)
    content = path.read_bytes()
    for begin, what in _CONTENTS:
        if content.startswith(begin):
            raise PdsimError(f"{path}: {what}; a table is {FORMATS}, told by its name")
    try:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff") and encoding.lower() in ("utf-8", "utf8"):
            raise PdsimError(
                f"{path}: the text is in UTF-16; save it as UTF-8, or write "
                "csv: {encoding: utf-16}"
            )
        if b"\0" in content and "16" not in encoding and "32" not in encoding:
            line = content[: content.index(b"\0")].count(b"\n") + 1
            raise PdsimError(
                f"{path}: is a binary file, or damaged: line {line} holds a NUL; a table is "
                f"{FORMATS}, told by its name"
            )
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PdsimError(
            f"{path}: byte 0x{content[error.start]:02x} in line {line} is not {encoding}; save the "
            "file as UTF-8, or name its encoding: csv: {encoding: latin-1}"
        ) from None
    except LookupError:
        raise PdsimError(f"recording.csv.encoding: there is no encoding {encoding!r}") from None
    if "\r" in text:
        # Editors that take \r\n for text write \r\r\n.
        text = re.sub(r"\r+\n|\r", "\n", text)
    # A byte-order mark is no part of the first name; rows of empty cells at the end are none.
    return text.removeprefix("\ufeff").rstrip(" \t,;\n")


def _delimiter(line: str, config: CsvConfig) -> str:
    """Return the sign that cuts the first line into most cells; else white space."""
    if config.delimiter:
        return config.delimiter
    # Where the comma is the decimal sign it cannot be between cells.
    signs = [sign for sign in ",;\t" if sign != config.decimal]
    best = max(signs, key=line.count)
    return best if best in line else _SPACES


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == _SPACES:
        return [cell.strip('"') for cell in _BLANK.split(line.strip(" \t")) if cell]
    found = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return [cell.strip() for cell in found]


def _header(text: str, delimiter: str) -> tuple[list[str], str]:
    """The cells of the first line, and the text below; a name in quotes may have several lines."""
    line, _, below = text.partition("\n")
    if delimiter == _SPACES or not line.count('"') % 2:
        return _cells(line, delimiter), below
    for first, last, cells in _records(text, delimiter):
        if last - first < _LONGEST_NAME:
            rest = text.split("\n", last)[last:]
            return [" ".join(cell.split()) for cell in cells], "".join(rest)
        break
    return _cells(line, delimiter), below


def _rows(path: Path, text: str, delimiter: str, columns: int, decimal: str) -> "pd.DataFrame":
    """The rows below the names, one for each line.

    Raises:
        PdsimError: a row has too many cells, or a quote swallows rows.
    """
    import pandas as pd

    try:
        with warnings.catch_warnings():
            # Rows with more cells than names are no loss to be told in passing.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.BytesIO(text.encode()),
                sep=delimiter,
                header=None,
                names=range(columns),
                index_col=False,
                decimal=decimal,
                skipinitialspace=True,
                skip_blank_lines=False,
                low_memory=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        _check_quotes(path, text, delimiter, columns, closed="EOF inside string" not in str(error))
        lines = text.split("\n")
        long = next((i for i, x in enumerate(lines) if len(_cells(x, delimiter)) > columns), 0)
        said = " ".join(str(error).split())
        raise PdsimError(
            f"{path}: row {long + 1} has {len(_cells(lines[long], delimiter))} cells, but there "
            f"are {columns} columns ({said}); if the cells are cut at the wrong sign, name it: "
            'csv: {delimiter: ";"}, and decimal: "," for a decimal comma'
        ) from None
    if len(table) != text.count("\n") + 1:
        _check_quotes(path, text, delimiter, columns)
    return table


def _check_quotes(
    path: Path, text: str, delimiter: str, columns: int, *, closed: bool = True
) -> None:
    """Refuse a quote that swallows rows; a cell of text may have several lines.

    A cell that holds as many separators as a row has holds what was a row.

    Args:
        closed: whether the last row has no quote that is open.
    """
    sign = " " if delimiter == _SPACES else delimiter
    rows = text.count("\n") + 1
    for first, last, cells in _records(text, sign):
        swallowed = max(cell.count(sign) for cell in cells) >= columns - 1
        is_open = last == rows and not closed
        if is_open or (last > first and (swallowed or len(cells) != columns)):
            end = "is never closed" if is_open else f"closes in row {last}"
            raise PdsimError(
                f'{path}: a quote (") opens in row {first} and {end}: the rows between would be '
                "one cell and go lost; take the quote out, or close it in its row"
            )


def _records(text: str, sign: str) -> Iterator[tuple[int, int, Sequence[str]]]:
    """Yield the first and the last line of each row, counted from 1, and its cells."""
    lines = csv.reader(io.StringIO(text), delimiter=sign, skipinitialspace=True)
    last = 0
    while True:
        first = last + 1
        try:
            cells = next(lines, None)
        except csv.Error:  # a cell of more than 128 kB
            yield first, text.count("\n") + 1, [text]
            return
        if cells is None:
            return
        last = lines.line_num
        yield first, last, cells or [""]
