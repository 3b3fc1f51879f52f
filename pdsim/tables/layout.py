"""A table of measured values, and how it is written as CSV, Markdown and LaTeX."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from pdsim.inference.identity import Identity
from pdsim.metrics.catalogue import metrics as all_metrics
from pdsim.runtime.files import write_text
from pdsim.runtime.markdown import markdown


class Cell(NamedTuple):
    """One entry: median over seeds and range over seeds.

    Attributes:
        value: NaN where it is missing.
        lowest, highest: over the seeds; NaN where fewer than two have a value.
        reason: why it is missing.
        best: whether it is better than all others, whatever the seed.
        published: not ours.
        digits: significant ones in texts.
        remark: a word that stands with it where it is shown, for a value that is off.
    """

    value: float
    lowest: float = np.nan
    highest: float = np.nan
    reason: str = ""
    best: bool = False
    published: bool = False
    digits: int = 4
    remark: str = ""

    @classmethod
    def of(cls, values: Sequence[float], reason: str = "") -> "Cell":
        """Summarise the values of all seeds, NaN where one has none."""
        known = np.asarray(values, float)
        known = known[~np.isnan(known)]
        if known.size == 0:
            return cls(np.nan, reason=reason or "not computed")
        ends = (known.min(), known.max()) if known.size > 1 else (np.nan, np.nan)
        return cls(float(np.median(known)), float(ends[0]), float(ends[1]), reason)

    @property
    def spread(self) -> float:
        """Half the range over seeds; NaN where there is no range."""
        return (self.highest - self.lowest) / 2

    def text(self) -> str:
        if np.isnan(self.value):
            return "n/a"
        shown = number(self.value, self.digits)
        spread = number(self.spread, min(self.digits, 2)) if self.spread > 0 else ""
        return f"{shown} ± {spread}" if spread else shown


def number(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits, whole numbers whole."""
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    if 10**digits <= abs(value) < 1e9:
        return str(round(value))
    return f"{value:.{digits}g}"


def latex(text: str) -> str:
    """Write a text so that LaTeX prints it as it stands."""
    return text.translate(_LATEX)


class Column(NamedTuple):
    """A column: its key in the rows' cells, and its heading.

    Attributes:
        parts: keys of several cells that are shown in one, "1 / 2 / 3"; files of numbers have a
            column for each of them, and none for ``key``.
    """

    key: str
    heading: str
    parts: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the cells that it shows."""
        return self.parts or (self.key,)


class Row(NamedTuple):
    """A row of cells by column key, and a remark that stands with its label."""

    label: str
    cells: dict[str, Cell]
    remark: str = ""

    @property
    def heading(self) -> str:
        return f"{self.label} ({self.remark})" if self.remark else self.label

    def text(self, column: Column) -> str:
        """What stands in a column, without the cell's remark; of parts, the values alone."""
        cells = [self.cells[key] for key in column.keys if key in self.cells]
        if len(column.parts) > 1:
            cells = [cell._replace(lowest=np.nan, highest=np.nan, digits=2) for cell in cells]
        return " / ".join(cell.text() for cell in cells)


class Table(NamedTuple):
    """Columns, rows, what the first column holds, and what must be known to read it."""

    columns: list[Column]
    rows: list[Row]
    corner: str = ""
    notes: tuple[str, ...] = ()

    def reasons(self) -> list[str]:
        """Return one line for each missing value: where, and why."""
        return [
            f"{row.label}, {column.heading}: {reason}"
            for row in self.rows
            for column in self.columns
            for reason in dict.fromkeys(
                row.cells[key].reason for key in column.keys if key in row.cells
            )
            if reason
        ]

    def _matrix(self, bold: str) -> list[list[str]]:
        lines = []
        for row in self.rows:
            line = [row.heading]
            for column in self.columns:
                cell, text = row.cells.get(column.key), row.text(column)
                text = f"{text} ({cell.remark})" if cell and cell.remark else text
                line.append(bold.format(text) if cell and cell.best else text)
            lines.append(line)
        return lines

    @property
    def _head(self) -> list[str]:
        return [self.corner, *(column.heading for column in self.columns)]

    def markdown(self) -> str:
        """Return the table as Markdown, values that are clearly best in bold."""
        text = markdown(self._head, self._matrix("**{}**"), "---:")
        text += "".join(f"\n{note}\n" for note in self.notes)
        missing = "".join(f"\n- {reason}" for reason in self.reasons())
        return text + (f"\nMissing values:\n{missing}\n" if missing else "")

    def latex(self) -> str:
        """Return the table as a LaTeX tabular (package booktabs)."""
        body = [self._head, *self._matrix(_BOLD + "{}" + _END)]
        lines = [" & ".join(map(latex, line)) + r" \\" for line in body]
        text = "\n".join([lines[0], r"\midrule", *lines[1:]])
        align = "l" + "r" * len(self.columns)
        return f"\\begin{{tabular}}{{{align}}}\n\\toprule\n{text}\n\\bottomrule\n\\end{{tabular}}\n"

    def csv(self) -> str:
        """Return the table as CSV: plain numbers, empty where missing; ranges in own columns."""
        values: dict[str, list[float]] = {}
        for key in (key for column in self.columns for key in column.keys):
            cells = [row.cells.get(key) or Cell(np.nan) for row in self.rows]
            values[key] = [cell.value for cell in cells]
            values[f"{key} lowest"] = [cell.lowest for cell in cells]
            values[f"{key} highest"] = [cell.highest for cell in cells]
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
    """Mark the best of some of our cells, if it is the best by more than the spread over seeds.

    Its whole range over the seeds must lie beyond those of all others: with one seed nothing is
    marked.

    Args:
        cells: pairs of a row's cells and the key of one of them.
    """
    known = [
        (row, key)
        for row, key in cells
        if key in row and not row[key].published and not np.isnan(row[key].value)
    ]
    if len(known) < 2:
        return
    pick = min if lowest else max
    values = [row[key].value for row, key in known]
    row, key = known.pop(values.index(pick(values)))
    if all(apart(row[key], other[name]) for other, name in known):
        row[key] = row[key]._replace(best=True)


def apart(one: Cell, two: Cell) -> bool:
    """Whether the ranges of two cells over their seeds are known and do not overlap."""
    return one.highest < two.lowest or two.highest < one.lowest


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
            reason = "; ".join(sorted(set(entries["reason"]) - {""}))
            cells[key] = Cell.of(list(entries["value"]), reason)
        result[Identity(*map(str, run))] = cells
    return result


# Chains of a higher R-hat have not mixed (Vehtari et al., 2021, ask for 1.01).
MIXED = 1.05


def mixing(cells: Mapping[str, Cell]) -> str:
    """What to say of a run's chains, by its largest R-hat over the seeds; empty if all is well.

    Args:
        cells: by metric; runs without ``r_hat`` have no chains.
    """
    if "r_hat" not in cells:
        return ""
    cell = cells["r_hat"]
    worst = cell.value if np.isnan(cell.highest) else cell.highest
    if np.isnan(worst):
        return "mixing unknown"
    return "not mixed" if worst > MIXED else ""


# Metrics that compare the set of all roll-outs with the set of recordings.
OF_SETS = ("kl_real_sim", "kl_sim_real", "mmd")


def set_notes(metrics: pd.DataFrame) -> tuple[str, ...]:
    """How to read metrics of sets, and what MMD² a perfect simulator would have here.

    Args:
        metrics: long table, see ``pdsim.metrics.long_format``.
    """
    known = metrics.dropna(subset="value")
    if not known["metric"].isin(OF_SETS).any():
        return ()
    note = (
        "KL and MMD² compare sets that share their start states, and can fall when draws scatter "
        "more while their errors grow: no run is marked as best in them."
    )
    floor = known[known["metric"] == "mmd_perfect"]["value"]
    if floor.empty:
        return (note,)
    low, high = (f"{value:.4f}" for value in (floor.min(), floor.max()))
    shown = low if low == high else f"{low} to {high}"
    return (
        f"{note} The MMD² of a perfect simulator, whose roll-outs repeat the recordings, is "
        f"{shown} here.",
    )


def runs_of(runs: Mapping[Identity, object], kind: tuple[str, str]) -> list[Identity]:
    """Those of some runs that have a method and a shooting, in their order."""
    return [identity for identity in runs if (identity.method, identity.shooting) == kind]
