"""What a stage depends on, and no more: its slice of an experiment."""

from experiment_files import changed, write

from pdsim.experiment.load import load_experiment
from pdsim.experiment.slices import slice_of


def sliced(stage, experiment, run="svgd_single"):
    return slice_of(stage, experiment, run=run, budget="quick").model_dump_json()


def test_inference_options_hold_what_inference_uses_and_no_more(tmp_path, demo):
    """The truth, the title and another estimator's settings must not rerun inference."""
    experiment = load_experiment(write(tmp_path, demo))
    options = slice_of("infer", experiment, run="svgd_single", budget="quick")
    assert set(options.model_dump()) == {
        *("simulator", "likelihood", "run", "work", "precision", "exchangeable")
    }
    text = options.model_dump_json()
    assert "truth" not in text
    assert "defect_deviation" not in text
    assert "defect_deviation" in sliced("infer", experiment, "csvgd_multiple")
    for key, value in (
        (("title",), "Another"),
        (("recording", "camera", "parameters", "length"), 1.6),
        (("runs", 1, "settings"), {"defect_deviation": [0.5, 0.01]}),
        (("runs", 0, "chosen"), "by hand"),
        (("budgets", "paper", "iteration_count"), 77),
        (("budgets", "quick", "learning_curve"), False),
        (("seeds",), [0, 1]),
        (("detailed",), ["svgd"]),
        (("landscape",), None),
        (("recording", "smoothing", "frames"), 19),
    ):
        assert sliced("infer", changed(tmp_path, demo, key, value)) == text, key
    for key, value in (
        (("runs", 0, "settings"), {"step_size": 0.02}),
        (("likelihood", "noise_relative"), 0.2),
        (("simulator", "substeps"), 5),
        (("budgets", "quick", "iteration_count"), 77),
        (("precision",), "float32"),
    ):
        assert sliced("infer", changed(tmp_path, demo, key, value)) != text, key


def test_effort_multiplies_the_iterations_of_a_run_and_of_no_search(tmp_path, demo):
    plain = load_experiment(write(tmp_path, demo))
    more = changed(tmp_path, demo, ("runs", 0, "effort"), 3)
    before, after = (
        slice_of("infer", experiment, run="svgd_single", budget="quick").work
        for experiment in (plain, more)
    )
    assert after.iteration_count == 3 * before.iteration_count
    assert after.particle_count == before.particle_count
    for stage in ("tune", "simulate"):
        assert sliced(stage, more) == sliced(stage, plain), stage


def test_predictions_depend_on_what_they_read_and_nothing_else_on_them(tmp_path, demo):
    plain = load_experiment(write(tmp_path, demo | {"prediction": None}))
    experiment = changed(tmp_path, demo, ("prediction",), {"prefix": 30})
    for stage in ("preprocess", "infer", "simulate", "evaluate", "learning_curve", "report"):
        assert sliced(stage, plain) == sliced(stage, experiment), stage
    text = sliced("predict", experiment)
    demo["prediction"] = {"prefix": 30}
    for key, value in (
        (("likelihood", "noise_relative"), 0.2),
        (("likelihood", "combination"), "product"),
        (("runs", 0, "settings"), {"step_size": 0.02}),
    ):
        assert sliced("predict", changed(tmp_path, demo, key, value)) == text, key
    for key, value in (
        (("prediction", "prefix"), 31),
        (("likelihood", "window_count"), 20),
        (("likelihood", "marginal"), {"start": 1.0}),
        (("simulator", "substeps"), 5),
    ):
        assert sliced("predict", changed(tmp_path, demo, key, value)) != text, key


def test_a_run_s_name_alone_changes_no_estimation(tmp_path, demo):
    before = sliced("infer", load_experiment(write(tmp_path, demo)))
    renamed = changed(tmp_path, demo, ("runs", 0, "name"), "mine")
    assert sliced("infer", renamed, "mine") == before
