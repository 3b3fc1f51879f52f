"""Stage ``summarise``: tables and the HTML report of an experiment."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pdsim.config import ExperimentConfig
from pdsim.figures.style import run_label
from pdsim.files import read_dataset, write_text
from pdsim.posterior import read_draws
from pdsim.report.page import Picture, parameter_lines, render
from pdsim.simulator import build_simulator, known_truth
from pdsim.stages.evaluate import read_metrics
from pdsim.tables import comparison

CAPTIONS = {
    "convergence": "Left: how far the median particle is from the best value any run with the same "
    "shooting reached. Middle: the gaps between shooting windows, which should end small, since a "
    "window fit with gaps is no trajectory. Right: particles whose roll-out was not finite.",
    "landscape": "Brighter is likelier, by rank. Left, one long roll-out: ridges and traps. Right, "
    "ten windows from the smoothed recording: one slope towards the truth (star).",
    "density": "Blue: where the roll-outs of all draws go from the smoothed start state. Dashed: "
    "the recording. Left, the window that was fitted; right, the held-out window of median error.",
    "posterior": "Dots are draws, histograms their marginals, dashed lines the limits of the "
    "prior. Below the diagonal the axes span the prior, above it (grey) they are zoomed to the "
    "draws. Free motion fixes ratios of masses and inertias only, so narrow ridges are expected.",
    "windows": "Each window simulated from its own start state (dot); red bars are the defects "
    "between windows. Left, before: centre of the box, windows started from the smoothed "
    "recording. Right, after: the most likely draw.",
}


def write_tables(experiment: ExperimentConfig, metrics: str, stem: str) -> None:
    """Write the comparison table as CSV, Markdown and LaTeX."""
    comparison.write(read_metrics(metrics), experiment.paper_table, stem)


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
        shown = tuple(comparison.number(round(v, 6)) if np.isfinite(v) else "n/a" for v in values)
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
    columns, rows = comparison.build(table, experiment.paper_table)
    data = read_dataset(trajectories)
    _, space = build_simulator(experiment.simulator)
    truth = known_truth(experiment.simulator)
    frames = data.sizes["time"]
    context: dict[str, Any] = {
        "title": experiment.title,
        "description": experiment.description,
        "notes": experiment.notes,
        "columns": columns,
        "rows": rows,
        "reasons": comparison.reasons(columns, rows),
        "published": experiment.paper_table,
        "seeds": len(experiment.seeds),
        "start_lines": start_lines(table),
        "truth_known": truth is not None,
        "rate": experiment.recording.rate_hz,
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
        root = read_dataset(path).attrs
        stats, history = read_dataset(path, "sample_stats"), read_dataset(path, "history")
        label = run_label(root["method"], root["shooting"])
        draws = read_draws(path, space)
        context["provenance"].append(
            {
                **{key: root[key] for key in ("seed", "device", "versions", "fingerprint")},
                "label": label,
                "seconds": f"{float(history['seconds'].values[-1]):.1f}",
            }
        )
        defect, outside = (
            float(value) for value in (stats["max_defect"].median(), stats["limit_violation"].max())
        )
        summary = (
            f"{len(draws)} {root['sample_kind']} after {history.sizes['iteration']} iterations; "
            f"{int(stats['diverging'].sum())} diverging; largest defect of the median particle "
            f"{defect:.2g} in scaled state units; largest step outside the box before the last "
            f"projection {outside:.2g} of its width."
        )
        context["posteriors"].append(
            {
                "label": f"{label}, seed {root['seed']}",
                "lines": parameter_lines(space, draws, truth),
                "summary": summary,
            }
        )
    write_text(output, render(context, [_picture(path) for path in figures]))


def _picture(path: str) -> Picture:
    parts = path.removesuffix(".png").split("/")
    kind = parts[-1]
    if len(parts) >= 5 and parts[-2].startswith("seed"):
        seed = parts[-2].removeprefix("seed")
        title = f"{kind.capitalize()}: {run_label(parts[-4], parts[-3])}, seed {seed}"
    else:
        title = kind.capitalize()
    return Picture(title, CAPTIONS[kind], path)
