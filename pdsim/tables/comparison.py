"""The comparison table: one row per run, one column per metric."""

import pandas as pd

from pdsim.tables.layout import Cell, Column, Metric, Row, Table, mark_best, medians
from pdsim.tables.published import DOUBLE_PENDULUM

METRICS = (
    Metric("kl_real_sim", "KL(real‖sim) [nat]", "low"),
    Metric("kl_sim_real", "KL(sim‖real) [nat]", "low"),
    Metric("mmd", "MMD² [-]", "low"),
    Metric("log_likelihood", "log likelihood [nat]", "high"),
    Metric("rmse", "RMSE held-out [rad]", "low"),
    Metric("rmse_train", "RMSE training [rad]", "low"),
    Metric("energy_score", "energy score [-]", "low"),
    Metric("coverage_90", "coverage of 90 % band [-]"),
    Metric("parameter_kl_true_posterior", "KL(true‖posterior) of parameters [nat]", "low"),
    Metric("parameter_kl_posterior_true", "KL(posterior‖true) of parameters [nat]", "low"),
    Metric("parameter_mmd", "MMD² of parameters [-]", "low"),
    Metric("credible_rank", "credible rank of truth [-]"),
    Metric("r_hat", "largest R-hat [-]"),
    Metric("ess_bulk", "smallest effective sample size"),
    Metric("lost_rollouts", "lost roll-outs"),
    Metric("diverging", "diverging draws"),
    Metric("rollouts_used", "roll-outs used"),
    Metric("gradients_used", "gradients used"),
    Metric("seconds", "time [s]"),
)


def _label(method: str, shooting: str) -> str:
    return f"bayessim {shooting}" if method == "bayessim" else f"{method} ({shooting} shooting)"


def build(metrics: pd.DataFrame, published: bool) -> Table:
    """Arrange an experiment's metrics.

    Args:
        metrics: long table, see ``pdsim.stages.evaluate``.
        published: add the paper's numbers as rows.

    Returns:
        The metrics that occur, and the runs; "best" compares our runs only.
    """
    shown = [metric for metric in METRICS if (metrics["metric"] == metric.key).any()]
    runs = medians(metrics, [metric.key for metric in shown])
    for metric in shown:
        if metric.best:
            mark_best([(cells, metric.key) for cells in runs.values()], metric.best == "low")
    rows = []
    for (method, shooting), cells in runs.items():
        rows.append(Row(_label(method, shooting), cells))
        if published and (method, shooting) in DOUBLE_PENDULUM:
            printed = DOUBLE_PENDULUM[method, shooting]
            cells = {key: Cell(value, published=True) for key, value in printed.items()}
            rows.append(Row(f"{_label(method, shooting)}, published", cells))
    return Table([Column(metric.key, metric.heading) for metric in shown], rows, "run")
