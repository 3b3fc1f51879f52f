"""Stage ``tune``: search an estimator's settings on the training recordings alone.

Each training window is cut in two. The first part is what the estimator sees; its draws are then
rolled out over the whole window and scored by the energy score, which is proper: it is best for
draws that are neither off nor too sure. Held-out recordings are never read.
"""

import json
import time

import numpy as np
import pandas as pd
import xarray as xr

from pdsim.runtime import device
from pdsim.config.experiment import ExperimentConfig
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset, write_text
from pdsim.inference import load_estimator
from pdsim.inference.runner import run
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.noise import channel_spread
from pdsim.metrics.energy_score import energy_score
from pdsim.metrics.long_format import write_rows
from pdsim.metrics.rmse import rmse
from pdsim.metrics.score import Score, undefined
from pdsim.config.runs import SETTINGS
from pdsim.systems.simulator import build_simulator
from pdsim.stages.simulate import roll_out
from pdsim.trajectories import select

COLUMNS = ("experiment", "method", "shooting", "settings", "energy_score", "rmse", "seconds", "use")


def first_part(trajectories: xr.Dataset, share: float) -> xr.Dataset:
    """Return the training trajectories, only the first share of each."""
    train = select(trajectories, "train")
    return train.isel(time=slice(0, 1 + int(share * (train.sizes["time"] - 1))))


def tune(
    experiment: ExperimentConfig,
    name: str,
    method: str,
    shooting: str,
    trajectories: str,
    output: str,
) -> None:
    """Try every combination of the values under the run's ``tune``, and write how each did.

    The column ``use`` tells the best, and the one the config has.
    """
    device.configure(experiment.precision)
    entry = experiment.run(method, shooting)
    if not entry.tune:
        raise PdsimError(f"{name}: {method}, {shooting} shooting: tune: nothing to search")
    budget = experiment.tuning.budget
    if entry.tune_iterations is not None:
        budget = budget.model_copy(update={"iteration_count": entry.tune_iterations})
    whole = select(read_dataset(trajectories), "train")
    seen = first_part(whole, experiment.tuning.share)
    problem = build_problem(
        experiment.simulator, experiment.likelihood, seen, shooting, experiment.precision
    )
    trials = []
    for settings in entry.trials():
        began = time.perf_counter()
        energy, error = _score(experiment, method, settings, budget, problem, whole)
        trials.append((settings, energy, error, time.perf_counter() - began))
    known = [energy.value for _, energy, _, _ in trials if np.isfinite(energy.value)]
    best = min(known, default=np.nan)
    rows = []
    for settings, energy, error, seconds in trials:
        use = ["best"] if energy.value == best else []
        use += ["config"] if _same(method, settings, entry.settings) else []
        shown = json.dumps({key: settings[key] for key in entry.tune})
        numbers = [f"{energy.value:.4g}", f"{error.value:.4g}", f"{seconds:.1f}"]
        rows.append([name, method, shooting, shown, *numbers, " ".join(use)])
    write_rows(output, COLUMNS, rows)


def _same(method: str, one: dict, other: dict) -> bool:
    model = SETTINGS[method]
    return model.model_validate(one) == model.model_validate(other)


def _score(experiment, method, settings, budget, problem, whole) -> tuple[Score, Score]:
    estimator = load_estimator(method, SETTINGS[method].model_validate(settings), budget)
    try:
        result = run(estimator, problem, seed=0, chunk_size=budget.chunk_size)
    except PdsimError as failure:
        return undefined(str(failure)), undefined(str(failure))
    system, space = build_simulator(experiment.simulator)
    simulated = roll_out(
        system,
        space,
        np.asarray(space.to_physical(estimator.draws(problem, result.state).parameters)),
        whole["smoothed"].values[:, 0],
        frames=whole.sizes["time"] - 1,
        frame_time=whole.attrs["frame_time"],
        substeps=experiment.simulator.substeps,
        precision=experiment.precision,
    )
    observed = whole["observed"].values[:, 1:]
    spread = channel_spread(whole)
    position = whole["channel_kind"].values == "position"
    return (
        energy_score(observed / spread, simulated / spread),
        rmse(observed[..., position], simulated[..., position]),
    )


def gather(parts: list[str], stem: str) -> None:
    """Put the searches of an experiment into one table, CSV and Markdown."""
    table = pd.concat([pd.read_csv(path) for path in parts], ignore_index=True)
    write_text(f"{stem}.csv", table.to_csv(index=False))
    columns = [column for column in table.columns if column != "experiment"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in table[columns].fillna("").itertuples(index=False):
        lines.append("| " + " | ".join(map(str, row)) + " |")
    write_text(f"{stem}.md", "\n".join(lines) + "\n")
