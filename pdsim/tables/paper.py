"""Tables I to III of the paper with our numbers, and where the two agree on the order."""

from itertools import combinations

import numpy as np
import pandas as pd

from pdsim.tables.layout import Cell, Column, Row, Table, mark_best, medians
from pdsim.tables.published import BAYESSIM, DOUBLE_PENDULUM

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
METRICS = {
    "kl_real_sim": "KL(real‖sim) [nat]",
    "kl_sim_real": "KL(sim‖real) [nat]",
    "mmd": "MMD² [-]",
}
# Beside the paper's three, two that do not pool start states.
OURS = {"rmse": "RMSE held-out [rad]", "energy_score": "energy score [-]"}
# Two values nearer than this share of the larger are level.
_LEVEL = 0.02


def _cell(runs, run: tuple[str, str], metric: str) -> Cell:
    if run not in runs or metric not in runs[run]:
        return Cell(np.nan, reason="no such run in this experiment")
    return runs[run][metric]


def _printed(run: tuple[str, str], metric: str) -> Cell:
    value = DOUBLE_PENDULUM.get(run, {}).get(metric, np.nan)
    return Cell(value, published=True)


def table_1(metrics: pd.DataFrame, published: bool) -> Table:
    """Table I: one row per metric, one column per estimator; lower is better in all rows."""
    names = METRICS | OURS
    runs = medians(metrics, list(names))
    best = best_variant(metrics)
    if best is not None:
        runs["bayessim", "single"] = runs["bayessim", best]
    rows = []
    for metric, heading in names.items():
        cells = {method: _cell(runs, (method, shooting), metric) for method, shooting in TABLE_1}
        mark_best([(cells, key) for key in cells], lowest=True)
        rows.append(Row(heading, cells))
        if published and metric in METRICS:
            rows.append(
                Row(
                    f"{heading}, published",
                    {run[0]: _printed(run, metric) for run in TABLE_1},
                )
            )
    headings = {"bayessim": f"bayessim ({best})"} if best else {}
    columns = [Column(method, headings.get(method, method)) for method, _ in TABLE_1]
    return Table(columns, rows, "metric")


def best_variant(metrics: pd.DataFrame) -> str | None:
    """BayesSim's variant of the lowest energy score on the held-out recordings.

    The paper shows the best of twelve, too; it flatters BayesSim, which the others do not have.
    """
    runs = medians(metrics[metrics["method"] == "bayessim"], ["energy_score"])
    scores = {
        variant: cells["energy_score"].value
        for (_, variant), cells in runs.items()
        if "energy_score" in cells and not np.isnan(cells["energy_score"].value)
    }
    return min(scores, key=scores.__getitem__) if scores else None


def table_3(metrics: pd.DataFrame, published: bool) -> Table:
    """Table III: one row per BayesSim variant, and CSVGD; lower is better in all columns."""
    names = METRICS | OURS
    chosen = metrics[metrics["method"].isin(["bayessim", "csvgd"])]
    rows, ours = [], []
    for (method, shooting), cells in medians(chosen, list(names)).items():
        label = shooting if method == "bayessim" else method
        rows.append(Row(label, cells))
        ours.append(cells)
        printed = BAYESSIM.get(shooting) or DOUBLE_PENDULUM.get((method, shooting))
        if published and printed:
            shown = {key: Cell(value, published=True) for key, value in printed.items()}
            rows.append(Row(f"{label}, published", shown))
    for metric in names:
        mark_best([(cells, metric) for cells in ours], lowest=True)
    columns = [Column(metric, heading) for metric, heading in names.items()]
    return Table(columns, rows, "variant")


def table_2(metrics: pd.DataFrame, published: bool) -> Table:
    """Table II: one row per estimator, single beside multiple shooting; lower is better."""
    names = METRICS | OURS
    runs = medians(metrics, list(names))
    columns = [
        Column(f"{metric} {shooting}", f"{heading}, {shooting}")
        for metric, heading in names.items()
        for shooting in ("single", "multiple")
    ]
    rows = []
    ours = []
    for label, pair in TABLE_2.items():
        cells = {
            f"{metric} {shooting}": _cell(runs, run, metric)
            for metric in names
            for run, shooting in zip(pair, ("single", "multiple"), strict=True)
        }
        ours.append(cells)
        rows.append(Row(label, cells))
        if published:
            printed = {
                f"{metric} {shooting}": _printed(run, metric)
                for metric in METRICS
                for run, shooting in zip(pair, ("single", "multiple"), strict=True)
            }
            rows.append(Row(f"{label}, published", printed))
    for metric in names:
        keys = (f"{metric} single", f"{metric} multiple")
        mark_best([(cells, key) for cells in ours for key in keys], lowest=True)
    return Table(columns, rows, "estimator")


def _label(run: tuple[str, str]) -> str:
    return run[0] if run[0] in ("svgd", "csvgd") else f"{run[0]} ({run[1]})"


def agreement(metrics: pd.DataFrame) -> list[str]:
    """Say in sentences where our order of the runs is the paper's.

    All pairs of runs that both have are compared, metric by metric; a pair of ours whose ranges
    over the seeds overlap, or whose values are within 2 % of each other, counts as level.
    """
    runs = medians(metrics, list(METRICS))
    sentences = []
    for metric, heading in METRICS.items():
        known = {
            run: (runs[run][metric], DOUBLE_PENDULUM[run][metric])
            for run in DOUBLE_PENDULUM
            if metric in DOUBLE_PENDULUM[run]
            and run in runs
            and metric in runs[run]
            and not np.isnan(runs[run][metric].value)
        }
        if len(known) < 2:
            continue
        same, level, other = 0, 0, []
        for one, two in combinations(known, 2):
            (ours_1, paper_1), (ours_2, paper_2) = known[one], known[two]
            gap = ours_1.value - ours_2.value
            size = max(abs(ours_1.value), abs(ours_2.value))
            if abs(gap) <= max(ours_1.spread + ours_2.spread, _LEVEL * size):
                level += 1
            elif gap * (paper_1 - paper_2) > 0:
                same += 1
            else:
                better, worse = (one, two) if gap < 0 else (two, one)
                other.append(f"{_label(better)} before {_label(worse)}")
        ours_best = min(known, key=lambda run: known[run][0].value)
        paper_best = min(known, key=lambda run: known[run][1])
        pairs = same + level + len(other)
        text = (
            f"{heading}: of {pairs} pairs of runs, {same} are in the paper's order, "
            f"{len(other)} in the other, {level} level within their spread over seeds. "
        )
        text += (
            f"{_label(ours_best)} is best in both."
            if ours_best == paper_best
            else f"Best here: {_label(ours_best)}; in the paper: {_label(paper_best)}."
        )
        if other:
            text += f" Against the paper: {', '.join(other)}."
        sentences.append(text)
    return sentences
