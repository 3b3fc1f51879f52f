"""The comparison table: one row per run, one column per metric."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from pdsim.files import write_text
from pdsim.tables.published import DOUBLE_PENDULUM


class Column(NamedTuple):
    """A metric as a table shows it: heading, and whether the lowest, the highest or neither is
    best."""

    metric: str
    heading: str
    best: str  # "low", "high" or ""


COLUMNS = (
    Column("kl_real_sim", "KL(real‖sim) [nat]", "low"),
    Column("kl_sim_real", "KL(sim‖real) [nat]", "low"),
    Column("mmd", "MMD² [-]", "low"),
    Column("log_likelihood", "log likelihood [nat]", "high"),
    Column("rmse", "RMSE held-out [rad]", "low"),
    Column("rmse_train", "RMSE training [rad]", "low"),
    Column("energy_score", "energy score [-]", "low"),
    Column("coverage_90", "coverage of 90 % band [-]", ""),
    Column("credible_rank", "credible rank of truth [-]", ""),
    Column("lost_rollouts", "lost roll-outs", ""),
    Column("diverging", "diverging draws", ""),
    Column("rollouts_used", "roll-outs used", ""),
)


class Cell(NamedTuple):
    """One entry: median over seeds, half the range over seeds, and why it is missing."""

    value: float
    spread: float
    reason: str
    best: bool

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


class Row(NamedTuple):
    """One run, or the published numbers of one."""

    label: str
    cells: dict[str, Cell]


def build(metrics: pd.DataFrame, published: bool) -> tuple[list[Column], list[Row]]:
    """Arrange an experiment's metrics.

    Args:
        metrics: long table, see ``pdsim.stages.evaluate``.
        published: add the paper's numbers as rows.

    Returns:
        The columns that occur, and the rows; "best" compares our rows only.
    """
    columns = [column for column in COLUMNS if (metrics["metric"] == column.metric).any()]
    groups = list(metrics.groupby(["method", "shooting"], sort=False))
    values: dict[tuple, dict[str, Cell]] = {}
    for run, group in groups:
        cells = {}
        for column in columns:
            entries = group[group["metric"] == column.metric]
            numbers = entries["value"].dropna()
            reason = "; ".join(sorted(set(entries["reason"]) - {""}))
            if numbers.empty:
                cells[column.metric] = Cell(np.nan, 0.0, reason or "not computed", False)
            else:
                spread = float(numbers.max() - numbers.min()) / 2
                cells[column.metric] = Cell(float(numbers.median()), spread, reason, False)
        values[run] = cells
    for column in columns:
        ours = {run: cells[column.metric].value for run, cells in values.items()}
        known = {run: value for run, value in ours.items() if not np.isnan(value)}
        if column.best and len(known) > 1:
            pick = min if column.best == "low" else max
            winner = pick(known, key=lambda run: known[run])
            cell = values[winner][column.metric]
            values[winner][column.metric] = cell._replace(best=True)
    rows = []
    for run, _ in groups:
        method, shooting = run
        rows.append(Row(f"{method} ({shooting} shooting)", values[run]))
        if published and run in DOUBLE_PENDULUM:
            cells = {
                metric: Cell(value, 0.0, "", False)
                for metric, value in DOUBLE_PENDULUM[run].items()
            }
            rows.append(Row(f"{method}, published", cells))
    return columns, rows


def _matrix(columns: list[Column], rows: list[Row], bold: str) -> list[list[str]]:
    lines = []
    for row in rows:
        line = [row.label]
        for column in columns:
            cell = row.cells.get(column.metric)
            text = cell.text() if cell else ""
            line.append(bold.format(text) if cell and cell.best else text)
        lines.append(line)
    return lines


def reasons(columns: list[Column], rows: list[Row]) -> list[str]:
    """Return one line for each missing value: where, and why."""
    return [
        f"{row.label}, {column.heading}: {row.cells[column.metric].reason}"
        for row in rows
        for column in columns
        if column.metric in row.cells and row.cells[column.metric].reason
    ]


def to_markdown(columns: list[Column], rows: list[Row]) -> str:
    """Write the table as Markdown, the best value of each column in bold."""
    head = ["", *(column.heading for column in columns)]
    lines = [head, ["---"] + ["---:"] * len(columns), *_matrix(columns, rows, "**{}**")]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    notes = "".join(f"\n- {reason}" for reason in reasons(columns, rows))
    return text + "\n" + (f"\nMissing values:\n{notes}\n" if notes else "")


_LATEX = {"%": r"\%", "‖": r"$\|$", "²": r"$^2$", "±": r"$\pm$"}


def to_latex(columns: list[Column], rows: list[Row]) -> str:
    """Write the table as a LaTeX tabular (package booktabs)."""
    head = ["", *(column.heading for column in columns)]
    body = [head, *_matrix(columns, rows, r"\textbf{{{}}}")]
    lines = [" & ".join(line) + r" \\" for line in body]
    text = "\n".join([lines[0], r"\midrule", *lines[1:]])
    for plain, escaped in _LATEX.items():
        text = text.replace(plain, escaped)
    align = "l" + "r" * len(columns)
    return f"\\begin{{tabular}}{{{align}}}\n\\toprule\n{text}\n\\bottomrule\n\\end{{tabular}}\n"


def to_csv(columns: list[Column], rows: list[Row]) -> str:
    """Write the table as CSV: plain numbers, empty where missing."""
    table = pd.DataFrame(
        {
            column.metric: [
                row.cells[column.metric].value if column.metric in row.cells else np.nan
                for row in rows
            ]
            for column in columns
        },
        index=pd.Index([row.label for row in rows], name="run"),
    )
    return table.to_csv()


def write(metrics: pd.DataFrame, published: bool, stem: str | Path) -> None:
    """Write ``<stem>.csv``, ``.md`` and ``.tex``."""
    columns, rows = build(metrics, published)
    for suffix, text in (
        (".csv", to_csv(columns, rows)),
        (".md", to_markdown(columns, rows)),
        (".tex", to_latex(columns, rows)),
    ):
        write_text(f"{stem}{suffix}", text)
