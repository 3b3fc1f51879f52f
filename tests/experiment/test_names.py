"""Names and folders that could be commands, paths or something else are refused."""

import pytest
from experiment_files import write

from pdsim.experiment.load import load_experiment
from pdsim.experiment.workflow import workflow_config
from pdsim.runtime.errors import PdsimError

BAD_NAMES = ("a;touch x", "$(touch x)", "../up", "", "a b", "-rf", ".hidden", "a/b", "a\nb")
NAMED = {
    "run": lambda values, name: values["runs"][0].update(name=name),
    "budget": lambda values, name: values["budgets"].update({name: values["budgets"]["quick"]}),
    "parameter": lambda values, name: values["simulator"]["parameters"].update(
        {name: {"lower": 0.0, "upper": 1.0, "unit": "N m s", "sets": ["friction_1"]}}
    ),
    "window": lambda values, name: values["recording"]["train"][0].update(name=name),
}


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("what", NAMED)
def test_names_that_could_be_commands_or_paths_are_refused(tmp_path, demo, what, name):
    NAMED[what](demo, name)
    with pytest.raises(PdsimError, match="a name holds letters, digits"):
        load_experiment(write(tmp_path, demo))


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize(
    "values",
    [
        lambda name: {"groups": {name: ["demo"]}},
        lambda name: {"groups": {"demo": [name]}},
        lambda name: {"groups": {"demo": ["demo"]}, "budget": name},
        lambda name: {"groups": {"demo": ["demo"]}, "experiment": f"/folder/{name}.yaml"},
    ],
    ids=["group", "experiment of a group", "budget", "experiment"],
)
def test_the_workflow_s_names_are_refused_alike(values, name):
    named = values(name)
    if "experiment" in named and "/" in name:
        # A path, of a file with a name that is allowed.
        assert set(workflow_config(named, "config/config.yaml").files()) == {name.split("/")[-1]}
        return
    with pytest.raises(PdsimError, match="a name holds letters, digits"):
        workflow_config(named, "config/config.yaml")


@pytest.mark.parametrize("name", ["draw", "seconds", "chain", "snapshot", "rollouts"])
def test_parameters_cannot_have_the_names_of_dimensions(tmp_path, demo, name):
    parameters = demo["simulator"]["parameters"]
    parameters[name] = parameters.pop("link_1")
    demo["landscape"] = None
    with pytest.raises(PdsimError, match=f"a parameter cannot be called '{name}'"):
        load_experiment(write(tmp_path, demo))


@pytest.mark.parametrize("key", ["results", "ibm_dir"])
@pytest.mark.parametrize(
    ("folder", "words"),
    [("", "a folder has a name"), ("  ", "a folder has a name"), ("../out", "'..' is not allowed")],
)
def test_folders_that_lead_elsewhere_are_refused(key, folder, words):
    values = {"groups": {"demo": ["demo"]}, key: folder}
    with pytest.raises(PdsimError, match=rf"config/config\.yaml: {key}: {words}"):
        workflow_config(values, "config/config.yaml")


def test_folders_may_begin_at_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    settings = workflow_config({"groups": {}, "results": "~/out"}, "config/config.yaml")
    assert settings.results == "/home/someone/out"


def test_an_experiment_anywhere_is_run_alone(tmp_path):
    values = {"groups": {"demo": ["demo"]}, "experiment": str(tmp_path / "mine.yaml")}
    settings = workflow_config(values, "config/config.yaml")
    assert settings.chosen() == {"mine": ("mine",)}
    assert settings.files() == {"mine": str(tmp_path / "mine.yaml")}
    values["experiment"] = str(tmp_path / "demo.yaml")
    with pytest.raises(PdsimError, match="'demo' is the name of config/experiments"):
        workflow_config(values, "config/config.yaml")


@pytest.mark.parametrize("folder", ["a{b}", "a<b>c", "-x", "..", "a/../b", " "])
def test_folders_that_would_be_misread_are_refused(folder):
    with pytest.raises(PdsimError, match=r"config\.yaml: results"):
        workflow_config({"groups": {}, "results": folder}, "config/config.yaml")


@pytest.mark.parametrize("name", ["trajectories.nc", "metrics.csv", "report.html", "Figures"])
def test_a_run_is_not_called_as_what_stands_beside_it(tmp_path, demo, name):
    demo["runs"][0]["name"] = name
    with pytest.raises(PdsimError, match="has a meaning of its own in results"):
        load_experiment(write(tmp_path, demo))


def test_runs_that_differ_in_case_alone_are_one(tmp_path, demo):
    demo["runs"][0]["name"], demo["runs"][1]["name"] = "Mine", "mine"
    with pytest.raises(PdsimError, match="'mine' is there twice"):
        load_experiment(write(tmp_path, demo))
