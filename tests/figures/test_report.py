"""The report of small results; beside the figures' tests, whose files it reads."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from figures.conftest import ESTIMATORS, SECTIONS, TRUTH, VARIANTS
from figures.pages import PREFLIGHT, write_page

from pdsim.inference.identity import Identity
from pdsim.metrics.long_format import COLUMNS
from pdsim.preflight.findings import Findings, Preflight
from pdsim.report.numbers import noise_text, parameter_lines, prior_draws
from pdsim.report.trust import trust_lines
from pdsim.runtime.files import write_dataset
from pdsim.stages.report import _optimum_summary
from pdsim.systems.config import PosteriorOf


class Page(HTMLParser):
    """Texts, ids and links of a page, and that its tags are closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words, self.ids, self.links = [], [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "img"):
            self.open.append(tag)
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        if tag == "a":
            assert values["href"].startswith("#")
            self.links.add(values["href"][1:])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("a", "script", "style"):
            self.words.append(data)


@pytest.fixture
def written(tmp_path):
    """Return what writes a report of some files, and returns its text without tags."""

    def write(files, preflight=PREFLIGHT, **changes):
        text = write_page(files, tmp_path, preflight, **changes).read_text()
        assert text.count("data:image/png;base64,") == 3
        assert text.count("data:image/gif;base64,") == 1
        page = Page(text)
        assert len(set(page.ids)) == len(page.ids)
        assert page.links <= set(page.ids)
        return " ".join(" ".join(page.words).split())

    return write


def test_the_report_has_every_run_with_its_name_and_numbers(held_out, written):
    text = written(held_out)
    for identity in (*ESTIMATORS, *VARIANTS):
        assert f"{identity.label}, seed 0" in text
    words = ("Two <links>", "Friction & <wear>.", "Table I", "Table II", "Table III", "jax=0")
    for word in (*words, "RMSE held-out [rad]", "held out: all draws [rad]", "have not mixed"):
        assert word in text
    assert "Density: csvgd gradient, seed 0" in text
    assert "BayesSim: densities" in text
    assert "accounts for" not in text
    for refuted in ("asks for values outside the prior's box, or", "coverage should be 0.9"):
        assert refuted not in text


def test_the_report_says_what_its_numbers_do_not_tell(held_out, written):
    text = written(held_out)
    for word in ("not distinguishable", "need not cover 0.9", "says nothing about the recording",
                 "NEWCOMER, single shooting (not mixed)", "no run is marked in them",
                 "MMD² of a perfect simulator", "evaluates once to start"):  # fmt: skip
        assert word in text, word


def test_the_report_names_where_recordings_come_from(held_out, written):
    text = written(held_out)
    assert "training shake 0 20:80 raw/<0>.csv 0000000000000000…" in text
    assert "held out shake 2 wide_$wing 20:65 raw/<0>.csv" in text
    assert "0.02 s between frames (50 Hz)" in text


def test_the_report_says_whose_posterior_the_prior_is(held_out, written):
    earlier = PosteriorOf(experiment="swings", run="nuts_marginal", seed=2)
    simulator = SECTIONS["simulator"].model_copy(update={"prior_from": earlier})
    text = written(held_out, simulator=simulator)
    said = "sought in swings too has the posterior of its run nuts_marginal, seed 2, as its prior"
    assert said in text


def test_the_report_tells_what_was_known_before_it_ran(held_out, written):
    text = written(held_out)
    assert "changes what is simulated by 0.02 times the sensors' noise ." in text
    assert "would tell every parameter" in text
    assert "svgd_single 12,345 0.1 0.4" in text
    open_text = "nothing is seen of link_1 alone"
    rough = Findings(3.0, {}, (open_text,), 0.25, 0.5)
    text = written(held_out, preflight=Preflight(rough, "", {}))
    assert "3 times the sensors' noise : the error of the step passes for something" in text
    assert f"were the model exact: {open_text}" in text
    assert "25 % cannot be simulated" in text
    assert "50 % of the prior's box are no system that can be" in text
    text = written(held_out, preflight=Preflight(None, "no position was measured", {}))
    assert "Nothing could be told: no position was measured." in text


def test_combinations_are_shown_where_the_system_knows_them(held_out, written):
    text = written(held_out)
    assert text.count("combination unit 5 % median 95 % meaning") == 1
    assert "ratio m/m" in text
    assert "A single parameter need not be determined" in text


def test_what_was_asked_for_comes_first(trusted, written):
    text = written(
        trusted, combinations={"reach": "link_1 + link_2 [cm]", "share": "link_1/link_2"}
    )
    head = text[: text.index("Whom to trust")]
    first, second = (head.index(word) for word in ("reach = link_1 + link_2 [cm]", "share ="))
    assert first < second
    # The draws of the first run that are there have its prior beside them, those of others not.
    svgd = head[head.index("SVGD, single shooting", first) :].split("CSVGD")[0]
    low, median, high = (
        f"{100 * value:.4g}"
        for value in np.quantile(np.linspace(2.4, 2.6, 24) + 0.9 * SPREAD, [0.05, 0.5, 0.95])
    )
    assert f"{low} {median} {high}" in svgd
    assert "What was asked for" not in written(trusted)


def test_the_summary_stands_above_the_verdicts(trusted, written):
    text = written(trusted)
    head = text[text.index("In short") : text.index("Whom to trust")]
    asked, believed, missed, following = (
        head.index(word) for word in ("Asked 2 par", "To be believed", "How far off", "Next")
    )
    assert asked < believed < missed < following
    assert "No run is to be believed; least is said against SVGD, single shooting" in head
    assert "misses held-out recordings by 0.2 rad" in head
    assert "shorter windows (window_count)" in head


def test_without_a_test_set_nothing_is_called_held_out(training_only, written):
    text = written(training_only).replace("-", " ").lower()
    assert "held out" not in text
    assert "no recording was kept from the estimation" in text
    assert "training: all draws [rad]" in text


SPREAD = np.linspace(0.5, 5.0, 24)
FIT = Identity("least_squares_marginal", "least_squares", "marginal")
CHAINS = Identity("nuts_marginal", "nuts", "marginal")
SVGD = ESTIMATORS[0]


def long_table(values):
    """A long table from identity → metric → value over seeds."""
    rows = [
        ("e", *identity, seed, metric, value, "")
        for identity, metrics in values.items()
        for metric, seeds in metrics.items()
        for seed, value in enumerate(seeds)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"value": float})


def test_a_report_without_predictions_passes_no_verdicts(held_out, written):
    text = written(held_out)
    for word in ("Whom to trust", "calibrated 0.", "too narrow", "Scores from the prefix",
                 "width over the prior", "not determined", "The sensors scatter"):  # fmt: skip
        assert word not in text, word


def test_each_run_is_told_in_numbers_and_words():
    thirds = {f"prefix_coverage_90_{name}": (0.9,) for name in ("first", "second", "third")}
    table = long_table(
        {
            FIT: {"prefix_coverage_90": (0.7,), "prefix_rmse_median": (0.4,),
                  "prefix_rmse_geometric": (0.5,)},
            CHAINS: {
                "prefix_coverage_90": (0.9,), **thirds, "prefix_rmse_median": (0.3,),
                "prefix_rmse_geometric": (0.6,),
                "r_hat": (1.01, 1.2), "ess_bulk": (300.0, 9.0),
                "reference_wasserstein": (0.08,), "credible_rank": (0.5, 0.97),
            },
            Identity("csvgd_marginal", "csvgd", "marginal"): {
                "pareto_k": (0.3,), "reference_wasserstein": (0.2,), "rmse_median": (0.5,),
            },
            SVGD: {"rmse_median": (1.0,), "coverage_90": (0.3,), "credible_rank": (1.0,)},
        }
    )  # fmt: skip
    fit, chains, particles = trust_lines(
        table, "rad", reference="nuts_marginal", agreeing={FIT.run: [0.9, 0.75]}
    )
    assert [verdict.word for verdict in fit.verdicts] == ["too narrow"]
    assert "RMSE of the predictive median 0.4 rad. 75 % of its starts agree" in fit.text
    assert [(verdict.word, verdict.value) for verdict in chains.verdicts] == [
        ("not mixed", "1.2"),
        ("calibrated", "0.9"),
        ("truth outside the 90 % region", "1 of 2 seeds"),
    ]
    for words in ("covers 0.9 (first / second / last third of the horizon: 0.9 / 0.9 / 0.9)",
                  "0.3 rad; that of least squares 0.4 (the first over the second, recording by "
                  "recording: 1.2 in the geometric mean).", "R-hat 1.2, smallest bulk effective sample "
                  "size 9.", "Its draws are the reference; distance of its other seeds 0.08"):  # fmt: skip
        assert words in chains.text
    assert [verdict.word for verdict in particles.verdicts] == ["not checked on predictions"]
    assert "Pareto k of its weights 0.3." in particles.text
    assert (
        "Distance to the reference, NUTS, marginal shooting (not mixed): 0.2 of its deviations; "
        "other seeds of the reference: 0.08." in particles.text
    )


def test_a_reference_without_other_seeds_says_so():
    table = long_table({CHAINS: {"r_hat": (1.0,)}, FIT: {"reference_wasserstein": (0.3,)}})
    chains, fit = trust_lines(table, "m", reference="nuts_marginal")
    assert chains.text == "Largest R-hat 1. Its draws are the reference."
    assert fit.text.endswith("0.3 of its deviations; no other seed of it was run.")


@pytest.mark.parametrize(
    ("away", "r_hat", "words"),
    [(8.0, 1.01, ["far from the reference", "calibrated"]), (0.8, 1.01, ["calibrated"]),
     (8.0, 1.4, ["calibrated"])],
)  # fmt: skip
def test_right_coverage_does_not_hide_draws_that_are_no_posterior(away, r_hat, words):
    """A reference that has not mixed says nothing of others."""
    table = long_table(
        {
            CHAINS: {"r_hat": (r_hat,)},
            SVGD: {"reference_wasserstein": (away,), "prefix_coverage_90": (0.9,)},
        }
    )
    told = trust_lines(table, "rad", reference="nuts_marginal")[-1]
    assert [verdict.word for verdict in told.verdicts] == words


@pytest.fixture
def trusted(held_out, tmp_path):
    """The files with predictions of one run, whose posterior has its prior and noise."""
    run, metrics = ESTIMATORS[0], pd.read_csv(held_out.metrics)
    more = long_table(
        {run: {"prefix_coverage_90": (0.6, 0.6), "prefix_rmse_median": (0.2, 0.2),
               "credible_rank": (0.97, 0.3)}}
    )  # fmt: skip
    pd.concat([metrics, more.assign(experiment="two_links")]).to_csv(
        tmp_path / "metrics.csv", index=False
    )
    with xr.open_datatree(held_out.posterior[run], engine="netcdf4") as tree:
        tree = tree.load()
    links, spread = tree["posterior"].dataset, SPREAD[None]
    dims = ("chain", "draw")
    near = np.linspace(1.4, 1.6, 24)[None]
    sensor = np.linspace(0.001, 0.003, 24)[None]
    groups = {
        "posterior": links.assign(
            link_1=(dims, near + 1.0, links["link_1"].attrs),
            link_2=(dims, 0.9 * spread, links["link_2"].attrs),
        ),
        "prior": links.assign(link_1=(dims, spread), link_2=(dims, spread)),
        "noise": xr.Dataset(
            {
                "sensor_q0": (dims, sensor, {"units": "rad"}),
                "sensor_q1": (dims, 2 * sensor, {"units": "rad"}),
                "process_dq0": (dims, 10 * sensor, {"units": "rad/s"}),
                "process_correlation": (dims, 100 * sensor, {"units": "-"}),
            }
        ),
    }
    tree = tree.assign({name: xr.DataTree(group) for name, group in groups.items()})
    tree.attrs["config"] = '{"likelihood": {"window_count": 5}}'
    write_dataset(str(tmp_path / "posterior.nc"), tree)
    posterior = held_out.posterior | {run: str(tmp_path / "posterior.nc")}
    return held_out._replace(metrics=str(tmp_path / "metrics.csv"), posterior=posterior)


def test_the_report_leads_with_verdicts_and_flags_what_is_off(trusted, written):
    text = written(trusted, reference="svgd_single")
    head = text[text.index("Whom to trust") : text.index("All runs")]
    assert "SVGD, single shooting too narrow 0.6 truth outside the 90 % region 1 of 2 seeds" in head
    assert "CSVGD" not in head.split("fixed rules")[0]
    assert text.index("Whom to trust") < text.index("Result")
    part = text[text.index("SVGD, single shooting, seed 0") :]
    part = part[: part.index("seed 0", 40)]
    assert "truth outside the 90 % region rank 0.97" in part
    assert part.index("combination unit") < part.index("parameter unit")
    assert part.count("outside the 90 % interval") == 1
    assert part.count("not determined by this recording") == 1
    assert "Scores from the prefix come first" in text
    assert "0.6 too narrow" in text[text.index("All runs") :]
    assert (
        "The sensors scatter by 0.002 (0.0011 to 0.0029) rad in q0 and 0.004 (0.0022 to 0.0058) "
        "rad in q1; the model misses by 0.02 (0.011 to 0.029) rad/s in dq0 per window of 0.24 s, "
        "with a correlation of 0.2 (0.11 to 0.29) from one window to the next." in part
    )


def test_a_parameter_as_wide_as_half_its_prior_is_not_determined(simulator):
    space, level = simulator.space, np.linspace(0, 1, 101)[:, None]
    prior = 0.5 + 4.5 * level * np.ones(2)
    draws = 0.5 + 4.5 * np.hstack([0.499 * level, 0.501 * level])
    first, second = parameter_lines(space, draws, TRUTH, prior)
    assert (first.determined, second.determined) == (True, False)
    assert first.width == pytest.approx(0.499, rel=1e-4)
    assert [line.outside for line in (first, second)] == [False, False]
    assert [line.outside for line in parameter_lines(space, draws, np.array([4.0, 2.0]))] == [
        True,
        False,
    ]
    (unknown, _) = parameter_lines(space, draws, None)
    assert np.isnan(unknown.width)
    assert unknown.determined


def test_files_without_prior_or_noise_tell_neither(held_out, simulator):
    path = held_out.posterior[SVGD]
    assert prior_draws(path, simulator.space) is None
    assert noise_text(path, 0.1) == ""


@pytest.mark.parametrize(
    ("agreeing", "below", "said", "not_said"),
    [
        (0.9, 1.0, "90 % of its starts", "optima"),
        (0.2, 1.0, "other optima", "not Gaussian"),
        (1.0, 500.0, "500 nats below the optimum, where a Gaussian's lie 1:", "optima"),
        (1.0, np.nan, "not Gaussian", "optima"),
    ],
)
def test_an_optimum_s_summary_says_what_its_draws_are_worth(agreeing, below, said, not_said):
    history = xr.Dataset(
        {"agreeing": ("iteration", [0.1, agreeing]), "log_likelihood_best": ("iteration", [3, 7.0])}
    )
    stats = xr.Dataset({"log_likelihood": ("draw", [7.0 - below] * 4)})
    text = _optimum_summary(history, stats, parameters=2)
    assert said in text
    assert not_said not in text
