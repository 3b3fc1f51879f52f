import json
import time

import jsonschema
import pytest
import yaml
from experiment_files import write

from pdsim.draft.text import flow
from pdsim.experiment.load import load_any, load_experiment
from pdsim.experiment.reference import config_readme, schemas
from pdsim.experiment.slices import slice_of
from pdsim.experiment.workflow import check_file, workflow_config
from pdsim.runtime.errors import PdsimError
from pdsim.settings.messages import read_yaml

EXPERIMENTS = (
    "demo",
    "synthetic",
    "modes_product",
    "modes_sum",
    "ibm_published",
    "ibm_calibrated",
    "ibm_chaotic",
    "two_lengths",
    "trusted_calibrated",
    "trusted_chaotic",
    "trusted_pendubot",
    "trusted_box",
    "trusted_box_weights",
    "pendubot",
    "pendubot_urdf",
    "panda_log",
    "panda_box_empty",
    "panda_box_weights",
    "panda_box_weights_joint",
    "loop_exact",
    "loop_exact_6",
    "loop_realistic",
    "loop_bias",
    "loop_mismatch",
    "loop_posterior",
    "calibration_oscillator",
    "calibration_pendulum",
    "quadrotor_circle",
    "quadrotor_near",
    "payload",
    "payload_length",
    "quadrotor_samples",
    "cart_pole_rail",
    "cart_pole",
    "cart_pole_identified",
)


def test_every_shipped_experiment_is_tested(root):
    shipped = {path.stem for path in (root / "config/experiments").glob("*.yaml")}
    assert shipped == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_shipped_experiments_are_valid_and_match_the_schema(root, name):
    path = root / f"config/experiments/{name}.yaml"
    load_any(path)
    schema = json.loads(schemas()["experiment.schema.json"])
    jsonschema.validate(yaml.safe_load(path.read_text()), schema)


def test_the_workflow_s_config_is_valid(root):
    values = yaml.safe_load((root / "config/config.yaml").read_text())
    jsonschema.validate(values, json.loads(schemas()["config.schema.json"]))
    settings = workflow_config(values, "config/config.yaml")
    groups = {"demo", "synthetic", "modes", "two_lengths", "pendulum", "pendubot"}
    groups |= {"estimators", "trusted", "robots", "panda", "loop", "control"}
    assert set(settings.groups) == groups


def test_generated_files_are_up_to_date(root):
    """Run `pdsim schema` after a change of a config section."""
    for name, text in schemas().items():
        assert (root / "config/schema" / name).read_text() == text, name
    assert (root / "config/README.md").read_text() == config_readme()


def test_noise_that_is_not_stated_is_a_tenth_of_the_spread(tmp_path, demo):
    del demo["likelihood"]["noise_relative"]
    assert load_experiment(write(tmp_path, demo)).likelihood.share == 0.1
    demo["likelihood"] = {"noise": {"q0": 0.1, "q1": 0.1, "dq0": 0.1, "dq1": 0.1}}
    load_experiment(write(tmp_path, demo))


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


def test_a_budget_may_take_some_of_the_runs(root):
    path = root / "config/experiments/demo.yaml"
    experiment = load_experiment(path)
    names = [run.identity.run for run in experiment.runs]
    assert [run.identity.run for run in experiment.planned("quick")] == names
    some = experiment.budget("quick").model_copy(update={"runs": (names[-1],)})
    fewer = experiment.model_copy(update={"budgets": {"quick": some}})
    assert [run.identity.run for run in fewer.planned("quick")] == names[-1:]
    (planned,) = slice_of("preflight", fewer, budget="quick").planned
    assert planned.name == names[-1]


def test_a_prefix_needs_held_out_recordings_and_windows_even_for_single_shooting(tmp_path, demo):
    demo |= {"prediction": {}, "reference": None, "detailed": []}
    test = demo["recording"]["test"]
    demo["recording"]["test"] = []
    with pytest.raises(PdsimError, match=r"prediction: no recording is held out.*recording\.test"):
        load_experiment(write(tmp_path, demo))
    demo["recording"]["test"], demo["runs"] = test, demo["runs"][:1]
    assert load_experiment(write(tmp_path, demo)).prediction.prefix == 40
    demo["likelihood"]["window_count"] = 300
    with pytest.raises(PdsimError, match=r"likelihood\.window_count.*use 200 or 399"):
        load_experiment(write(tmp_path, demo))


def test_runs_can_have_names_and_several_can_share_a_method(tmp_path, demo):
    demo["runs"].append({"name": "fine", "method": "svgd", "shooting": "single"})
    experiment = load_experiment(write(tmp_path, demo))
    assert [identity.run for identity in experiment.identities()] == [
        "svgd_single",
        "csvgd_multiple",
        "least_squares_marginal",
        "csvgd_marginal",
        "nuts_marginal",
        "fine",
    ]
    assert experiment.run("fine").identity == ("fine", "svgd", "single")
    with pytest.raises(PdsimError, match=r"no run is called 'svgd_singel'.*'svgd_single'"):
        experiment.identity("svgd_singel")


def test_a_test_set_may_be_empty_and_windows_of_different_length(tmp_path, demo):
    demo["recording"]["train"] = [{"run": 0, "frames": [20, 420]}, {"run": 1, "frames": [20, 300]}]
    demo["recording"]["test"] = []
    demo["prediction"] = None
    experiment = load_experiment(write(tmp_path, demo))
    assert not experiment.holds_out
    windows = experiment.recording.resolve(None, 0.01)
    assert [w.last - w.first for w in windows] == [400, 280]


def test_a_key_given_twice_is_refused_with_both_lines(tmp_path, root):
    text = (root / "config/experiments/demo.yaml").read_text()
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines, 1) if line.strip().startswith("window_count:"))
    lines.insert(first, "  window_count: 12")
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(PdsimError) as error:
        load_experiment(path)
    for word in (str(path), "window_count", "twice", f"lines {first} and {first + 1}"):
        assert word in str(error.value)


@pytest.mark.parametrize("word", ["no", "yes", "on", "off"])
def test_words_are_no_truth_values_and_no_numbers(tmp_path, root, word):
    text = (root / "config/experiments/demo.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("{lower: 0.5", f"{{lower: {word}", 1))
    with pytest.raises(PdsimError, match=rf"parameters\.link_1\.lower: .*\(got '{word}'\)"):
        load_experiment(path)


@pytest.mark.parametrize("value", ["true", "false", "{}"])
def test_templates_are_refused_before_anything_reads_them(tmp_path, value):
    path = tmp_path / "config.yaml"
    path.write_text(f"__use_yte__: {value}\ngroups: {{demo: [demo]}}\n")
    with pytest.raises(PdsimError, match=r"config\.yaml: __use_yte__: templates are not run"):
        check_file(str(path))
    path.write_text("groups: {demo: [demo]}\nbudget: quick\nbudget: paper\n")
    with pytest.raises(PdsimError, match="budget: this key is given twice, in lines 2 and 3"):
        check_file(str(path))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0), ("-1.5E-2", -0.015), (".5", 0.5), ("+7", 7), ("-0", 0), ("~", None),
        ("2026-01-02", "2026-01-02"), ("=", "="), ("no", "no"), ("on", "on"), ("'010'", "010"),
        ("10:75", "10:75"), ("1,000", "1,000"), ("{<<: &a {b: 1}, c: 2}", {"b": 1, "c": 2}),
    ],
)  # fmt: skip
def test_plain_words_are_what_other_languages_take_them_for(tmp_path, text, value):
    path = tmp_path / "mine.yaml"
    path.write_text(f"key: {text}\n")
    assert repr(read_yaml(path)) == repr({"key": value})


def test_what_is_written_is_read_back(tmp_path):
    words = ("010", "1e3", "1:40", "2026-01-02", "no", "true", "0x1F", "1_000", "a\nb", "a\u2028b")
    words += ("a: b", "#", "{b}", "=", "", "'", '"', "\t", "null", "\x85", "-", "é", "a #b")
    values = {word: [word, {word: word}] for word in words}
    path = tmp_path / "mine.yaml"
    path.write_text(flow(values), encoding="utf-8")
    assert len(path.read_text().splitlines()) == 1
    assert read_yaml(path) == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("groups: {a: [2026-01-02]}", r"groups\.a\.0: Snakemake reads datetime"),
        ("groups: {no: [b]}", r"groups\.no: Snakemake reads False here"),
        ("results: 1e3", "results: Snakemake reads '1e3' here, and pdsim 1000.0"),
        ("groups: {yes: [a], on: [b]}", r"groups\.yes: Snakemake reads True"),
        ("results: =", "Snakemake cannot read it"),
    ],
)
def test_what_snakemake_reads_otherwise_is_refused(tmp_path, text, words):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(PdsimError, match=words):
        check_file(str(path))


def bomb():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    return "\n".join(lines).encode()


NOT_CONFIGS = {
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not a text file in UTF-8"),
    "Latin-1": ("title: Doppelpendel für alle\n".encode("latin-1"), "not a text file in UTF-8"),
    "UTF-16": ("title: x\n".encode("utf-16"), "not a text file in UTF-8"),
    "UTF-16 without a mark": ("title: x\n".encode("utf-16-le"), "not valid YAML"),
    "nested deeply": (b"a: " + b"[" * 20000 + b"]" * 20000, "nested too deeply"),
    "nested by maps": (b"{a: " * 20000 + b"1" + b"}" * 20000, "nested too deeply"),
    "an alias bomb": (bomb(), "more than 100000 values"),
    "an alias of itself": (b"a: &a [*a]\n", "mine.yaml"),
    "tags of Python": (b"title: !!python/object/apply:os.system [touch x]\n", "not valid YAML"),
    "a date that is none": (b"title: 2026-13-45\n", "simulator: this key is missing"),
    "nothing": (b"", "(the whole file)"),
    "a list": (b"- 1\n- 2\n", "(the whole file)"),
    "a number of digits": (b"title: 0x" + b"f" * 9000 + b"\n", "mine.yaml"),
    "a key that is a list": (b"? [a, b]\n: 1\n", "mine.yaml"),
    "a merge of nothing": (b"<<: 1\n", "not valid YAML"),
}


@pytest.mark.parametrize("case", NOT_CONFIGS)
def test_files_that_are_no_configs_end_quickly_with_a_message(tmp_path, capsys, case):
    from pdsim.cli.main import main

    content, words = NOT_CONFIGS[case]
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    began = time.monotonic()
    assert main(["check", str(path)]) == 2
    error = capsys.readouterr().err
    assert time.monotonic() - began < 10
    assert "Traceback" not in error
    assert str(path) in error
    assert words in error
    with pytest.raises(PdsimError):
        workflow_config(check_file(str(path)), str(path))


def test_a_word_that_begins_as_a_truth_value_is_a_word(tmp_path):
    path = tmp_path / "words.yaml"
    path.write_text("trueness: truelove\nfalse_start: true\n")
    assert read_yaml(path) == {"trueness": "truelove", "false_start": True}
