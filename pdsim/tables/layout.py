"""A table of measured values, and how it is written as CSV, Markdown and LaTeX."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

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
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


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

    def markdown(self) -> str:
        """Return the table as Markdown, the best values in bold."""
        head = [self.corner, *(column.heading for column in self.columns)]
        text = markdown(head, self._matrix("**{}**"), "---:")
        notes = "".join(f"\n- {reason}" for reason in self.reasons())
        return text + (f"\nMissing values:\n{notes}\n" if notes else "")

    def latex(self) -> str:
        """Return the table as a LaTeX tabular (package booktabs)."""
        body = [
            [self.corner, *(column.heading for column in self.columns)],
            *self._matrix(r"\textbf{{{}}}"),
        ]
        lines = [" & ".join(line) + r" \\" for line in body]
        text = "\n".join([lines[0], r"\midrule", *lines[1:]])
        for plain, escaped in _LATEX.items():
            text = text.replace(plain, escaped)
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


_LATEX = {"%": r"\%", "‖": r"$\|$", "²": r"$^2$", "±": r"$\pm$", "−": "$-$"}


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


class Metric(NamedTuple):
    """How a table shows a metric: whether the lowest, the highest or neither is best."""

    key: str
    heading: str
    best: str = ""  # "low", "high" or ""


def medians(metrics: pd.DataFrame, keys: Sequence[str]) -> dict[tuple[str, str], dict[str, Cell]]:
    """Return the cells of each run, (method, shooting) → metric → cell, over its seeds.

    Args:
        metrics: long table, see ``pdsim.stages.evaluate``.
    """
    result: dict[tuple[str, str], dict[str, Cell]] = {}
    for run, group in metrics.groupby(["method", "shooting"], sort=False):
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
        method, shooting = run
        result[str(method), str(shooting)] = cells
    return result
