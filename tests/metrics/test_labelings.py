"""Alike bodies: how draws name them, and what the report says of it."""

import numpy as np

from pdsim.metrics.labelings import labelings, remark
from pdsim.parameters import Parameter, ParameterSpace
from pdsim.stages.report import labeling_text

PAIRS = (("weight1_x", "weight1_y"), ("weight2_x", "weight2_y"))
PLACES = np.array([[0.1, 0.0], [-0.1, 0.0]])
SPACE = ParameterSpace(
    tuple(Parameter(name, -0.14, 0.14, "m", sets=(name,)) for pair in PAIRS for name in pair)
)


def test_draws_are_counted_by_the_labeling_they_are_nearest_to():
    near = PLACES + 0.01
    draws = np.stack([near, near, near[::-1], near])
    assert labelings(draws, PLACES).tolist() == [0.75, 0.25]
    assert remark(np.array([0.75, 0.25])) == "labelings 75 / 25 %"
    assert remark(np.array([1.0, 0.0])) == "labelings 100 / 0 %, 1 lost"


def test_the_report_says_when_a_labeling_is_lost():
    truth = PLACES.ravel()
    both = np.stack([truth, PLACES[::-1].ravel()])
    assert labeling_text(PAIRS, SPACE, both, truth) == (
        " Alike bodies can be named in 2 ways; draws by labelings 50 / 50 %."
    )
    assert "1 lost. A complete posterior" in labeling_text(PAIRS, SPACE, both[:1], truth)
    assert labeling_text((), SPACE, both, truth) == labeling_text(PAIRS, SPACE, both, None) == ""
