"""Tables of metrics in long format: one row per run, metric and, in a learning curve, snapshot."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pdsim.metrics.score import Score
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_text

# Whose posterior it is, and what is said of it.
IDENTITY = ("experiment", "run", "method", "shooting", "seed")
COLUMNS = (*IDENTITY, "metric", "value", "reason")
LEARNING_CURVE_COLUMNS = (*IDENTITY, "rollouts", "seconds", *COLUMNS[5:])


def score_rows(result: dict[str, Score]) -> list[list[str]]:
    """The columns metric, value and reason of each score."""
    return [
        [name, "" if np.isnan(score.value) else repr(score.value), score.reason]
        for name, score in result.items()
    ]


def write_rows(output: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a CSV file."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_text(output, table.getvalue())


def read_metrics(path: str, columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """Read a metrics file, or learning curves.

    Raises:
        PdsimError: it is not there, no such table, or has no row, no number or the same row twice.
    """
    if not Path(path).is_file():
        raise PdsimError(f"{path}: no such file; run the stage that makes it first")
    try:
        table = pd.read_csv(path, dtype={"reason": str}, keep_default_na=True)
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: not a metrics table: {error}") from error
    if tuple(table.columns) != tuple(columns):
        raise PdsimError(f"{path}: its columns are {list(table.columns)}, not {list(columns)}")
    if table.empty:
        raise PdsimError(f"{path}: has no row below its header; run the stage that makes it again")
    numbers = pd.to_numeric(table["value"], errors="coerce")
    strange = np.flatnonzero(numbers.isna() & table["value"].notna())
    if len(strange):
        row = table.iloc[strange[0]]
        raise PdsimError(
            f"{path}: row {strange[0] + 1}: the value of {row['metric']} is no number "
            f"(got {row['value']!r})"
        )
    return _once(table.assign(value=numbers, reason=table["reason"].fillna("")), path)


def _once(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """Refuse a table that says one thing twice."""
    keys = [*IDENTITY, "metric", *({"rollouts"} & set(table.columns))]
    twice = table[table.duplicated(keys)]
    if len(twice):
        row = twice.iloc[0]
        raise PdsimError(
            f"{source}: {row['metric']} of {row['run']}, seed {row['seed']}, is there twice; give "
            "each file once"
        )
    return table


def gather(parts: Sequence[str], output: str, columns: Sequence[str] = COLUMNS) -> None:
    """Put the metrics of all runs of an experiment into one file."""
    table = pd.concat([read_metrics(path, columns) for path in parts], ignore_index=True)
    write_text(output, _once(table, ", ".join(parts)).to_csv(index=False))


def at_rollouts(table: pd.DataFrame, rollouts: int) -> pd.DataFrame:
    """Cut learning curves at a number of roll-outs: each metric as it was when no more were used.

    Args:
        table: long table with ``LEARNING_CURVE_COLUMNS``.

    Returns:
        A table with the columns of a metrics file; runs that had no snapshot by then are missing.
    """
    used = table[table["rollouts"] <= rollouts]
    keys = [*IDENTITY, "metric"]
    last = used.sort_values("rollouts", kind="stable").groupby(keys, sort=False).tail(1)
    return last[list(COLUMNS)]
