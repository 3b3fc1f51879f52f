"""Stage ``tune``: search an estimator's settings on the training recordings alone.

Each training window is cut in two. The first part is what the estimator sees; its draws are then
rolled out over the whole window and scored by the energy score, which is proper: it is best for
draws that are neither off nor too sure. Held-out recordings are never read.
"""

import json
import time
from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from pdsim import registry
from pdsim.experiment.slices import Tune
from pdsim.inference import load_estimator
from pdsim.inference.identity import Identity
from pdsim.inference.runner import run
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.noise import channel_spread
from pdsim.metrics.energy_score import energy_score
from pdsim.metrics.long_format import write_rows
from pdsim.metrics.rmse import rmse
from pdsim.metrics.score import Score, undefined
from pdsim.recordings.trajectories import inputs_of, is_position, load_trajectories, select
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_text
from pdsim.runtime.markdown import markdown
from pdsim.systems.ensemble import roll_out
from pdsim.systems.simulator import build_simulator

COLUMNS = (
    "experiment", "run", "method", "shooting", "settings", "energy_score", "rmse", "seconds", "use",
)  # fmt: skip


def first_part(trajectories: xr.Dataset, share: float) -> xr.Dataset:
    """Return the training trajectories, only the first share of each."""
    train = select(trajectories, "train")
    kept = 1 + (share * (train["length"] - 1)).astype(int)
    part = train.isel(time=slice(0, int(kept.max()))).assign_coords(length=kept)
    if (kept == kept[0]).all():
        return part
    inside = np.arange(part.sizes["time"]) < kept.values[:, None]
    for name in ("observed", "states"):
        part[name] = part[name].where(xr.DataArray(inside, dims=("trajectory", "time")))
    return part


def tune(
    options: Tune, *, experiment: str, identity: Identity, trajectories: str, output: str
) -> None:
    """Try every combination of the values under the run's ``tune``, and write how each did.

    The column ``use`` tells the best, and the one the config has.

    Args:
        experiment: its name, a column of the table.
    """
    device.configure(options.precision)
    entry = options.searched
    if not entry.tune:
        raise PdsimError(f"{experiment}: {identity.run}: tune: nothing to search")
    budget = options.tuning.budget
    if entry.tune_iterations is not None:
        budget = budget.model_copy(update={"iteration_count": entry.tune_iterations})
    simulator = build_simulator(options.simulator)
    whole = select(load_trajectories(trajectories, simulator.system), "train")
    seen = first_part(whole, options.tuning.share)
    problem = build_problem(simulator, options.likelihood, seen, entry.shooting, options.precision)
    model = registry.load("inference", entry.method).Settings
    trials = []
    for settings in options.trials:
        began = time.perf_counter()
        estimator = load_estimator(entry.method, model.model_validate(settings), budget)
        energy, error = _score(options, simulator, estimator, budget.chunk_size, problem, whole)
        trials.append((settings, energy, error, time.perf_counter() - began))
    known = [energy.value for _, energy, _, _ in trials if np.isfinite(energy.value)]
    best = min(known, default=np.nan)
    chosen = model.model_validate(entry.settings)
    rows = []
    for settings, energy, error, seconds in trials:
        use = ["best"] if energy.value == best else []
        use += ["config"] if model.model_validate(settings) == chosen else []
        shown = json.dumps({key: settings[key] for key in entry.tune})
        numbers = [f"{energy.value:.4g}", f"{error.value:.4g}", f"{seconds:.1f}"]
        rows.append([experiment, *identity, shown, *numbers, " ".join(use)])
    write_rows(output, COLUMNS, rows)


def _score(options, simulator, estimator, chunk_size, problem, whole) -> tuple[Score, Score]:
    try:
        result = run(estimator, problem, seed=0, chunk_size=chunk_size)
    except PdsimError as failure:
        return undefined(str(failure)), undefined(str(failure))
    space = simulator.space
    simulated = roll_out(
        simulator,
        np.asarray(space.to_physical(estimator.draws(problem, result.state).parameters)),
        whole["start"].values,
        inputs_of(whole),
        frame_time=whole.attrs["frame_time"],
        precision=options.precision,
    )
    observed = whole["observed"].values[:, 1:]
    # Whatever becomes of a roll-out where nothing was observed counts for nothing.
    simulated = np.where(np.isfinite(observed)[:, None], simulated, 0.0)
    spread, position = channel_spread(whole), is_position(whole)
    several = len(set(whole["channel_unit"].values[position])) > 1
    scale = spread[position] if several else 1.0
    return (
        energy_score(observed / spread, simulated / spread),
        rmse(observed[..., position] / scale, simulated[..., position] / scale),
    )


def _read_search(path: str) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise PdsimError(f"{path}: no search that pdsim tune wrote: {error}") from error
    if tuple(table.columns) != COLUMNS:
        raise PdsimError(f"{path}: its columns are {list(table.columns)}, not {list(COLUMNS)}")
    return table


def gather(parts: Sequence[str], stem: str) -> None:
    """Put the searches of an experiment into one table, CSV and Markdown."""
    table = pd.concat([_read_search(path) for path in parts], ignore_index=True)
    write_text(f"{stem}.csv", table.to_csv(index=False))
    shown = table.drop(columns="experiment").fillna("").astype(str)
    write_text(f"{stem}.md", markdown(list(shown.columns), shown.values.tolist()))
