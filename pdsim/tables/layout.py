"""A table of measured values, and how it is written as CSV, Markdown and LaTeX."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from pdsim.identity import Identity
from pdsim.metrics.catalogue import metrics as all_metrics
from pdsim.runtime.files import write_text


class Cell(NamedTuple):
    """One entry: median over seeds, half the range over seeds, and why it is missing."""

    value: float
    spread: float = 0.0
    reason: str = ""
    best: bool = False
    published: bool = False

    def text(self) -> str:
        if np.isnan(self.value):
            return "n/a"
        shown = number(self.value)
        return f"{shown} ± {number(self.spread)}" if self.spread > 0 else shown


def number(value: float) -> str:
    """Write a number with four significant digits, whole numbers whole."""
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.4g}"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], align: str = "---") -> str:
    """Return a table as Markdown.

    Args:
        align: of all columns but the first, ``---`` or, to the right, ``---:``.
    """
    lines = [head, ["---"] + [align] * (len(head) - 1), *rows]
    cells = ([cell.replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines)
    return "".join("| " + " | ".join(line) + " |\n" for line in cells)


def latex(text: str) -> str:
    """Write a text so that LaTeX prints it as it stands."""
    return text.translate(_LATEX)


class Column(NamedTuple):
    """A column: its key in the rows' cells, and its heading."""

    key: str
    heading: str


class Row(NamedTuple):
    """A row of cells by column key."""

    label: str
    cells: dict[str, Cell]


class Table(NamedTuple):
    """Columns, rows, and what the first column holds."""

    columns: list[Column]
    rows: list[Row]
    corner: str = ""

    def reasons(self) -> list[str]:
        """Return one line for each missing value: where, and why."""
        return [
            f"{row.label}, {column.heading}: {row.cells[column.key].reason}"
            for row in self.rows
            for column in self.columns
            if column.key in row.cells and row.cells[column.key].reason
        ]

    def _matrix(self, bold: str) -> list[list[str]]:
        lines = []
        for row in self.rows:
            line = [row.label]
            for column in self.columns:
                cell = row.cells.get(column.key)
                text = cell.text() if cell else ""
                line.append(bold.format(text) if cell and cell.best else text)
            lines.append(line)
        return lines

    @property
    def _head(self) -> list[str]:
        return [self.corner, *(column.heading for column in self.columns)]

    def markdown(self) -> str:
        """Return the table as Markdown, the best values in bold."""
        text = markdown(self._head, self._matrix("**{}**"), "---:")
        notes = "".join(f"\n- {reason}" for reason in self.reasons())
        return text + (f"\nMissing values:\n{notes}\n" if notes else "")

    def latex(self) -> str:
        """Return the table as a LaTeX tabular (package booktabs)."""
        body = [self._head, *self._matrix(_BOLD + "{}" + _END)]
        lines = [" & ".join(map(latex, line)) + r" \\" for line in body]
        text = "\n".join([lines[0], r"\midrule", *lines[1:]])
        align = "l" + "r" * len(self.columns)
        return f"\\begin{{tabular}}{{{align}}}\n\\toprule\n{text}\n\\bottomrule\n\\end{{tabular}}\n"

    def csv(self) -> str:
        """Return the table as CSV: plain numbers, empty where missing; spreads in own columns."""
        values: dict[str, list[float]] = {}
        for column in self.columns:
            cells = [row.cells.get(column.key) for row in self.rows]
            values[column.key] = [cell.value if cell else np.nan for cell in cells]
            values[f"{column.key} spread"] = [cell.spread if cell else np.nan for cell in cells]
        index = pd.Index([row.label for row in self.rows], name=self.corner or "row")
        return pd.DataFrame(values, index=index).to_csv()

    def write(self, stem: str | Path) -> None:
        """Write ``<stem>.csv``, ``.md`` and ``.tex``."""
        for suffix, text in (
            (".csv", self.csv()),
            (".md", self.markdown()),
            (".tex", self.latex()),
        ):
            write_text(f"{stem}{suffix}", text)


# Marks of a bold cell until its text has been escaped: characters that no text holds.
_BOLD, _END = "\x02", "\x03"
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "%_&#${}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"$<$",
        ">": r"$>$",
        "|": r"$|$",
        "‖": r"$\|$",
        "²": r"$^2$",
        "±": r"$\pm$",
        "−": r"$-$",
        "·": r"$\cdot$",
        _BOLD: r"\textbf{",
        _END: "}",
    }
)


def mark_best(cells: Iterable[tuple[dict[str, Cell], str]], lowest: bool) -> None:
    """Mark the best of some of our cells, if there are two or more with a value.

    Args:
        cells: pairs of a row's cells and the key of one of them.
    """
    known = [
        (row, key)
        for row, key in cells
        if key in row and not row[key].published and not np.isnan(row[key].value)
    ]
    if len(known) > 1:
        pick = min if lowest else max
        row, key = pick(known, key=lambda pair: pair[0][pair[1]].value)
        row[key] = row[key]._replace(best=True)


def headings(keys: Sequence[str], unit: str) -> dict[str, str]:
    """Headings of some metrics, by key.

    Args:
        unit: of errors in position channels.
    """
    known = {metric.key: metric.heading.format(unit=unit) for metric in all_metrics()}
    return {key: known[key] for key in keys}


def holds_out(metrics: pd.DataFrame) -> bool:
    """Whether anything was scored on recordings that were kept from the estimation.

    Args:
        metrics: long table, see ``pdsim.metrics.long_format``.
    """
    keys = [metric.key for metric in all_metrics() if metric.held_out]
    return bool(metrics[metrics["metric"].isin(keys)]["value"].notna().any())


def medians(metrics: pd.DataFrame, keys: Sequence[str]) -> dict[Identity, dict[str, Cell]]:
    """Return the cells of each run, identity → metric → cell, over its seeds.

    Args:
        metrics: long table, see ``pdsim.metrics.long_format``.
    """
    result: dict[Identity, dict[str, Cell]] = {}
    for run, group in metrics.groupby(list(Identity._fields), sort=False):
        cells = {}
        for key in keys:
            entries = group[group["metric"] == key]
            if entries.empty:
                continue
            numbers = entries["value"].dropna()
            reason = "; ".join(sorted(set(entries["reason"]) - {""}))
            if numbers.empty:
                cells[key] = Cell(np.nan, reason=reason or "not computed")
            else:
                spread = float(numbers.max() - numbers.min()) / 2
                cells[key] = Cell(float(numbers.median()), spread, reason)
        result[Identity(*map(str, run))] = cells
    return result


def runs_of(runs: Mapping[Identity, object], kind: tuple[str, str]) -> list[Identity]:
    """Those of some runs that have a method and a shooting, in their order."""
    return [identity for identity in runs if (identity.method, identity.shooting) == kind]
