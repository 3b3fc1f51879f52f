import io

import numpy as np
import pandas as pd
import pytest

from pdsim.experiment.slices import Table as Slice
from pdsim.inference.identity import Identity
from pdsim.metrics.long_format import COLUMNS, LEARNING_CURVE_COLUMNS
from pdsim.runtime.markdown import markdown
from pdsim.stages.table import write_table_3, write_tables
from pdsim.tables import comparison, paper
from pdsim.tables.layout import Cell, Column, Row, Table, latex, medians
from pdsim.tables.verdicts import of_coverage, of_run, of_truth

SVGD = Identity("svgd_single", "svgd", "single")
CSVGD = Identity("csvgd_multiple", "csvgd", "multiple")
GRADIENT = Identity("csvgd_gradient", "csvgd", "multiple")
NEWCOMER = Identity("newcomer_multiple", "newcomer", "multiple")
MDN = Identity("bayessim_summary_mdn", "bayessim", "none")
RBF = Identity("bayessim_signature_mdrff_rbf", "bayessim", "none")


def metrics_of(**values):
    """A long table from run → metric → value over seeds; None is a missing value."""
    runs = {i.run: i for i in (SVGD, CSVGD, GRADIENT, NEWCOMER, MDN, RBF)}
    rows = [
        ("e", *runs[run], seed, metric, value, "collapsed" if value is None else "")
        for run, metrics in values.items()
        for metric, seeds in metrics.items()
        for seed, value in enumerate(seeds)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"value": float})


@pytest.fixture
def example():
    return metrics_of(
        svgd_single={"kl_real_sim": (5.0, 6.0), "mmd": (0.2, 0.2), "energy_score": (5.0, 6.0)},
        csvgd_multiple={
            "kl_real_sim": (3.0, 4.0), "mmd": (None, None), "energy_score": (3.0, 4.0),
        },
    )  # fmt: skip


@pytest.fixture
def twins(example):
    more = metrics_of(
        csvgd_gradient={"kl_real_sim": (2.0, 2.0), "mmd": (0.1, 0.1), "energy_score": (2.0, 2.0)},
        newcomer_multiple={"kl_real_sim": (1.0, 1.0)},
    )
    return pd.concat([example, more], ignore_index=True)


@pytest.fixture
def learned(twins):
    more = metrics_of(
        bayessim_summary_mdn={"kl_real_sim": (7.0,), "energy_score": (0.3,), "kept_loss": (0.2,)},
        bayessim_signature_mdrff_rbf={
            "kl_real_sim": (8.0,),
            "energy_score": (0.4,),
            "kept_loss": (0.1,),
        },
    )
    return pd.concat([twins, more], ignore_index=True)


def test_medians_are_those_of_each_run(twins):
    runs = medians(twins, ["kl_real_sim", "mmd"])
    assert list(runs) == [SVGD, CSVGD, GRADIENT, NEWCOMER]
    assert runs[CSVGD]["kl_real_sim"] == Cell(3.5, 3.0, 4.0)
    assert runs[CSVGD]["kl_real_sim"].spread == 0.5
    assert runs[GRADIENT]["kl_real_sim"] == Cell(2.0, 2.0, 2.0)
    assert np.isnan(Cell.of([2.0, np.nan]).spread)
    assert runs[CSVGD]["mmd"].reason == "collapsed"
    assert "mmd" not in runs[NEWCOMER]


def test_the_comparison_shows_spread_best_published_and_missing_values(example):
    table = comparison.build(example, published=True, unit="rad")
    assert [row.label for row in table.rows] == [
        "SVGD, single shooting",
        "SVGD, single shooting, published",
        "CSVGD, multiple shooting",
        "CSVGD, multiple shooting, published",
    ]
    text = table.markdown()
    assert "**3.5 ± 0.5**" in text
    assert "8804" in text
    assert "n/a" in text
    assert "CSVGD, multiple shooting, MMD² [-]: collapsed" in text
    assert r"\textbf{3.5 $\pm$ 0.5}" in table.latex()
    frame = pd.read_csv(io.StringIO(table.csv()), index_col="run")
    assert frame.loc["CSVGD, multiple shooting", "kl_real_sim"] == 3.5
    assert frame.loc["CSVGD, multiple shooting", "kl_real_sim lowest"] == 3.0
    assert frame.loc["CSVGD, multiple shooting", "kl_real_sim highest"] == 4.0


def test_every_run_has_a_row_of_the_comparison(learned):
    table = comparison.build(learned, published=True, unit="rad")
    assert [row.label for row in table.rows if "published" not in row.label] == [
        "SVGD, single shooting",
        "CSVGD, multiple shooting",
        "csvgd gradient",
        "NEWCOMER, multiple shooting",
        "BayesSim, summary mdn",
        "BayesSim, signature mdrff rbf",
    ]
    assert [row.label for row in table.rows].count("csvgd gradient, published") == 0
    assert not any(cell.best for row in table.rows for cell in row.cells.values())


@pytest.mark.parametrize("metric", ["kl_real_sim", "kl_sim_real", "mmd", "parameter_mmd"])
def test_no_run_is_best_in_a_metric_of_sets(metric):
    metrics = metrics_of(svgd_single={metric: (5.0, 6.0)}, csvgd_multiple={metric: (1.0, 2.0)})
    for table in (comparison.build(metrics, True, "rad"), paper.table_1(metrics, True, "rad"),
                  paper.table_2(metrics, True, "rad")):  # fmt: skip
        assert "**" not in table.markdown()


@pytest.mark.parametrize(
    ("one", "two", "marked"),
    [
        ((1.0, 2.0), (3.0, 4.0), True),
        ((1.0, 3.0), (2.9, 4.0), False),
        ((1.0,), (3.0,), False),
        ((1.0, 2.0), (3.0,), False),
        ((1.0, 2.0), (None, None), False),
    ],
)
def test_the_best_is_marked_only_beyond_the_spread_over_seeds(one, two, marked):
    metrics = metrics_of(svgd_single={"energy_score": one}, csvgd_multiple={"energy_score": two})
    rows = comparison.build(metrics, False, "rad").rows
    assert [row.cells["energy_score"].best for row in rows] == [marked, False]


@pytest.mark.parametrize(
    ("values", "remark"),
    [((1.01, 1.04), ""), ((1.01, 1.06), "not mixed"), ((None,), "mixing unknown")],
)
def test_chains_that_have_not_mixed_are_marked(values, remark):
    metrics = metrics_of(
        svgd_single={"rmse_median": (1.0,), "energy_score": (1.0,), "r_hat": values},
        csvgd_multiple={"rmse_median": (1.0,), "energy_score": (1.0,)},
    )
    table = comparison.build(metrics, False, "rad")
    assert [row.remark for row in table.rows] == [remark, ""]
    assert ("(" in table.markdown().splitlines()[2].partition(",")[2].partition("|")[0]) == bool(
        remark
    )
    first = paper.table_1(metrics, False, "rad")
    assert ("svgd (" in first.markdown()) == bool(remark)
    assert [row.label for row in first.rows][3] == "largest R-hat [-]"
    assert [row.remark for row in paper.table_2(metrics, False, "rad").rows if row.remark] == (
        [f"single: {remark}"] if remark else []
    )


def test_the_papers_tables_say_why_nothing_stands_in_them(example):
    metrics = metrics_of(newcomer_multiple={"energy_score": (1.0,)})
    for table in (paper.table_1, paper.table_2):
        assert "No run here has the paper's protocol" in table(metrics, True, "rad").markdown()
        assert "No run here" not in table(example, True, "rad").markdown()


def test_tables_say_what_mmd_a_perfect_simulator_has(example):
    floor = metrics_of(svgd_single={"mmd_perfect": (-0.0499, -0.0499)})
    metrics = pd.concat([example, floor], ignore_index=True)
    for table in (comparison.build(metrics, True, "rad"), paper.table_1(metrics, True, "rad"),
                  paper.table_2(metrics, True, "rad")):  # fmt: skip
        assert "is -0.0499 here" in table.markdown()


@pytest.mark.parametrize("unit", ["rad", "m", "-"])
def test_headings_have_the_unit_of_the_positions(unit):
    metrics = metrics_of(
        svgd_single={"rmse": (0.1,), "rmse_train": (0.1,), "rmse_fitted_start": (1.0,)}
    )
    headings = [c.heading for c in comparison.build(metrics, False, unit).columns]
    assert headings == [f"RMSE held-out [{unit}]", f"RMSE training [{unit}]"]
    assert f"RMSE of the median, held-out [{unit}], single" in [
        c.heading for c in paper.table_2(metrics, False, unit).columns
    ]


def test_without_a_test_set_no_column_speaks_of_one():
    metrics = metrics_of(svgd_single={"rmse": (None,), "mmd": (None,), "rmse_train": (0.1,)})
    table = comparison.build(metrics, published=True, unit="rad")
    assert [column.key for column in table.columns] == ["rmse_train"]
    assert not table.reasons()


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (0.849, "too narrow"), (0.85, "calibrated"), (0.95, "calibrated"), (0.951, "too wide"),
        (np.nan, ""),
    ],
)  # fmt: skip
def test_coverage_is_judged_by_fixed_limits(value, word):
    assert of_coverage(value) == word
    cells = {"prefix_coverage_90": Cell(value)}
    (verdict,) = of_run(cells)
    assert verdict.word == (word or "not checked on predictions")
    assert verdict.good is (None if not word else word == "calibrated")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({}, ["not checked on predictions"]),
        ({"r_hat": Cell(1.05), "pareto_k": Cell(0.7)}, ["not checked on predictions"]),
        ({"r_hat": Cell(1.02, 1.01, 1.051)}, ["not mixed"]),
        ({"pareto_k": Cell(0.6, 0.5, 0.701)}, ["weights unreliable"]),
        ({"pareto_k": Cell(np.nan), "r_hat": Cell(np.nan)}, ["mixing unknown", "weights unknown"]),
        ({"r_hat": Cell(2.0), "prefix_coverage_90": Cell(0.9)}, ["not mixed", "calibrated"]),
        # The band of plain roll-outs need not cover 0.9.
        ({"coverage_90": Cell(0.3)}, ["not checked on predictions"]),
    ],
)
def test_what_spoils_draws_comes_before_their_coverage(cells, words):
    assert [verdict.word for verdict in of_run(cells)] == words


@pytest.mark.parametrize(
    ("ranks", "value"),
    [
        ([], None), ([np.nan], None), ([0.9], None), ([0.901], "rank 0.901"),
        ([0.2, 0.95, 0.99], "2 of 3 seeds"),
    ],
)  # fmt: skip
def test_a_truth_is_flagged_outside_the_region(ranks, value):
    assert [verdict.value for verdict in of_truth(ranks)] == ([] if value is None else [value])


def test_scores_from_the_prefix_come_first_and_thirds_share_a_cell():
    thirds = dict(zip(("first", "second", "third"), (0.6, 0.7, 0.834), strict=True))
    scores = {f"prefix_coverage_90_{name}": (value,) * 2 for name, value in thirds.items()}
    more = {"energy_score": (1.0,), "rmse": (1.0,), "rmse_median": (1.0,), "coverage_90": (0.2,)}
    predicted = {"prefix_crps": (1.0,), "prefix_rmse_median": (0.3,)}
    narrow = scores | {"prefix_coverage_90": (0.70, 0.72)} | predicted | more
    right = {"prefix_coverage_90": (0.9, 0.9), "prefix_coverage_90_first": (None, None)}
    table = comparison.build(metrics_of(svgd_single=narrow, csvgd_multiple=right), True, "rad")
    assert [column.key for column in table.columns] == [
        "prefix_rmse_median", "prefix_coverage_90", "prefix_coverage_90_thirds", "prefix_crps",
        "energy_score", "rmse_median", "coverage_90", "rmse",
    ]  # fmt: skip
    lines = [row for row in table.rows if "published" not in row.label]
    assert [row.cells["prefix_coverage_90"].remark for row in lines] == ["too narrow", ""]
    text = table.markdown()
    assert "| 0.71 ± 0.01 (too narrow) | 0.6 / 0.7 / 0.83 |" in text
    assert text.count("first / second / third [-]: collapsed") == 1
    frame = pd.read_csv(io.StringIO(table.csv()), index_col="run")
    assert frame.loc["SVGD, single shooting", "prefix_coverage_90_third"] == 0.834
    assert "prefix_coverage_90_thirds" not in frame


def test_table_1_has_every_estimator_with_reasons_for_those_missing(example):
    table = paper.table_1(example, published=True, unit="rad")
    assert [column.heading for column in table.columns] == [
        "emcee", "cem", "sgld", "nuts", "svgd", "bayessim", "csvgd",
    ]  # fmt: skip
    rows = {row.label: row.cells for row in table.rows}
    ours, printed = rows["KL(real‖sim) [nat]"], rows["KL(real‖sim) [nat], published"]
    assert rows["energy score [-]"]["csvgd_multiple"].best
    assert printed["bayessim_single"].value == 8818.1830
    assert ours["bayessim_single"].reason == "no such run in this experiment"
    assert ours["csvgd_multiple"].value == 3.5
    assert rows["coverage of 90 % band [-]"]["svgd_single"].reason == "not computed"
    assert "bayessim: no such run" in table.markdown()


def test_a_second_run_of_a_kind_has_a_column_beside_the_published_one(twins):
    table = paper.table_1(twins, published=True, unit="rad")
    assert [column.heading for column in table.columns][-2:] == ["csvgd", "csvgd_gradient"]
    rows = {row.label: row.cells for row in table.rows}
    assert rows["energy score [-]"]["csvgd_gradient"].best
    assert rows["KL(real‖sim) [nat], published"]["csvgd_multiple"].value == 5204.5336
    assert "csvgd_gradient" not in rows["KL(real‖sim) [nat], published"]
    assert "newcomer" not in table.markdown()


def test_table_2_sets_single_beside_multiple_shooting(example):
    table = paper.table_2(example, published=True, unit="rad")
    rows = {row.label: row.cells for row in table.rows}
    ours, printed = rows["svgd / csvgd"], rows["svgd / csvgd, published"]
    assert ours["kl_real_sim single"].value == 5.5
    assert ours["kl_real_sim multiple"].value == 3.5
    assert ours["energy_score multiple"].best
    assert printed["kl_real_sim multiple"].value == 5204.5336
    # The paper gives this one as not available.
    assert np.isnan(rows["emcee, published"]["mmd multiple"].value)


def test_table_2_has_a_row_for_each_further_run(twins):
    table = paper.table_2(twins, published=True, unit="rad")
    assert [row.label for row in table.rows][-3:] == [
        "svgd / csvgd", "svgd / csvgd, published", "svgd / csvgd (csvgd_gradient)",
    ]  # fmt: skip
    last = table.rows[-1].cells
    assert last["energy_score multiple"].best
    assert "kl_real_sim single" not in last


def test_table_3_has_the_variants_and_csvgd(learned):
    table = paper.table_3(learned, published=True, unit="rad")
    assert [row.label for row in table.rows] == [
        "csvgd", "csvgd, published", "csvgd_gradient", "summary_mdn", "summary_mdn, published",
        "signature_mdrff_rbf", "signature_mdrff_rbf, published",
    ]  # fmt: skip
    assert paper.best_variant(learned) == RBF
    headings = {c.key: c.heading for c in paper.table_1(learned, True, "rad").columns}
    assert headings[RBF.run] == "bayessim (signature_mdrff_rbf)"


def test_agreement_with_the_paper_is_said_pair_by_pair(example):
    (sentence,) = paper.agreement(example)
    assert "of 1 pairs of runs, 1 are in the paper's order" in sentence
    (sentence,) = paper.agreement(example.assign(value=-example["value"]))
    assert "Against the paper: svgd before csvgd" in sentence
    level = example.assign(value=1.0 + 0.001 * example["seed"])
    assert "1 not distinguishable" in paper.agreement(level)[0]
    assert "1 not distinguishable" in paper.agreement(example[example["seed"] == 0])[0]


def test_names_are_escaped_where_they_are_written():
    assert (
        latex("csvgd_gradient & 5 % of {x}^2")
        == r"csvgd\_gradient \& 5 \% of \{x\}\textasciicircum{}2"
    )
    table = Table([Column("a", "a|b_c")], [Row("x_1", {"a": Cell(1.5, best=True)})], "run")
    assert r"x\_1 & \textbf{1.5} \\" in table.latex()
    assert r"a$|$b\_c" in table.latex()
    assert table.markdown().splitlines()[0] == r"| run | a\|b_c |"
    assert markdown(["a", "b"], [["1", "2|3"]]).splitlines()[-1] == r"| 1 | 2\|3 |"


def test_the_stage_writes_every_table_in_three_forms(learned, tmp_path):
    options = Slice(paper_table=True, unit="m")
    learned.to_csv(tmp_path / "metrics.csv", index=False)
    write_tables(options, str(tmp_path / "metrics.csv"), str(tmp_path / "tables"))
    write_table_3(options, str(tmp_path / "metrics.csv"), str(tmp_path / "tables/table_3"))
    names = {"comparison", "table_1", "table_2", "table_3"}
    found = {path.name for path in (tmp_path / "tables").iterdir()}
    assert found == {f"{name}{suffix}" for name in names for suffix in (".csv", ".md", ".tex")}


def test_tables_can_be_cut_at_a_number_of_roll_outs(tmp_path):
    rows = [
        ("e", *SVGD, 0, used, 0.1 * used, "kl_real_sim", 1000.0 / used, "") for used in (10, 20, 40)
    ]
    pd.DataFrame(rows, columns=list(LEARNING_CURVE_COLUMNS)).to_csv(
        tmp_path / "learning_curve.csv", index=False
    )
    options = Slice(paper_table=False, unit="rad")
    write_tables(options, str(tmp_path / "learning_curve.csv"), str(tmp_path), rollouts=30)
    frame = pd.read_csv(tmp_path / "comparison.csv", index_col="run")
    assert frame.loc["SVGD, single shooting", "kl_real_sim"] == 50.0


def test_the_arm_with_the_box_has_the_log_likelihood_beside_the_published_one():
    rows = [
        ("e", *SVGD, 0, "log_likelihood", -3.0, ""),
        ("e", "csvgd_multiple", "csvgd", "multiple", 0, "log_likelihood", -2.0, ""),
    ]
    metrics = pd.DataFrame(rows, columns=list(COLUMNS))
    table = paper.table_1(metrics, published="panda", unit="m")
    cells = {row.label: row.cells for row in table.rows}
    assert cells["log likelihood [nat]"]["csvgd_multiple"].value == -2.0
    printed = cells["log likelihood [nat], published"]
    assert printed["csvgd_multiple"].value == -15.1671
    assert printed["emcee_single"].value == -16.1185
    assert not any("KL" in label for label in cells)
