"""Tables I to III of the paper with our numbers, and where the two agree on the order.

The paper has one run of each method and shooting; an experiment may have several, with other
settings. Each of them then has a column (Table I) or row (II, III) of its own, under its name, and
the published number stands beside the first. Runs of methods that are not in the paper are in the
comparison only.
"""

from collections.abc import Mapping
from itertools import combinations, zip_longest
from typing import Any

import numpy as np
import pandas as pd

from pdsim.inference.identity import Identity, default_name
from pdsim.metrics.catalogue import metrics as all_metrics
from pdsim.tables.layout import (
    Cell,
    Column,
    Row,
    Table,
    apart,
    headings,
    mark_best,
    medians,
    mixing,
    runs_of,
    set_notes,
)
from pdsim.tables.published import published_of

# Table I: every estimator with single shooting, and CSVGD, which is multiple shooting.
TABLE_1 = (
    ("emcee", "single"),
    ("cem", "single"),
    ("sgld", "single"),
    ("nuts", "single"),
    ("svgd", "single"),
    ("bayessim", "single"),
    ("csvgd", "multiple"),
)
# Table II: each estimator's two runs.
TABLE_2 = {
    "emcee": (("emcee", "single"), ("emcee", "multiple")),
    "cem": (("cem", "single"), ("cem", "multiple")),
    "sgld": (("sgld", "single"), ("sgld", "multiple")),
    "nuts": (("nuts", "single"), ("nuts", "multiple")),
    "svgd / csvgd": (("svgd", "single"), ("csvgd", "multiple")),
}
# Before the paper's three, those that compare each roll-out with the recording it started from.
OURS = ("energy_score", "rmse_median", "coverage_90")
# Of Markov chains only.
CHAINS = "r_hat"
# Two values nearer than this share of the larger are not told apart.
_LEVEL = 0.02
_MISSING = Cell(np.nan, reason="no such run in this experiment")
_UNKNOWN = Cell(np.nan, reason="not computed")


def _printed(kind: tuple[str, str], metric: str, published: bool | str) -> Cell:
    value = published_of(published).runs.get(kind, {}).get(metric, np.nan)
    return Cell(value, published=True)


def _name(identity: Identity) -> str:
    """A run in a table that has its shooting elsewhere: the method, or the name it was given."""
    usual = identity.run == default_name(identity.method, identity.shooting)
    return identity.method if usual else identity.run


def _mark(metric: str, cells: list[tuple[dict[str, Cell], str]]) -> None:
    """Mark the best of some cells of a metric, where it has a better end."""
    best = {entry.key: entry.best for entry in all_metrics()}[metric]
    if best:
        mark_best(cells, best == "low")


def _variant(identity: Identity) -> str:
    """Name of a BayesSim variant, ``<statistic>_<density>``."""
    return identity.run.removeprefix("bayessim_")


def table_1(metrics: pd.DataFrame, published: bool | str, unit: str) -> Table:
    """Table I: one row per metric, one column per estimator.

    Columns have the names of their runs, those of runs that are missing their default names.
    """
    in_paper = published_of(published).metrics
    names = headings((*OURS, CHAINS, *in_paper), unit)
    runs = medians(metrics, list(names))
    best = best_variant(metrics)
    columns, ours, printed = [], {}, {}
    for kind in TABLE_1:
        method, _ = kind
        # No variant of BayesSim has a shooting: its column is that of the one chosen.
        found = [best] if method == "bayessim" and best else runs_of(runs, kind)
        for identity in found:
            heading = f"bayessim ({_variant(identity)})" if identity == best else _name(identity)
            remark = mixing(runs[identity])
            heading = f"{heading} ({remark})" if remark else heading
            columns.append(Column(identity.run, heading))
            ours[identity.run] = runs[identity]
        if not found:
            columns.append(Column(default_name(*kind), method))
            ours[columns[-1].key] = dict.fromkeys(names, _MISSING)
        printed[found[0].run if found else default_name(*kind)] = kind
    rows = []
    for metric, heading in names.items():
        cells = {run: values.get(metric, _UNKNOWN) for run, values in ours.items()}
        if metric == CHAINS:
            cells = {run: values[metric] for run, values in ours.items() if metric in values}
            cells = {run: cell for run, cell in cells.items() if cell is not _MISSING}
            if not cells:
                continue
        _mark(metric, [(cells, run) for run in cells])
        rows.append(Row(heading, cells))
        if published and metric in in_paper:
            cells = {run: _printed(kind, metric, published) for run, kind in printed.items()}
            rows.append(Row(f"{heading}, published", cells))
    return Table(columns, rows, "metric", _notes(metrics, runs))


def _notes(metrics: pd.DataFrame, runs: Mapping[Identity, Any]) -> tuple[str, ...]:
    """What must be known to read a table; first of all why nothing may stand in it."""
    if any(runs_of(runs, kind) for kind in TABLE_1):
        return set_notes(metrics)
    return ("No run here has the paper's protocol, single or multiple shooting: see comparison.",)


def best_variant(metrics: pd.DataFrame) -> Identity | None:
    """BayesSim's variant of the lowest loss on the simulations kept from its training.

    It is the loss that ends the training. The held-out recordings have no say in it: the best of
    twelve by their scores would flatter BayesSim, for the other estimators have one run each.
    """
    runs = medians(metrics[metrics["method"] == "bayessim"], ["kept_loss"])
    losses = {
        identity: cells["kept_loss"].value
        for identity, cells in runs.items()
        if "kept_loss" in cells and not np.isnan(cells["kept_loss"].value)
    }
    return min(losses, key=losses.__getitem__) if losses else None


def table_2(metrics: pd.DataFrame, published: bool | str, unit: str) -> Table:
    """Table II: one row per estimator, single beside multiple shooting.

    Second and later runs of an estimator follow in rows of their own.
    """
    in_paper = published_of(published).metrics
    names = headings((*OURS, CHAINS, *in_paper), unit)
    runs = medians(metrics, list(names))
    if not any(CHAINS in cells for cells in runs.values()):
        names.pop(CHAINS)
    sides = ("single", "multiple")
    columns = [
        Column(f"{metric} {side}", f"{heading}, {side}")
        for metric, heading in names.items()
        for side in sides
    ]
    rows, ours = [], []
    for estimator, kinds in TABLE_2.items():
        pairs = list(zip_longest(*(runs_of(runs, kind) for kind in kinds))) or [(None, None)]
        for number, pair in enumerate(pairs):
            cells = {
                f"{metric} {side}": runs[run].get(metric, _UNKNOWN) if run else _MISSING
                for metric in names
                for run, side in zip(pair, sides, strict=True)
                if (run or number == 0) and (metric != CHAINS or (run and CHAINS in runs[run]))
            }
            unmixed = [
                f"{side}: {mixing(runs[run])}"
                for run, side in zip(pair, sides, strict=True)
                if run and mixing(runs[run])
            ]
            named = [run.run for run in pair if run and _name(run) == run.run]
            ours.append(cells)
            label = f"{estimator} ({', '.join(named)})" if named else estimator
            rows.append(Row(label, cells, ", ".join(unmixed)))
            if published and number == 0:
                printed = {
                    f"{metric} {side}": _printed(kind, metric, published)
                    for metric in in_paper
                    for kind, side in zip(kinds, sides, strict=True)
                }
                rows.append(Row(f"{estimator}, published", printed))
    for metric in names:
        keys = [f"{metric} {side}" for side in sides]
        _mark(metric, [(cells, key) for cells in ours for key in keys])
    return Table(columns, rows, "estimator", _notes(metrics, runs))


def table_3(metrics: pd.DataFrame, published: bool | str, unit: str) -> Table:
    """Table III: one row per BayesSim variant, and CSVGD."""
    in_paper = published_of(published).metrics
    names = headings((*OURS, *in_paper), unit)
    csvgd = ("csvgd", "multiple")
    runs = medians(metrics[metrics["method"].isin(["bayessim", "csvgd"])], list(names))
    rows, ours = [], []
    for identity, cells in runs.items():
        kind = identity.method, identity.shooting
        learned = identity.method == "bayessim"
        if not learned and kind != csvgd:
            continue
        label = _variant(identity) if learned else _name(identity)
        rows.append(Row(label, cells))
        ours.append(cells)
        paper = published_of(published)
        printed = paper.variants.get(label) if learned else paper.runs[csvgd]
        first = learned or runs_of(runs, csvgd)[0] == identity
        if published and printed and first:
            shown = {key: Cell(value, published=True) for key, value in printed.items()}
            rows.append(Row(f"{label}, published", shown))
    for metric in names:
        _mark(metric, [(cells, metric) for cells in ours])
    columns = [Column(metric, heading) for metric, heading in names.items()]
    return Table(columns, rows, "variant", set_notes(metrics))


def _label(kind: tuple[str, str]) -> str:
    return kind[0] if kind[0] in ("svgd", "csvgd") else f"{kind[0]} ({kind[1]})"


def agreement(metrics: pd.DataFrame, published: bool | str = True) -> list[str]:
    """Say in sentences where our order of the runs is the paper's.

    All pairs of runs that both have are compared, metric by metric, by the first run of each method
    and shooting; a pair of ours whose ranges over the seeds overlap or are not known, as with one
    seed, or whose values are within 2 % of each other, is not distinguishable.
    """
    paper = published_of(published)
    runs = medians(metrics, paper.metrics)
    first = {kind: runs[found[0]] for kind in paper.runs if (found := runs_of(runs, kind))}
    ends = {entry.key: entry.best for entry in all_metrics()}
    sentences = []
    for metric, heading in headings(paper.metrics, "-").items():
        known = {
            kind: (cells[metric], paper.runs[kind][metric])
            for kind, cells in first.items()
            if metric in paper.runs[kind] and metric in cells and not np.isnan(cells[metric].value)
        }
        if len(known) < 2:
            continue
        same, level, other = 0, 0, []
        for one, two in combinations(known, 2):
            (ours_1, paper_1), (ours_2, paper_2) = known[one], known[two]
            gap = ours_1.value - ours_2.value
            size = max(abs(ours_1.value), abs(ours_2.value))
            if not apart(ours_1, ours_2) or abs(gap) <= _LEVEL * size:
                level += 1
            elif gap * (paper_1 - paper_2) > 0:
                same += 1
            else:
                better, worse = (one, two) if (gap < 0) == (ends[metric] != "high") else (two, one)
                other.append(f"{_label(better)} before {_label(worse)}")
        pairs = same + level + len(other)
        text = (
            f"{heading}: of {pairs} pairs of runs, {same} are in the paper's order, "
            f"{len(other)} in the other, {level} not distinguishable over their seeds."
        )
        if other:
            text += f" Against the paper: {', '.join(other)}."
        sentences.append(text)
    return sentences
