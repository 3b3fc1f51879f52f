"""Tables of the README and of docs/, made of small CSV files that are kept with them.

``docs/results/tables.yaml`` says which. Each table stands in its document between

    <!-- table: <name> -->
    <!-- end of table -->

and is written there from the CSV files beside ``tables.yaml``, which are the experiments' own
``tables/comparison.csv``. No number of a table is typed, and a test compares.
"""

import logging
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError

from pdsim.metrics.catalogue import metrics as all_metrics
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular, read_text, write_text
from pdsim.settings.messages import explain, read_yaml
from pdsim.settings.section import Section
from pdsim.tables.layout import Cell, Column, Row, Table, mark_best, mixing

log = logging.getLogger(__name__)

TABLES = "docs/results/tables.yaml"


class Part(Section):
    """Columns of one CSV file."""

    csv: str = Field(description="file beside tables.yaml; its stem is that of the experiment")
    columns: dict[str, str] = Field(min_length=1, description="column → heading")


class DocumentTable(Section):
    """One table of one document."""

    document: str = Field(description="path from the root of the checkout")
    name: str = Field(description="that of the mark in the document")
    corner: str = Field("run", description="heading of the first column")
    rows: dict[str, str] = Field(
        {}, description="label in the files → label shown; left out: all but published ones"
    )
    parts: tuple[Part, ...] = Field(min_length=1, description="files, their columns side by side")
    digits: int = Field(3, ge=1, description="significant digits of each number")


class Documents(Section):
    """All tables of all documents."""

    tables: tuple[DocumentTable, ...]


def read_documents(root: str | Path) -> Documents:
    """Read which tables there are."""
    path = Path(root) / TABLES
    try:
        documents = Documents.model_validate(read_yaml(path))
    except ValidationError as error:
        raise explain(error, path, Documents) from None
    known: dict[tuple[Path, str], int] = {}
    for i, table in enumerate(documents.tables):
        _check_inside(table.document, Path(root), f"{path}: tables.{i}.document")
        for j, part in enumerate(table.parts):
            _check_inside(part.csv, path.parent, f"{path}: tables.{i}.parts.{j}.csv")
        first = known.setdefault(((Path(root) / table.document).resolve(), table.name), i)
        if first != i:
            raise PdsimError(
                f"{path}: tables.{i}.name: {table.name!r} is the name of tables.{first} of the "
                "same document too; give each table a mark and a name"
            )
    return documents


def _check_inside(name: str, folder: Path, where: str) -> None:
    """Refuse a file that is not below a folder, by ``..``, an absolute path or a link.

    Args:
        where: file and key that name it.
    """
    if not (folder / name).resolve().is_relative_to(folder.resolve()):
        raise PdsimError(
            f"{where}: {name!r} is outside {folder.resolve()}, where pdsim writes and reads "
            "nothing; name a file in this folder"
        )


def collect(root: str | Path, results: str | Path) -> list[str]:
    """Copy the comparisons of experiments that were run to the files of the documents.

    Args:
        results: folder of all results; ``<experiment>/tables/comparison.csv`` is looked for.

    Returns:
        Names of the files written; the others stay as they are.
    """
    written = []
    asked: dict[str, set[str]] = {}
    for table in read_documents(root).tables:
        for part in table.parts:
            asked.setdefault(part.csv, set()).update(part.columns)
    for name, columns in sorted(asked.items()):
        source = Path(results) / Path(name).stem / "tables/comparison.csv"
        if not source.exists():
            log.info("%s: no such file, %s stays as it is", source, name)
            continue
        cells = read_cells(source).values()
        missing = sorted(columns - {key for row in cells for key in row})
        if missing:
            # A study of the experiment's name makes this file, and not the experiment.
            log.warning("%s: has no column %s; %s stays as it is", source, missing[0], name)
            continue
        write_text((Path(root) / TABLES).parent / name, read_text(source))
        written.append(name)
    return written


def render(root: str | Path) -> dict[Path, str]:
    """Return each document, by its path, with its tables as the files have them."""
    texts: dict[Path, str] = {}
    for entry in read_documents(root).tables:
        path = Path(root) / entry.document
        text = texts.get(path) or read_text(path)
        made = build(entry, (Path(root) / TABLES).parent).markdown()
        texts[path] = fill(text, entry.name, made, path)
    return texts


def write(root: str | Path) -> None:
    """Write all tables into their documents."""
    for path, text in render(root).items():
        write_text(path, text)


def build(entry: DocumentTable, folder: Path) -> Table:
    """Make a table of its files.

    A value is in bold if it is better than those of all other rows beyond the spread over seeds,
    where the metric has a better end. Rows whose chains have not mixed say so.

    Args:
        folder: where the files are.
    """
    best = {metric.key: metric.best for metric in all_metrics()}
    labels: dict[str, str] = dict(entry.rows)
    found = [read_cells(folder / part.csv) for part in entry.parts]
    if not labels:
        every = dict.fromkeys(label for rows in found for label in rows)
        labels = {label: label for label in every if not label.endswith(", published")}
    table = Table([], [Row(shown, {}) for shown in labels.values()], entry.corner)
    remarks: list[set[str]] = [set() for _ in labels]
    for number, (part, rows) in enumerate(zip(entry.parts, found, strict=True)):
        for remark, label in zip(remarks, labels, strict=True):
            remark |= {mixing(rows.get(label, {}))} - {""}
        for key, heading in part.columns.items():
            column = Column(f"{number} {key}", heading)
            table.columns.append(column)
            known = {key for cells in rows.values() for key in cells}
            if key not in known:
                raise PdsimError(f"{folder / part.csv}: no column {key!r}; it has {sorted(known)}")
            for row, label in zip(table.rows, labels, strict=True):
                if label in rows and key in rows[label]:
                    row.cells[column.key] = rows[label][key]._replace(digits=entry.digits)
            if best.get(key):
                mark_best([(row.cells, column.key) for row in table.rows], best[key] == "low")
    missing = [label for label in labels if not any(label in rows for rows in found)]
    if missing:
        raise PdsimError(f"{TABLES}: {entry.name}: no file has a row {missing[0]!r}")
    shown = [
        row._replace(remark=", ".join(sorted(remark)))
        for row, remark in zip(table.rows, remarks, strict=True)
    ]
    return table._replace(rows=shown)


def read_cells(path: Path) -> Mapping[str, dict[str, Cell]]:
    """Read a table as ``Table.csv`` writes it, label → column → cell.

    Columns need no ranges: a number without is one of a single seed.
    """
    check_regular(path, "a table of results")
    try:
        frame = pd.read_csv(path, index_col=0).select_dtypes("number")
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: not a table of results: {error}") from error
    keys = [name for name in frame if not str(name).endswith((" lowest", " highest"))]
    for what, names in (("row label", frame.index), ("column", _heads(path))):
        twice = [str(name) for name in names if list(names).count(name) > 1]
        if twice:
            raise PdsimError(f"{path}: the {what} {twice[0]!r} is there twice; remove one")
    rows: dict[str, dict[str, Cell]] = {}
    for label, line in frame.to_dict(orient="index").items():
        cells = {}
        for key in keys:
            lowest, highest = (line.get(f"{key} {end}", np.nan) for end in ("lowest", "highest"))
            # Other runs have this column: an empty place is no value of this one.
            if not np.isnan(line[key]):
                cells[str(key)] = Cell(line[key], lowest, highest)
        rows[str(label)] = cells
    return rows


def _heads(path: Path) -> list[str]:
    """The columns as the file has them: pandas gives the second of two alike another name."""
    return [str(name) for name in pd.read_csv(path, header=None, nrows=1).iloc[0]]


def fill(text: str, name: str, table: str, path: str | Path = "") -> str:
    """Put a table between its marks."""
    begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->"
    pattern = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise PdsimError(f"{path}: needs once the lines {begin.strip()!r} and {end!r}")
    return pattern.sub(lambda _: f"{begin}{table}{end}", text)
