"""Tables I to III of Parameter-Robust MPPI: what each controller reached, beside the document's."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from pdsim.control.config import ControlConfig
from pdsim.control.metrics import accuracy, failed, rmse, wilson
from pdsim.tables.layout import Cell, Column, Row, Table

_COLUMNS = (
    Column("rmse_median", "median"),
    Column("success", "safe [%]"),
    Column("success_from", "from"),
    Column("success_to", "to"),
    Column("accuracy", "PA [%]"),
    Column("accuracy_true", "PA, over the truth [%]"),
    Column("covers_truth", "R covers the truth [%]"),
    Column("covers_draw", "R covers a draw [%]"),
    Column("fallback", "fallback [%]"),
    Column("step", "step alone [ms]"),
    Column("batch_step", "step in the batch [ms]"),
)
_PUBLISHED = (
    Column("published_rmse", "document: RMSE"),
    Column("published_success", "safe [%]"),
    Column("published_accuracy", "PA [%]"),
    Column("published_step", "step [ms]"),
)
NOTE = (
    "Mean ± standard deviation over the simulations, which are the same for every controller; "
    "safe: simulations that neither left the safe set nor crashed, with Wilson's interval (95 %). "
    "A controller that cuts through what is forbidden can have the smallest RMSE, so it is read "
    "together with the share of safe simulations. PA (parameter accuracy): over the width of the "
    "prior, and over the true value. R covers: share of the control steps on the nominal plan, the "
    "vehicle not crashed, in which that plan's roll-out with the true parameters, or with one more "
    "draw of the belief, stays as far from the unsafe set as the score R says. The document's "
    "numbers are of its own machine, settings and 100 simulations."
)


def laps(name: str, log: xr.Dataset, scored: tuple[int, ...], *, learns: bool) -> pd.DataFrame:
    """One row per simulation and lap of a controller."""
    truth = log["truth"].values
    width = np.broadcast_to(np.diff(log["prior"].values, axis=0)[0], truth.shape)
    rows = []
    for lap in np.unique(log["lap"].values):
        part = log.isel(step=np.flatnonzero(log["lap"].values == lap))
        estimate = part["mean"].values[:, -1]
        tested = ~(part["fallback"].values | part["crashed"].values)
        steps = np.maximum(tested.sum(axis=1), 1)
        known = tested.any(axis=1)
        columns = {
            "rmse": rmse(part["state"].values, part["reference"].values, scored),
            "failed": failed(part["clearance"].values, part["crashed"].values),
            "accuracy": accuracy(estimate, truth, width),
            "accuracy_true": accuracy(estimate, truth, truth),
            "fallback": part["fallback"].values.mean(axis=1),
        }
        if not learns:
            columns |= {key: np.full(len(truth), np.nan) for key in ("accuracy", "accuracy_true")}
        for key in ("covers_truth", "covers_draw"):
            share = (part[key].values & tested).sum(axis=1) / steps
            columns[key] = np.where(known, share, np.nan)
        for simulation in range(len(truth)):
            rows.append(
                {"controller": name, "simulation": simulation, "lap": int(lap) + 1}
                | {key: values[simulation] for key, values in columns.items()}
            )
    return pd.DataFrame(rows)


def metrics(config: ControlConfig, logs: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """One row per controller, simulation and lap."""
    scored = config.task.build().scored
    parts = [
        laps(name, log, scored, learns=config.controller(name).learns) for name, log in logs.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _spread(values: Sequence[float]) -> Cell:
    """Mean, and a standard deviation to both sides."""
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    if not known.size:
        return Cell(np.nan)
    mean, deviation = known.mean(), known.std(ddof=1) if known.size > 1 else np.nan
    return Cell(mean, mean - deviation, mean + deviation, digits=3)


def by_lap(table: pd.DataFrame) -> pd.DataFrame:
    """One row per controller and lap: the median over the simulations, of the fallback the mean."""
    each = table.groupby(["controller", "lap"], sort=False)
    found = each[["rmse", "accuracy", "covers_draw"]].median()
    found["fallback"] = each["fallback"].mean()
    for key in ("fallback", "covers_draw"):
        found[key] *= 100
    found.index = pd.Index([f"{name}, lap {lap}" for name, lap in found.index])
    return found.rename_axis("controller, lap").reset_index()


def row(name: str, table: pd.DataFrame, log: xr.Dataset) -> Row:
    """A controller's row, from its laps and its log."""
    of_each = table.groupby("simulation")
    # Laps are equally long, so the mean square of all is the mean of theirs.
    whole = np.sqrt(of_each["rmse"].apply(lambda values: (values**2).mean()))
    safe = ~of_each["failed"].any()
    share = wilson(int(safe.sum()), len(safe))
    last = table[table["lap"] == table["lap"].max()]
    cells = {
        "rmse": _spread(list(whole)),
        "rmse_median": Cell(float(whole.median()), digits=3),
        "success": Cell(100 * share.value, digits=3),
        "success_from": Cell(100 * share.lowest, digits=3),
        "success_to": Cell(100 * share.highest, digits=3),
        "fallback": Cell(100 * table["fallback"].mean(), digits=2),
        "step": Cell(1e3 * float(log.attrs["step_seconds"]), digits=3),
        "batch_step": Cell(1e3 * float(log.attrs["batch_step_seconds"]), digits=3),
    }
    for key in ("accuracy", "accuracy_true"):
        if last[key].notna().any():
            cells[key] = _spread(list(last[key]))
    for key in ("covers_truth", "covers_draw"):
        if table[key].notna().any():
            cells[key] = Cell(100 * table[key].mean(), digits=3)
    return Row(name, cells)


def build(config: ControlConfig, table: pd.DataFrame, logs: Mapping[str, xr.Dataset]) -> Table:
    """All controllers, in the config's order."""
    rows = []
    for name, log in logs.items():
        made = row(name, table[table["controller"] == name], log)
        told = config.controller(name).published
        if told is not None:
            for key, pair in (("rmse", told.rmse), ("accuracy", told.accuracy)):
                if pair is not None:
                    made.cells[f"published_{key}"] = Cell(
                        pair[0], pair[0] - pair[1], pair[0] + pair[1], published=True, digits=3
                    )
            for key, value in (("success", told.success), ("step", told.milliseconds)):
                if value is not None:
                    made.cells[f"published_{key}"] = Cell(value, published=True)
        rows.append(made)
    used = {key for one in rows for key in one.cells}
    error = Column("rmse", f"RMSE [{config.task.build().scored_unit}]")
    columns = [column for column in (error, *_COLUMNS, *_PUBLISHED) if column.key in used]
    return Table(columns, rows, "controller", (NOTE,))
