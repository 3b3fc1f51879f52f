import json

import jsonschema
import pytest
import yaml

from pdsim.config.experiment import load_experiment, schemas, workflow_config
from pdsim.runtime.errors import PdsimError
from pdsim.config.reference import config_readme

EXPERIMENTS = (
    "demo",
    "synthetic",
    "modes_product",
    "modes_sum",
    "ibm_published",
    "ibm_calibrated",
    "ibm_chaotic",
)


@pytest.fixture
def demo(root):
    return yaml.safe_load((root / "config/experiments/demo.yaml").read_text())


def write(tmp_path, values):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_shipped_experiments_are_valid_and_match_the_schema(root, name):
    path = root / f"config/experiments/{name}.yaml"
    load_experiment(path)
    schema = json.loads(schemas()["experiment.schema.json"])
    jsonschema.validate(yaml.safe_load(path.read_text()), schema)


def test_the_workflow_s_config_is_valid(root):
    values = yaml.safe_load((root / "config/config.yaml").read_text())
    jsonschema.validate(values, json.loads(schemas()["config.schema.json"]))
    settings = workflow_config(values, "config/config.yaml")
    assert set(settings.groups) == {"demo", "synthetic", "modes", "two_lengths", "pendulum"}


def test_generated_files_are_up_to_date(root):
    """Run `pdsim schema` after a change of pdsim/config.py."""
    for name, text in schemas().items():
        assert (root / "config/schema" / name).read_text() == text, name
    assert (root / "config/README.md").read_text() == config_readme()


def set_at(values, path, value):
    *parents, last = path
    for key in parents:
        values = values[key]
    values[last] = value


LINK = ("simulator", "parameters", "link_1")
MISTAKES = {
    "misspelt key": (("likelihood", "windw_count"), 3, ["windw_count", "'window_count'"]),
    "misspelt key of a parameter": ((*LINK, "lowr"), 0.5, ["link_1.lowr", "'lower'"]),
    "misspelt key in a list": (("runs", 0, "shoting"), "single", ["runs.0.shoting", "'shooting'"]),
    "misspelt key of a budget": (
        ("budgets", "quick", "particle_cuont"),
        9,
        ["budgets.quick.particle_cuont", "'particle_count'"],
    ),
    "misspelt key of an optional section": (
        ("recording", "camera", "pixels_per_meter"),
        100.0,
        ["camera.pixels_per_meter", "'pixels_per_metre'"],
    ),
    "limits exchanged": ((*LINK, "lower"), 9.0, ["link_1", "9.0", "below upper"]),
    "log scale at zero": (
        LINK,
        {"lower": 0.0, "upper": 1.0, "unit": "m", "scale": "log", "sets": ["length"]},
        ["link_1", "lower > 0"],
    ),
    "wrong unit": ((*LINK, "unit"), "cm", ["link_1.unit", "'m'", "'cm'", "convert"]),
    "unknown system parameter": ((*LINK, "sets"), ["lenght"], ["'lenght'", "'length'"]),
    "unknown system": (("simulator", "system"), "pendulum", ["simulator.system", "'pendulum'"]),
    "unknown fixed parameter": (("simulator", "fixed"), {"mass": 1.0}, ["fixed.mass", "mass_"]),
    "estimated and fixed": (("simulator", "fixed"), {"length": 1.0}, ["fixed.length", "estimated"]),
    "set twice": (
        ("simulator", "parameters", "link_2", "sets"),
        ["length"],
        ["link_2", "'link_1'"],
    ),
    "unknown method": (("runs", 0, "method"), "svdg", ["runs.0.method", "'svdg'"]),
    "svgd with windows": (("runs", 0, "shooting"), "multiple", ["csvgd"]),
    "window outside the run": (
        ("recording", "test", 0),
        {"run": 1, "frames": [200, 600]},
        ["frame_count", "440"],
    ),
    "training data held out": (
        ("recording", "test", 0),
        {"run": 0, "frames": [20, 420]},
        ["in train and in test"],
    ),
    "windows of different length": (
        ("recording", "test", 0),
        {"run": 1, "frames": [20, 400]},
        ["one length"],
    ),
    "no noise": (("likelihood", "noise_relative"), None, ["noise or noise_relative"]),
    "noise of a channel missing": (
        ("likelihood",),
        {"noise": {"q0": 0.1}},
        ["likelihood.noise", "dq1"],
    ),
    "even filter": (("recording", "smoothing", "frames"), 20, ["must be odd", "20"]),
    "landscape without truth": ((*LINK, "truth"), None, ["landscape", "link_1"]),
    "not a number": ((*LINK, "upper"), "wide", ["link_1.upper", "'wide'"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_file_key_and_remedy(tmp_path, demo, mistake):
    key, value, words = MISTAKES[mistake]
    set_at(demo, key, value)
    path = write(tmp_path, demo)
    with pytest.raises(PdsimError) as error:
        load_experiment(path)
    for word in (str(path), *words):
        assert word in str(error.value)


def test_a_missing_key_is_named(tmp_path, demo):
    del demo["recording"]["rate_hz"]
    with pytest.raises(PdsimError, match=r"recording\.rate_hz: this key is missing"):
        load_experiment(write(tmp_path, demo))


def test_broken_yaml_and_missing_files_are_named(tmp_path):
    path = tmp_path / "mine.yaml"
    with pytest.raises(PdsimError, match=r"mine\.yaml: cannot be read"):
        load_experiment(path)
    path.write_text("title: [unclosed")
    with pytest.raises(PdsimError, match=r"mine\.yaml: not valid YAML"):
        load_experiment(path)


def test_an_unknown_budget_is_named(root):
    experiment = load_experiment(root / "config/experiments/demo.yaml")
    with pytest.raises(PdsimError, match="there are: quick, paper"):
        experiment.budget("huge")


def test_inference_options_hold_what_inference_uses_and_no_more(root):
    """The truth, the title and another estimator's settings must not rerun inference."""
    experiment = load_experiment(root / "config/experiments/demo.yaml")
    options = experiment.inference_options("svgd", "single", experiment.budget("quick"))
    assert set(options) == {"simulator", "likelihood", "estimator", "budget", "precision"}
    assert "truth" not in json.dumps(options)
    assert "defect_scale" not in options["estimator"]
