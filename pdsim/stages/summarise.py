"""Stage ``summarise``: tables and the HTML report of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pdsim.config.experiment import ExperimentConfig
from pdsim.figures.style import run_label
from pdsim.runtime.files import read_dataset, write_text
from pdsim.metrics.long_format import COURSE_COLUMNS, at_rollouts, read_metrics
from pdsim.posterior import read_draws
from pdsim.report.page import Picture, parameter_lines, render
from pdsim.systems.simulator import build_simulator, known_truth
from pdsim.tables import comparison, paper
from pdsim.tables.layout import number

CAPTIONS = {
    "convergence": "Left: how far the median particle is from the best value any run with the same "
    "shooting reached. Middle: the gaps between shooting windows, which should end small, since a "
    "window fit with gaps is no trajectory; CSVGD tightens them step by step. Right: "
    "particles whose roll-out was not finite.",
    "landscape": "Brighter is likelier, by rank. Left, one long roll-out: ridges and traps. Right, "
    "ten windows from the smoothed recording: one slope towards the truth (star).",
    "course": "Each metric of the draws as they stood after more and more work: left at equal "
    "roll-outs, right at equal time. Lines are medians over seeds, bands their range; dashed lines "
    "are single shooting. A gradient counts as one roll-out and costs about three times its time.",
    "densities": "All runs on one held-out window. Blue: where the roll-outs of all draws go from "
    "the smoothed start state. Dashed: the recording.",
    "posteriors": "Dots are draws, stars the true values behind the training recordings; ellipses "
    "hold 50 % and 90 % of the distribution these were drawn from, where there is one.",
    "statistics": "Each input statistic of the training recording (black), of the nearest "
    "simulated trajectory (blue) and of fifty others (grey), standardised as the densities see it.",
    "training": "Negative log density over the epochs: thin on the training set, thick on "
    "held-out simulations. The network with the lowest held-out value is the one used.",
    "calibration": "Simulation-based calibration: ranks of the true parameters of held-out "
    "simulations among draws of their own posteriors. A calibrated density has flat histograms; "
    "the grey band holds 99 % of those of a flat one. A hump: too wide; a bowl: too sure.",
    "density": "Blue: where the roll-outs of all draws go from the smoothed start state. Dashed: "
    "the recording. Left, the window that was fitted; right, the held-out window of median error.",
    "posterior": "Dots are draws, histograms their marginals, dashed lines the limits of the "
    "prior. Below the diagonal the axes span the prior, above it (grey) they are zoomed to the "
    "draws. Free motion fixes ratios of masses and inertias only, so narrow ridges are expected.",
    "windows": "Each window simulated from its own start state (dot); red bars are the defects "
    "between windows. Left, before: centre of the box, windows started from the smoothed "
    "recording. Right, after: the most likely draw.",
}


TABLES = {"comparison": comparison.build, "table_1": paper.table_1, "table_2": paper.table_2}


def write_table_3(experiment: ExperimentConfig, metrics: str, stem: str) -> None:
    """Write Table III as CSV, Markdown and LaTeX."""
    paper.table_3(read_metrics(metrics), experiment.paper_table).write(stem)


def write_tables(
    experiment: ExperimentConfig, metrics: str, folder: str, rollouts: int | None = None
) -> None:
    """Write every table as CSV, Markdown and LaTeX.

    Args:
        metrics: the experiment's metrics, or the course of them if ``rollouts`` is given.
        rollouts: cut the course at so many roll-outs.
    """
    if rollouts is None:
        table = read_metrics(metrics)
    else:
        table = at_rollouts(read_metrics(metrics, COURSE_COLUMNS), rollouts)
    for name, build in TABLES.items():
        build(table, experiment.paper_table).write(Path(folder) / name)


class StartLine(NamedTuple):
    """Errors with smoothed and with fitted start states."""

    label: str
    values: tuple[str, ...]
    sentence: str


def start_lines(metrics: pd.DataFrame) -> list[StartLine]:
    """Compare errors with smoothed and with fitted start states, run by run."""
    lines = []
    names = ("rmse_train", "rmse_train_fitted_start", "rmse", "rmse_fitted_start")
    for (method, shooting), group in metrics.groupby(["method", "shooting"], sort=False):
        medians = group.groupby("metric")["value"].median()
        values = tuple(float(medians.get(name, np.nan)) for name in names)
        label = run_label(str(method), str(shooting))
        if np.isfinite(values[2]) and np.isfinite(values[3]) and values[2] > 0:
            share = 1 - (values[3] / values[2]) ** 2
            sentence = (
                f"{label}: the start state alone accounts for {100 * max(share, 0):.0f} % of the "
                "squared held-out error."
            )
        else:
            sentence = f"{label}: not computed."
        shown = tuple(number(round(v, 6)) if np.isfinite(v) else "n/a" for v in values)
        lines.append(StartLine(label, shown, sentence))
    return lines


def write_report(
    experiment: ExperimentConfig,
    *,
    metrics: str,
    trajectories: str,
    posteriors: Sequence[str],
    figures: Sequence[str],
    output: str,
) -> None:
    """Write the report.

    Args:
        posteriors: posterior files of all runs and seeds.
        figures: PNG files; ``<kind>.png`` or ``<method>/<shooting>/seed<k>/<kind>.png``.
    """
    table = read_metrics(metrics)
    comparison_table = comparison.build(table, experiment.paper_table)
    several = len({run.method for run in experiment.runs}) > 2
    data = read_dataset(trajectories)
    _, space = build_simulator(experiment.simulator)
    truth = known_truth(experiment.simulator)
    frames = data.sizes["time"]
    context: dict[str, Any] = {
        "title": experiment.title,
        "description": experiment.description,
        "notes": experiment.notes,
        "comparison": comparison_table,
        "tables": [
            ("Table I", paper.table_1(table, experiment.paper_table)),
            ("Table II", paper.table_2(table, experiment.paper_table)),
        ]
        * several
        + [("Table III", paper.table_3(table, experiment.paper_table))]
        * bool((table["method"] == "bayessim").any()),
        "agreement": paper.agreement(table) if experiment.paper_table else [],
        "published": experiment.paper_table,
        "seeds": table["seed"].nunique(),
        "start_lines": start_lines(table),
        "truth_known": truth is not None,
        "rate": experiment.recording.rate_hz,
        "settings": _setting_lines(experiment),
        "posteriors": [],
        "provenance": [],
        "data_lines": [
            {
                "split": str(data["split"].values[i]),
                "run": int(data["run"].values[i]),
                "first": int(data["first_frame"].values[i]),
                "last": int(data["first_frame"].values[i]) + frames,
                "sha256": str(data["sha256"].values[i]),
            }
            for i in range(data.sizes["trajectory"])
        ],
    }
    for path in posteriors:
        root, history = read_dataset(path).attrs, read_dataset(path, "history")
        label = run_label(root["method"], root["shooting"])
        context["provenance"].append(
            {
                **{key: root[key] for key in ("seed", "device", "versions", "fingerprint")},
                "label": label,
                "seconds": f"{float(history['seconds'].values[-1]):.1f}",
            }
        )
        if root["seed"] == experiment.seeds[0]:
            draws = read_draws(path, space)
            context["posteriors"].append(
                {
                    "label": f"{label}, seed {root['seed']}",
                    "lines": parameter_lines(space, draws, truth),
                    "summary": _posterior_summary(path, len(draws)),
                }
            )
    write_text(output, render(context, [_picture(path) for path in figures]))


def _posterior_summary(path: str, count: int) -> str:
    root, history = read_dataset(path).attrs, read_dataset(path, "history")
    stats, convergence = read_dataset(path, "sample_stats"), read_dataset(path, "convergence")
    if root["method"] == "bayessim":
        return (
            f"{count} draws of a density learned from {int(history['rollouts'].values[-1])} "
            f"simulations; {root['rejected']} draws outside the limits were rejected, "
            f"{root['moved_to_limits']} moved to them after too many tries."
        )
    text = (
        f"{count} {root['sample_kind']} after {history.sizes['iteration']} iterations and "
        f"{int(history['rollouts'].values[-1])} roll-outs; {int(stats['diverging'].sum())} "
        f"diverging; largest defect of the median draw {float(stats['max_defect'].median()):.2g} "
        "in scaled state units."
    )
    if root["ended"] == "time":
        text += " Ended by its time limit, with what it had."
    if "r_hat" in convergence:
        r_hat, size = (convergence[name].values for name in ("r_hat", "ess_bulk"))
        text += f" Largest R-hat {np.max(r_hat):.3g}, smallest effective size {np.min(size):.3g}."
        if not np.max(r_hat) < 1.05:
            text += " The chains have not mixed: read these draws as where they were, no more."
    return text


def _setting_lines(experiment: ExperimentConfig) -> list[dict[str, str]]:
    return [
        {
            "label": run_label(run.method, run.shooting),
            "settings": ", ".join(f"{key} = {value}" for key, value in run.settings.items())
            or "defaults",
            "chosen": run.chosen,
        }
        for run in experiment.runs
    ]


def _picture(path: str) -> Picture:
    parts = path.removesuffix(".png").split("/")
    kind = parts[-1]
    if len(parts) >= 5 and parts[-2].startswith("seed"):
        seed = parts[-2].removeprefix("seed")
        title = f"{kind.capitalize()}: {run_label(parts[-4], parts[-3])}, seed {seed}"
    else:
        title = kind.replace("bayessim_", "BayesSim: ")
        title = title[0].upper() + title[1:]
    return Picture(title, CAPTIONS[kind.removeprefix("bayessim_")], path)
