"""The report of small results; beside the figures' tests, whose files it reads."""

import shutil
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from figures.conftest import ESTIMATORS, SECTIONS, VARIANTS

from pdsim.config.slices import Report
from pdsim.stages.report import _optimum_summary, write_report


class Page(HTMLParser):
    """The texts of a page, and that its tags are closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def written(tmp_path):
    """Return what writes a report of some files, and returns its text without tags."""

    def write(files, **changes):
        runs = [
            SimpleNamespace(identity=identity, method=identity.method, settings={"a": 1}, chosen="")
            for identity in ESTIMATORS
        ]
        values = {
            "title": "Two <links>",
            "description": "",
            "notes": ("Friction & <wear>.",),
            "simulator": SECTIONS["simulator"],
            "runs": runs,
            "seeds": (0,),
            "reference": None,
            "paper_table": True,
        } | changes
        assert {*values, "unit"} == set(Report.model_fields)
        png = tmp_path / "any.png"
        png.write_bytes(b"png")
        pictures = ["figures/convergence.png", "figures/bayessim_densities.png"]
        pictures += ["csvgd_gradient/seed0/density.png"]
        for path in pictures:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(png, tmp_path / path)
        write_report(
            SimpleNamespace(**values, unit="rad"),
            metrics=files.metrics,
            trajectories=files.trajectories,
            posteriors=[files.posterior[identity] for identity in (*ESTIMATORS, *VARIANTS)],
            figures=[str(tmp_path / path) for path in pictures],
            output=str(tmp_path / "report.html"),
        )
        text = (tmp_path / "report.html").read_text()
        assert text.count("data:image/png;base64,") == len(pictures)
        return " ".join(" ".join(Page(text).words).split())

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


def test_combinations_are_shown_where_the_system_knows_them(held_out, written):
    text = written(held_out)
    assert text.count("combination unit 5 % median 95 %") == 1
    assert "ratio m/m" in text
    assert "A single parameter need not be determined" in text


def test_without_a_test_set_nothing_is_called_held_out(training_only, written):
    text = written(training_only).replace("-", " ").lower()
    assert "held out" not in text
    assert "no recording was kept from the estimation" in text
    assert "training: all draws [rad]" in text


@pytest.mark.parametrize(
    ("agreeing", "below", "said", "not_said"),
    [
        (0.9, 1.0, "90% of its starts", "optima"),
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
