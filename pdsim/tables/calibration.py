"""Simulation-based calibration of several estimators, a row each, and a row for each parameter."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from pdsim.calibration.ranks import summarise
from pdsim.runtime.files import read_dataset, write_text
from pdsim.runtime.markdown import markdown
from pdsim.tables.layout import MIXED, number

_HEADINGS = {
    "run": "run",
    "data_sets": "data sets",
    "failures": "failures",
    "inside": "parameters inside",
    "worst": "worst parameter",
    "deviation": "its largest deviation",
    "p_value": "its chi-square p",
    "mean": "its mean rank",
    "spread": "its spread",
    "not_mixed": "not mixed",
    "evaluations": "evaluations",
    "seconds": "seconds",
}
_NOTE = (
    "*Parameters inside*: share whose ranks are nowhere outside the simultaneous 95 % band, of "
    "which a calibrated estimator has 95 %. *Mean rank*: 0.5 if draws are neither too high (below) "
    "nor too low. *Spread*: of the ranks over that of uniform ones; above 1 draws are too narrow, "
    "below 1 too wide. *Not mixed*: share of data sets with an R-hat above "
    f"{MIXED}. *Evaluations* and *seconds*: medians of a data set. Failures have no ranks."
)


def ranked(data: xr.Dataset) -> np.ndarray:
    """Ranks of the data sets that did not fail, (data set, parameter)."""
    return data["rank"].values[data["reason"].values == ""].astype(int)


def by_parameter(parts: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Return a row for each run and parameter: what ``calibration.ranks.summarise`` says.

    Args:
        parts: files of stage ``calibrate``.
    """
    rows = []
    for data in parts:
        ranks = ranked(data)
        for column, name in enumerate(data["parameter"].values) if len(ranks) else ():
            found = summarise(ranks[:, column], int(data.attrs["draws"]))
            rows.append({"run": data.attrs["run"], "parameter": str(name), **found._asdict()})
    columns = ["run", "parameter", "inside", "deviation", "p_value", "mean", "spread"]
    return pd.DataFrame(rows, columns=columns)


def by_run(parts: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Return a row for each run, with the numbers of the parameter that deviates most."""
    whole, rows = by_parameter(parts), []
    for data in parts:
        own = whole[whole["run"] == data.attrs["run"]]
        failed = data["reason"].values != ""
        r_hat = data["r_hat"].values[~failed]
        known = np.isfinite(r_hat).any()
        row = {
            "run": data.attrs["run"],
            "data_sets": data.sizes["data_set"],
            "failures": int(failed.sum()),
            "not_mixed": (r_hat > MIXED).any(axis=1).mean() if known else np.nan,
            "evaluations": float(np.median(data["evaluations"].values)),
            "seconds": float(np.median(data["seconds"].values)),
        }
        if len(own):
            worst = own.loc[own["deviation"].idxmax()]
            row |= {"inside": own["inside"].mean(), "worst": worst["parameter"]}
            row |= {name: worst[name] for name in ("deviation", "p_value", "mean", "spread")}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(_HEADINGS))


def _shown(value) -> str:
    if isinstance(value, str):
        return value
    return "n/a" if np.isnan(value) else number(float(value), 3)


def write(parts: Sequence[xr.Dataset], stem: str) -> None:
    """Write ``<stem>.csv``, ``.md`` and, with a row for each parameter, ``_parameters.csv``."""
    table = by_run(parts)
    write_text(f"{stem}.csv", table.to_csv(index=False))
    write_text(f"{stem}_parameters.csv", by_parameter(parts).to_csv(index=False))
    rows = [[_shown(value) for value in row] for row in table.values.tolist()]
    text = markdown(list(_HEADINGS.values()), rows, "---:") + f"\n{_NOTE}\n"
    for data in parts:
        reasons = pd.Series(data["reason"].values[data["reason"].values != ""]).value_counts()
        lines = (f"- {data.attrs['run']}, {count} times: {why}\n" for why, count in reasons.items())
        text += "".join(f"\n{line}" for line in lines)
    write_text(f"{stem}.md", text)


def gather(paths: Sequence[str], stem: str) -> None:
    """Read the files of all runs, and ``write`` their tables."""
    write([read_dataset(path) for path in paths], stem)
