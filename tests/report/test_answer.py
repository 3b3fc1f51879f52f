"""The summary in sentences: each branch, on numbers that are made up."""

import numpy as np
import pytest

from pdsim.inference.identity import Identity
from pdsim.preflight.findings import Findings
from pdsim.report.advice import advice, advice_sentence
from pdsim.report.answer import Stretch, answers, asked, error, found
from pdsim.report.belief import NO, UNKNOWN, YES, answer, belief, ranked
from pdsim.report.numbers import ParameterLine
from pdsim.report.together import TogetherLine
from pdsim.report.trust import DISTANCE, ERRORS, TrustLine
from pdsim.tables.layout import Cell
from pdsim.tables.verdicts import COVERAGE, INTERVAL, Verdict, of_distance, of_run

CHAINS = Identity("nuts_marginal", "nuts", "marginal")
PARTICLES = Identity("csvgd_marginal", "csvgd", "marginal")
FIT = Identity("least_squares_marginal", "least_squares", "marginal")
PLAIN = Identity("svgd_single", "svgd", "single")
QUIET = Findings(0.1, {}, (), 0.0)
ENOUGH = "Nothing that was measured asks for more data"


def line(identity, reference=None, **values):
    """A run with these numbers and the verdicts that follow from them."""
    names = {"covered": COVERAGE, "apart": DISTANCE, "low": INTERVAL[0], "high": INTERVAL[1],
             "missed": ERRORS[0]}  # fmt: skip
    cells = {names.get(name, name): Cell(value) for name, value in values.items()}
    verdicts = of_run(cells)
    if reference is not None:
        verdicts = of_distance(cells[DISTANCE].value, reference.cells) + verdicts
    return TrustLine(identity.label, verdicts, "", identity, cells)


MIXED = line(CHAINS, r_hat=1.004, covered=0.91, missed=0.02)
STUCK = line(CHAINS, r_hat=1.3, covered=0.91, missed=0.02)


def parameter(name="mass", limits="1 … 2", lower=0.0, upper=0.0, width=0.1):
    return ParameterLine(name, "kg", limits, "1", "1", "2", lower, upper, "", False, width)


def told(lines, reference="nuts_marginal", parameters=(), findings=QUIET):
    """Remedies for the run that comes first."""
    order = ranked(lines, reference)
    return advice(order[0] if order else None, lines, reference, parameters, findings)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([Verdict("calibrated", good=True)], YES),
        ([Verdict("calibrated", good=True), Verdict("not mixed")], NO),
        ([Verdict("not checked on predictions", good=None)], UNKNOWN),
    ],
)
def test_what_is_believed_is_what_no_rule_objects_to(verdicts, expected):
    assert answer(TrustLine("a", verdicts, "")) == expected


def test_the_reference_comes_first_among_equals_and_least_squares_last():
    fit, particles = line(FIT, covered=0.9), line(PARTICLES, covered=0.9, pareto_k=0.1)
    unchecked, narrow = line(PLAIN), line(PLAIN, covered=0.5)
    order = ranked([narrow, fit, unchecked, particles, MIXED], "nuts_marginal")
    assert order == [MIXED, particles, fit, unchecked, narrow]


def test_a_run_is_believed_for_what_was_measured_alone():
    (text,) = belief([MIXED], None)
    assert text == (
        "NUTS, marginal shooting: its chains have mixed (R-hat 1) and its 90 % band covers 0.91 of "
        "what was held out."
    )
    (text,) = belief([line(PARTICLES, covered=0.9, pareto_k=0.3)], None)
    assert "outweigh the others (Pareto k 0.3)" in text
    assert "R-hat" not in text
    (text,) = belief([line(FIT, covered=0.9, r_hat=np.nan)], None)
    assert "it predicts" not in text
    (text,) = belief([line(FIT, covered=0.9)], None)
    assert text.startswith("LEAST SQUARES, marginal shooting, in what it predicts:")
    assert "Nothing that was measured tells whether its draws are a posterior" in text


def test_others_are_told_with_their_distance_or_with_what_is_against_them():
    near = line(PARTICLES, MIXED, covered=0.9, apart=0.3)
    far = line(PLAIN, MIXED, covered=0.9, apart=40.0)
    first, second, third = belief([near, far, MIXED], "nuts_marginal")
    assert first.startswith("NUTS, marginal shooting:")
    assert second == (
        "The rules have nothing against CSVGD, marginal shooting (0.3 deviations from the "
        "reference) either."
    )
    assert third == "They object to SVGD, single shooting (far from the reference 40)."
    several = [line(Identity(f"run_{i}", "svgd", "single"), covered=0.1) for i in range(6)]
    (_, text) = belief([MIXED, *several], None)
    assert text.startswith("The rules object to run 0 (too narrow 0.1); run 1 (too narrow 0.1);")
    assert text.endswith("and 3 more, below.")
    best, _ = belief([near, line(CHAINS, r_hat=1.0, covered=0.5)], "nuts_marginal")
    assert "its draws are 0.3 deviations from those of the reference, NUTS" in best


def test_a_reference_that_has_not_mixed_vouches_for_nothing():
    near = line(PARTICLES, STUCK, covered=0.9, apart=0.3)
    first, _ = belief([near, STUCK], "nuts_marginal")
    assert "Nothing that was measured" in first
    assert "deviations" not in first
    unmeasured = line(CHAINS, covered=0.5)
    assert "deviations" not in belief([near, unmeasured], "nuts_marginal")[0]


def test_no_run_that_can_be_believed_is_said_so():
    (text,) = belief([STUCK, line(PLAIN, covered=0.2, r_hat=2.0)], None)
    assert text.startswith("No run is to be believed; least is said against NUTS, marginal")
    assert "not mixed 1.3, although it is calibrated 0.91" in text
    (text,) = belief([line(CHAINS, r_hat=1.01)], None)
    assert text.startswith("Whether to believe NUTS, marginal shooting is not known")
    assert "although its chains have mixed (R-hat 1.01)" in text
    assert "nothing tells which one to believe" in belief([], None)[0]


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ([STUCK], "a larger budget for NUTS, marginal shooting: R-hat is 1.3, and 1.05 or less"),
        ([line(CHAINS, r_hat=np.nan)], "R-hat is not known"),
        ([line(PARTICLES, pareto_k=0.9, covered=0.9)], "Pareto k is 0.9, so a few draws may"),
        ([line(PLAIN, MIXED, covered=0.9, apart=7.0)], "draws are 7 deviations from the reference"),
        ([line(PLAIN, covered=0.6)], "shorter windows (window_count), or a model with what is"),
        ([line(PLAIN, covered=0.99)], "more of the recording in train: the 90 % band covers 0.99"),
        ([line(CHAINS, r_hat=1.01)], "held-out recordings and a section prediction"),
        ([line(PLAIN, covered=0.9, low=0.7, high=0.97)], "may cover 0.7 to 0.97"),
        ([line(PARTICLES, covered=0.9, apart=0.1), STUCK], "for the reference, NUTS, marginal"),
    ],
)
def test_each_verdict_has_its_remedy(lines, word):
    assert word in "; ".join(told(lines)), told(lines)


def test_a_truth_outside_asks_for_more_data_sets():
    outside = MIXED._replace(verdicts=[Verdict("truth outside the 90 % region", "rank 0.97")])
    assert "one time in ten" in told([outside])[0]


def test_a_posterior_at_a_limit_asks_for_another_one():
    at = [parameter(upper=0.2), parameter("friction", "0 … 1", lower=0.5, upper=0.04)]
    (text,) = told([MIXED], parameters=at)
    assert text == "wider limits: 20 % of the draws are at the upper limit of mass, 2"
    (text,) = told([MIXED], parameters=[parameter(lower=0.06)])
    assert "lower limit of mass, 1" in text
    # Draws that nothing vouches for say nothing of limits.
    for one in (line(PLAIN, covered=0.9), line(CHAINS, r_hat=1.3, covered=0.9)):
        assert "limits" not in "; ".join(told([one], None, at))


def test_what_keeps_the_prior_s_width_asks_for_more_data():
    (text,) = told([MIXED], parameters=[parameter(), parameter("inertia", width=0.8)])
    assert text.endswith("where single parameters matter: inertia keeps 80 % of the prior's width")
    wide = [parameter(f"p{i}", width=0.6 + 0.1 * i) for i in range(6)]
    (text,) = told([MIXED], parameters=wide)
    assert text.endswith("p0, p1, p2, p3 and 2 more keep 60 % of the prior's width or more")


def test_what_was_known_before_has_its_remedy_too():
    rough = Findings(3.0, {}, ("little is seen of a", "nothing is seen of b alone"), 0.25)
    step, motion, limits = told([MIXED], findings=rough)
    assert step.startswith("a finer step (substeps): its error is 3 times")
    assert motion == (
        "another motion, or one of them fixed, as the recordings leave this open: nothing is seen "
        "of b alone"
    )
    assert limits == "narrower limits: 25 % of the prior cannot be simulated"
    assert told([], findings=rough) == [step, motion, limits]
    assert told([MIXED], findings=Findings(np.inf, {}, (), 0.25)) == [limits]
    # Of what cannot be, no limits need to be drawn otherwise.
    assert told([MIXED], findings=Findings(0.1, {}, (), 0.0, 0.5)) == []


def test_no_more_than_three_remedies_are_told_and_none_if_there_is_none():
    rough = Findings(3.0, {}, ("nothing is seen of b alone",), 0.25)
    assert len(told([line(CHAINS, r_hat=1.3, covered=0.2)], findings=rough)) == 3
    assert told([MIXED], findings=None) == []
    assert advice_sentence([]).startswith(ENOUGH)
    assert advice_sentence(["more data", "less"]) == "More data; less."


def test_what_was_asked_is_told_with_what_was_held_out():
    train = [Stretch("a", 1.0, held_out=False), Stretch("b", 1.0, held_out=False)]
    test = [Stretch("c", 0.5, held_out=True), Stretch("c", 0.75, held_out=True)]
    text = asked("oscillator", ["stiffness", "damping"], [*train, *test])
    assert text == (
        "2 parameters of the system oscillator: stiffness, damping. Learned from 2 recordings "
        "(2 s); 2 stretches of 1 recording (1.2 s) of which nothing was learned were held out."
    )
    text = asked("oscillator", list("abcdefgh"), train[:1])
    assert "8 parameters of the system oscillator: a, b, c, d, e, f and 2 more." in text
    assert text.endswith("nothing was kept to check predictions on.")
    text = asked("oscillator", ["mass"], [*train, Stretch("a", 1.0, held_out=True)])
    assert "1 parameter of" in text
    assert text.endswith("1 recording (1 s), in part the same ones, was held out.")


RATIO = TogetherLine("mass/length", "kg/m", "0.9", "1", "1.1", "", 0.03, 0.7)


def test_what_was_found_is_told_with_what_was_not():
    wide = [parameter(f"p{i}", width=0.9 + 0.01 * i) for i in range(7)]
    text = found([parameter(), *wide], [RATIO])
    assert text == (
        "Known together: mass/length = 1 (0.9 to 1.1) kg/m, 0.03 of the prior's spread where its "
        "parameters alone keep 0.7 or more. Known alone, the best first: mass = 1 (1 to 2) kg. "
        "Not determined by themselves, with the share of the prior's width that is left: p0 (0.9), "
        "p1 (0.91), p2 (0.92), p3 (0.93), p4 (0.94), p5 (0.95) and 1 more."
    )
    assert found([parameter(width=np.nan)], []) == ""


@pytest.mark.parametrize(("best", "told"), [(MIXED, True), (STUCK, False), (None, False)])
def test_what_was_found_is_told_of_draws_that_no_rule_objects_to(best, told):
    lines = [best] if best else []
    every = answers(
        system="oscillator", names=["mass"], stretches=[], lines=lines, best=best, reference=None,
        unit="m", parameters=[parameter()], together=[RATIO], findings=QUIET,
    )  # fmt: skip
    questions = [one.question for one in every]
    assert ("Found" in questions) == told
    assert questions[-2:] == ["How far off", "Next"]


def test_the_error_is_told_beside_that_of_least_squares():
    fit = line(FIT, covered=0.8, missed=0.03)
    text = error(MIXED, [MIXED, fit], "rad")
    assert "NUTS, marginal shooting misses held-out recordings by 0.02 rad after the seen" in text
    assert text.endswith("; least squares by 0.03 rad.")
    assert "least squares" not in error(fit, [MIXED, fit], "rad").lower().split("(rmse")[1]
    assert "each quantity over its spread" in error(MIXED, [MIXED], "-")
    plain = line(PLAIN, rmse_median=0.5)
    assert "by 0.5 m from estimated start states" in error(plain, [plain], "m")
    assert error(line(PLAIN), [], "m") == error(None, [], "m") == "Not measured."
    assert error(MIXED, [MIXED], "rad", held_out=False).startswith("Not known")
