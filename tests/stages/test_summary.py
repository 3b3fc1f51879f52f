"""The four lines after a fit, of results that all stages made."""

import pandas as pd

from pdsim.experiment.load import load_experiment
from pdsim.report.summary import summary
from pdsim.tables.verdicts import COVERAGE, of_coverage


def test_four_lines_of_the_run_that_is_objected_to_least(tiny):
    experiment = load_experiment(tiny / "tiny.yaml")
    found, predicts, believe, following = summary(experiment, tiny, "quick")
    label = found.removeprefix("Found (").split(")")[0]
    (run,) = (i.run for i in experiment.identities() if i.label == label)
    # The combinations of a free double pendulum, over G1.
    assert "J1_over_G1" in found
    table = pd.read_csv(tiny / "metrics.csv").set_index(["run", "metric"])["value"]
    covered = table[run, COVERAGE]
    assert f"covers {covered:.3g}" in predicts
    assert "RMSE of the predictive median" in predicts
    assert of_coverage(covered) in believe
    assert following.startswith("Next: ")
    assert following.endswith(".")
    for other in experiment.runs:
        assert other.identity.label in believe or other.identity.run == run


def test_what_was_asked_for_is_told_first(tiny):
    experiment = load_experiment(tiny / "tiny.yaml")
    asked = experiment.model_copy(update={"combinations": {"ratio": "link_1/link_2"}})
    found = summary(asked, tiny, "quick")[0]
    assert found.index("ratio ") < found.index("J1_over_G1")
