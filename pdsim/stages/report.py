"""Stage ``report``: everything known of an experiment to one HTML page."""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pdsim import registry
from pdsim.experiment.slices import Report
from pdsim.figures.figure import whose
from pdsim.inference.identity import Identity
from pdsim.metrics.long_format import read_metrics
from pdsim.parameters.labelings import columns_of, labelings, named_alike, remark
from pdsim.parameters.space import ParameterSpace
from pdsim.posterior import read_draws
from pdsim.preflight.findings import read_preflight
from pdsim.recordings.trajectories import is_test, known_truth, select, true_places, window_length
from pdsim.report.answer import Stretch, answers
from pdsim.report.asked import asked_lines
from pdsim.report.belief import ranked
from pdsim.report.numbers import (
    ParameterLine,
    next_prior_text,
    noise_text,
    parameter_lines,
    prior_draws,
    quantile_lines,
    recordings_lines,
    single_text,
    start_lines,
)
from pdsim.report.page import Picture, render
from pdsim.report.together import TogetherLine, together_lines
from pdsim.report.trust import agreeing_starts, trust_lines
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset, write_text
from pdsim.systems.simulator import Simulator, build_simulator
from pdsim.tables import comparison, paper
from pdsim.tables.layout import MIXED, holds_out, medians, mixing
from pdsim.tables.verdicts import COVERAGE, RELIABLE_K, of_truth, of_weights

# Figures that are called by their initials.
_SHORT = ("pit", "sbc")
# What the draws of a posterior file are, in words.
_KINDS = {"iid": "independent draws", "mcmc": "draws of Markov chains"}
# Draws this many nats below the best, for each parameter, are not those of a Gaussian.
_FEW_NATS = 3.0


def write_report(
    options: Report,
    *,
    metrics: str,
    trajectories: str,
    posteriors: Sequence[str],
    preflight: str,
    figures: Sequence[str],
    output: str,
) -> None:
    """Write the report.

    Args:
        preflight: what the stage of that name wrote.
        posteriors: posterior files of all runs and seeds.
        figures: pictures, ``figures/<kind>.<suffix>`` or ``<run>/seed<k>/<kind>.<suffix>``.
    """
    table, unit, published = read_metrics(metrics), options.unit, options.paper_table
    data = read_dataset(trajectories)
    simulator = build_simulator(options.simulator)
    space = simulator.space
    truth = known_truth(data, space)
    places = true_places(data, space, options.exchangeable)

    def parameters(path: str) -> list[ParameterLine]:
        draws = named_alike(read_draws(path, space), options.exchangeable, space.names, places)
        return parameter_lines(space, draws, truth, prior_draws(path, space))

    roots = {path: read_dataset(path).attrs for path in posteriors}
    identities = {identity.run: identity for identity in map(whose, roots.values())}
    trust = trust_lines(
        table,
        unit,
        reference=options.reference,
        agreeing=agreeing_starts(roots),
    )
    before = read_preflight(preflight)
    vouched = [
        identity
        for identity, cells in medians(table, ("r_hat", "pareto_k")).items()
        if not mixing(cells) and not of_weights(cells)
    ]
    first = {whose(root).run: path for path, root in _first_seed(roots, options)}
    order = [one for one in ranked(trust, options.reference) if one.identity.run in first]
    best = order[0] if order else None
    context: dict[str, Any] = {
        "title": options.title,
        "description": options.description,
        "notes": options.notes,
        "answers": answers(
            system=options.simulator.system,
            names=space.names,
            stretches=_stretches(data),
            lines=trust,
            best=best,
            reference=options.reference,
            unit=unit,
            parameters=parameters(first[best.identity.run]) if best else [],
            together=_together(first[best.identity.run], simulator, truth) if best else [],
            combinations=quantile_lines(first[best.identity.run], "combinations") if best else [],
            findings=before.findings,
        ),
        "trust": ranked(trust, options.reference),
        "preflight": before,
        "predicted": bool((table["metric"] == COVERAGE).any()),
        "comparison": comparison.build(table, published, unit),
        "tables": _paper_tables(options, table) if holds_out(table) else [],
        "agreement": paper.agreement(table, published) if published else [],
        "published": published,
        "seeds": table["seed"].nunique(),
        "unit": unit,
        "holds_out": bool(is_test(data).any()),
        "start_lines": start_lines(table),
        "truth_known": truth is not None,
        "meanings": {name: one.meaning for name, one in simulator.system.parameters.items()},
        "combination_meanings": simulator.system.combination_meanings,
        "frame_time": float(data.attrs["frame_time"]),
        "settings": _setting_lines(options, identities),
        "next_prior": next_prior_text(options.simulator),
        "asked": [
            {
                "label": whose(root).label,
                "lines": asked_lines(
                    options.combinations,
                    simulator,
                    read_draws(path, space),
                    prior_draws(path, space),
                    truth,
                ),
            }
            for path, root in _first_seed(roots, options)
            if options.combinations
        ],
        "posteriors": [
            {
                "label": f"{whose(root).label}, seed {root['seed']}",
                "lines": parameters(path),
                "compared": prior_draws(path, space) is not None,
                "together": _together(path, simulator, truth) if whose(root) in vouched else [],
                "combinations": quantile_lines(path, "combinations"),
                "single": [
                    line for line in quantile_lines(path, "single") if line.name != "effective"
                ],
                "single_text": single_text(path),
                "recordings": recordings_lines(path),
                "noise": noise_text(path, _window(root, data)),
                "truth": of_truth(_ranks(table, root)),
                "summary": _posterior_summary(path, root)
                + labeling_text(
                    options.exchangeable,
                    space,
                    read_draws(path, space),
                    places,
                    filled_in=bool(root.get("filled_in", 0)),
                ),
            }
            for path, root in _first_seed(roots, options)
        ],
        "provenance": [
            {
                **{key: root[key] for key in ("seed", "device", "versions", "fingerprint")},
                "label": whose(root).label,
                "seconds": f"{float(read_dataset(path, 'history')['seconds'].values[-1]):.1f}",
            }
            for path, root in roots.items()
        ],
        "data_lines": _data_lines(data),
    }
    write_text(output, render(context, [_picture(path, identities) for path in figures]))


def _first_seed(roots: Mapping[str, Mapping[Any, Any]], options: Report) -> list[tuple[str, Any]]:
    """Posterior files of the first seed, with their attributes."""
    return [(path, root) for path, root in roots.items() if root["seed"] == options.seeds[0]]


def _together(path: str, simulator: Simulator, truth) -> list[TogetherLine]:
    space = simulator.space
    return together_lines(simulator, read_draws(path, space), prior_draws(path, space), truth)


def _stretches(data: xr.Dataset) -> list[Stretch]:
    """What was learned from and held out."""
    return [
        Stretch(str(run), (int(length) - 1) * float(data.attrs["frame_time"]), split == "test")
        for run, length, split in zip(
            data["run"].values, data["length"].values, data["split"].values, strict=True
        )
    ]


def _ranks(table: pd.DataFrame, root: Mapping[Any, Any]) -> list[float]:
    """Credible rank of the truth in one posterior; none where it is not known."""
    own = (table["run"] == whose(root).run) & (table["seed"] == root["seed"])
    return list(table[own & (table["metric"] == "credible_rank")]["value"])


def _window(root: Mapping[Any, Any], data: xr.Dataset) -> float | None:
    """Duration of a shooting window of the training recordings [s]; None if it is not known."""
    count = json.loads(root.get("config", "{}")).get("likelihood", {}).get("window_count")
    if count is None:
        return None
    return window_length(select(data, "train").sizes["time"], count) * data.attrs["frame_time"]


def _paper_tables(options: Report, table) -> list[tuple[str, Any]]:
    """The paper's tables that have more to say than the comparison."""
    unit, published = options.unit, options.paper_table
    found = []
    # The paper knows no marginal shooting.
    if len({run.method for run in options.runs if run.identity.shooting != "marginal"}) > 2:
        found.append(("Table I", paper.table_1(table, published, unit)))
        found.append(("Table II", paper.table_2(table, published, unit)))
    if (table["method"] == "bayessim").any():
        found.append(("Table III", paper.table_3(table, published, unit)))
    return found


def _data_lines(data: xr.Dataset) -> list[dict[str, str]]:
    lines = []
    for i in range(data.sizes["trajectory"]):
        one = {
            name: str(data[name].values[i])
            for name in ("split", "run", "segment", "source", "sha256")
        }
        first, length = int(data["first_frame"].values[i]), int(data["length"].values[i])
        split = "held out" if one["split"] == "test" else "training"
        lines.append(one | {"split": split, "frames": f"{first}:{first + length}"})
    return lines


def _posterior_summary(path: str, root: Mapping[Any, Any]) -> str:
    history, stats = read_dataset(path, "history"), read_dataset(path, "sample_stats")
    convergence = read_dataset(path, "convergence")
    identity, count = whose(root), stats["log_likelihood"].size
    rollouts = int(history["rollouts"].values[-1])
    if identity.method == "bayessim":
        return (
            f"{count} draws of a density learned from and checked on {rollouts} simulations; "
            f"{root['rejected']} draws outside the limits were rejected, "
            f"{root['moved_to_limits']} moved to them after too many tries."
        )
    kind = _KINDS.get(str(root["sample_kind"]), root["sample_kind"])
    text = (
        f"{count} {kind} after {history.sizes['iteration']} iterations and "
        f"{rollouts} roll-outs; {int(stats['diverging'].sum())} diverging."
    )
    if identity.shooting == "multiple":
        defect = float(stats["max_defect"].median())
        text += f" Median of the draws' largest defects: {defect:.2g} in scaled state units."
    if root["ended"] == "time":
        text += " Ended by its time limit, with what it had."
    if root["ended"] == "converged":
        text += " Ended when it had converged."
    if "agreeing" in history:
        text += _optimum_summary(history, stats, convergence.sizes["parameter"])
    if "r_hat" in convergence:
        r_hat, size = (convergence[name].values for name in ("r_hat", "ess_bulk"))
        if np.isnan(r_hat).any():
            text += " There are too few draws of each chain to tell whether the chains have mixed."
        else:
            text += (
                f" Largest R-hat {np.max(r_hat):.3g}, smallest effective size {np.min(size):.3g}."
            )
        if np.max(r_hat) > MIXED:
            text += " The chains have not mixed: read these draws as where they were, no more."
    if "pareto_k" in convergence:
        k = float(np.max(convergence["pareto_k"].values))
        text += f" Pareto k of the weights {k:.2g}."
        if not k <= RELIABLE_K:
            text += " A few samples outweigh all others: these draws stand for those few."
    return text


def labeling_text(
    pairs: Sequence[Sequence[str]],
    space: ParameterSpace,
    draws: np.ndarray,
    places: np.ndarray | None,
    *,
    filled_in: bool = False,
) -> str:
    """How the draws are spread over the ways to name alike bodies, where these are known to be.

    Args:
        filled_in: whether the run found one mode, and its mirror images were filled in.
    """
    if not pairs:
        return ""
    text = " In the table alike bodies have one naming in all draws."
    if places is None:
        return text
    shares = labelings(draws[:, columns_of(pairs, space.names)], places)
    text += f" They can be named in {len(shares)} ways; draws by {remark(shares)}."
    if filled_in:
        text += " One was found, and the others are its mirror images."
    if (shares == 0).any():
        text += " A complete posterior has all of them in equal shares: this one is not."
    return text


def _optimum_summary(history: xr.Dataset, stats: xr.Dataset, parameters: int) -> str:
    """Whether the starts of least squares agree, and whether a Gaussian describes their optimum."""
    share = float(history["agreeing"].values[-1])
    text = f" {100 * share:.0f} % of its starts ended within one nat of the best."
    if share < 0.5:
        text += " There are other optima, of which these draws say nothing."
    best = float(history["log_likelihood_best"].max())
    lost = best - float(stats["log_likelihood"].median())
    # A Gaussian's draws lie M/2 nats below its top.
    if not lost < _FEW_NATS * parameters:
        text += (
            f" Half of the draws lie more than {lost:.3g} nats below the optimum, where a "
            f"Gaussian's lie {parameters / 2:.3g}: the likelihood is not Gaussian as far as they "
            "reach, and only the optimum is to be used."
        )
    return text


def _setting_lines(options: Report, known: Mapping[str, Identity]) -> list[dict[str, str]]:
    """Settings of the runs that there are posteriors of."""
    return [
        {
            "label": run.identity.label,
            "settings": ", ".join(f"{key} = {value}" for key, value in run.settings.items())
            or "defaults",
            "chosen": run.chosen,
        }
        for run in options.runs
        if run.identity.run in known
    ]


def _picture(path: str, identities: Mapping[str, Identity]) -> Picture:
    """A figure with the registry's caption; its path says what it is, and of which run."""
    place = PurePath(path)
    kind, folder = place.stem, place.parent
    if kind not in registry.NAMES["figures"]:
        raise PdsimError(f"{path}: is no figure of pdsim plot; name pictures that it drew")
    figure = registry.load("figures", kind).FIGURE
    title = kind.replace("bayessim_", "BayesSim: ").replace("_", " ")
    title = title.upper() if title in _SHORT else title[0].upper() + title[1:]
    if figure.of_each_run:
        run, seed = folder.parent.name, folder.name.removeprefix("seed")
        label = identities[run].label if run in identities else run
        title += f": {label}, seed {seed}"
    return Picture(title, figure.caption, path)
