import subprocess
import sys
from types import SimpleNamespace
from typing import get_args

import matplotlib.image
import numpy as np
import pytest
from figures.conftest import ESTIMATORS, SECTIONS, VARIANTS

from pdsim import registry
from pdsim.figures import landscape, style
from pdsim.figures.density import shown_channels, shown_trajectory
from pdsim.figures.figure import Request
from pdsim.figures.windows import simulated_windows
from pdsim.inference.identity import Identity
from pdsim.inference.runs import BudgetConfig, Shooting
from pdsim.recordings.recording import Recording
from pdsim.recordings.trajectories import trajectory_set
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.stages.plot import plot
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.ensemble import simulate_each
from pdsim.systems.simulator import build_simulator

# These have files of their own: tests/calibration, test_robots.py and test_loop.py draw them.
OTHERS = ("sbc", "scene", "positions", "loop", "loop_motion", "descent", "hand_path")
NAMES = tuple(name for name in registry.NAMES["figures"] if name not in OTHERS)
SVGD, CSVGD = ESTIMATORS[:2]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Nothing trained, and few cells: what is tested is the drawing."""
    monkeypatch.setattr(landscape, "RESOLUTION", 15)


def request_of(name, files, stem, title=SECTIONS["title"]):
    """What the stage is given for a figure."""
    figure = registry.load("figures", name).FIGURE
    members = VARIANTS if figure.members == "variants" else ESTIMATORS
    identity = CSVGD if figure.of_each_run else None
    chosen = [identity] if identity else list(members)
    found = {
        "trajectories": [files.trajectories],
        "learning_curve": [files.course],
        "posterior": [files.posterior[member] for member in chosen],
        "rollouts": [files.rollouts[member] for member in chosen],
        "prediction": [files.prediction[member] for member in chosen],
        "statistics": files.statistics,
        "trained": files.trained,
    }
    return Request(
        {key: SECTIONS[key] for key in figure.sections} | {"title": title},
        identity,
        {kind: found[kind] for kind in figure.needs},
        str(stem),
    )


@pytest.fixture
def untrained(monkeypatch):
    """Densities as they are before any training: standard normal in every statistic."""
    from pdsim.inference.bayessim import conditioning
    from pdsim.inference.bayessim.density import density, network

    def conditioned(trained, inputs, config, m):
        inputs = np.asarray(inputs, np.float32)
        return density(network("mdn", config, inputs, m, 0), inputs, config.component_count, m)

    monkeypatch.setattr(conditioning, "conditioned", conditioned)


def drawn(name, files, folder):
    plot(name, request_of(name, files, folder / name))
    picture = matplotlib.image.imread(folder / f"{name}.png")
    assert min(picture.shape[:2]) > 200
    assert picture[..., :3].std() > 0.02
    assert (folder / f"{name}.pdf").stat().st_size > 5000


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_drawn(name, held_out, tmp_path, untrained):
    drawn(name, held_out, tmp_path)


OF_TRAJECTORIES = ("densities", "posteriors", "density", "posterior", "windows", "statistics")


@pytest.mark.parametrize("name", OF_TRAJECTORIES)
def test_figures_are_drawn_without_a_test_set(name, training_only, tmp_path):
    drawn(name, training_only, tmp_path)


def test_a_landscape_needs_one_truth(training_only, tmp_path):
    with pytest.raises(PdsimError, match="the true value of every parameter must be known"):
        plot("landscape", request_of("landscape", training_only, tmp_path / "landscape"))


def test_the_same_files_give_the_same_bytes(held_out, tmp_path):
    for stem in ("one", "two"):
        plot("posterior", request_of("posterior", held_out, tmp_path / stem))
    for suffix in (".png", ".pdf"):
        one, two = ((tmp_path / f"{stem}{suffix}").read_bytes() for stem in ("one", "two"))
        assert one == two


@pytest.mark.parametrize("title", ["costs $5", "$x", "a {brace $and$ {more_", r"\frac{1 $\alpha$"])
def test_a_title_is_shown_as_it_is_written(held_out, tmp_path, title):
    plot("posteriors", request_of("posteriors", held_out, tmp_path / "figure", title))
    assert (tmp_path / "figure.png").stat().st_size > 5000


@pytest.mark.parametrize("name", NAMES)
def test_every_file_a_figure_needs_is_asked_for_by_its_option(held_out, tmp_path, name):
    whole = request_of(name, held_out, tmp_path / name)
    for kind in whole.files:
        with pytest.raises(PdsimError, match=f"pdsim plot {name} needs --{kind}"):
            plot(name, whole._replace(files=dict(whole.files) | {kind: []}))
    if whole.identity:
        with pytest.raises(PdsimError, match="needs --run"):
            plot(name, whole._replace(identity=None))


def test_captions_say_how_to_read_a_figure_and_claim_no_test_set():
    for name in NAMES:
        caption = registry.load("figures", name).FIGURE.caption
        assert len(caption) > 60
        assert caption.endswith(".")
        assert "held out" not in caption.replace("-", " ")


def texts(monkeypatch, draw):
    """Every title that a drawing sets."""
    shown = []
    monkeypatch.setattr(style, "title", lambda figure, text: shown.append(text))
    monkeypatch.setattr(style, "save", lambda figure, stem: shown.extend(
        axis.get_title(loc=loc) for axis in figure.axes for loc in ("left", "center")
    ))  # fmt: skip
    draw()
    return " | ".join(shown)


@pytest.mark.parametrize("name", ["density", "densities", "bayessim_densities"])
def test_only_a_test_set_is_called_held_out(name, held_out, training_only, monkeypatch):
    drawn = texts(monkeypatch, lambda: plot(name, request_of(name, held_out, "none")))
    assert "held out" in drawn
    drawn = texts(monkeypatch, lambda: plot(name, request_of(name, training_only, "none")))
    assert "training" in drawn
    assert "held out" not in drawn


def test_channels_that_no_sensor_saw_are_left_out(held_out, training_only):
    assert shown_channels(read_dataset(held_out.trajectories)).tolist() == [0, 1]
    assert shown_channels(read_dataset(training_only.trajectories)).tolist() == [0]


def test_the_window_shown_is_the_one_of_median_error(held_out):
    data = read_dataset(held_out.trajectories)
    rolled = read_dataset(held_out.rollouts[SVGD]).copy(deep=True)
    observed = data["observed"].values[:, None, 1:]
    shift = np.array([0.0, 3.0, 1.0, 2.0])[:, None, None, None]
    rolled["simulated"].values[:] = np.nan_to_num(observed) + shift
    assert shown_trajectory(data, rolled) == 3
    # A roll-out that was lost counts as a large error, and not as none.
    rolled["simulated"].values[2] = np.nan
    assert shown_trajectory(data, rolled) == 1


def test_no_two_runs_look_alike():
    twins = [Identity(f"csvgd_{i}", "csvgd", "multiple") for i in range(10)]
    strangers = [Identity(f"{m}_single", m, "single") for m in ("lma", "abc", "smc")]
    runs = [*ESTIMATORS, *twins, *strangers, *VARIANTS]
    looks = style.run_looks([*runs, *runs])
    assert len(looks) == len(runs)
    shapes = [(look["color"], look["linestyle"], look["marker"]) for look in looks.values()]
    assert len(set(shapes)) == len(runs)
    assert looks["csvgd_9"]["color"] == looks["csvgd_multiple"]["color"]
    assert looks["svgd_single"]["linestyle"] != looks["csvgd_multiple"]["linestyle"]


def test_every_estimator_has_a_colour_and_every_shooting_a_line():
    assert set(registry.NAMES["inference"]) == set(style.RUN_COLOURS)
    assert not {*style.RUN_COLOURS.values()} & {*style._PALETTE}
    runs = [Identity(f"nuts_{kind}", "nuts", kind) for kind in get_args(Shooting)]
    assert len({look["linestyle"] for look in style.run_looks(runs).values()}) == len(runs)


def test_which_figures_an_experiment_has():
    def applies(name, identity=None, budget=None, **changes):
        values = {
            "holds_out": True,
            "landscape": None,
            "bayessim": None,
            "prediction": None,
            "simulator": SECTIONS["simulator"],
            "shows": lambda identity: identity.method == "csvgd",
        }
        experiment = SimpleNamespace(**(values | changes))
        budget = budget or BudgetConfig(particle_count=4, iteration_count=1)
        return bool(registry.load("figures", name).FIGURE.applies(experiment, budget, identity))

    quick = BudgetConfig(particle_count=4, iteration_count=1, learning_curve=False, bayessim=False)
    found = {name for name in NAMES if applies(name, CSVGD)}
    always = {"recordings", "convergence", "densities", "posteriors"}
    assert found == {"learning_curve", "density", "posterior", "windows"} | always
    assert {name for name in NAMES if applies(name, SVGD, quick)} == always
    assert not applies("learning_curve", holds_out=False)
    assert applies("landscape", landscape=("link_1", "link_2"))
    for name in ("prediction", "pit"):
        assert applies(name, CSVGD, prediction=object())
        assert not applies(name, SVGD, prediction=object())
    one = SimpleNamespace(parameters={"link_1": None})
    assert not applies("posteriors", simulator=one)
    learned = SECTIONS["bayessim"]
    for name in ("statistics", "training", "calibration", "bayessim_densities"):
        assert applies(name, bayessim=learned)
        assert not applies(name, budget=quick, bayessim=learned)
    assert applies("bayessim_posteriors", bayessim=learned)
    assert not applies("bayessim_posteriors", bayessim=learned, simulator=one)


def test_windows_of_the_truth_follow_the_recording_and_its_inputs(tmp_path):
    """Each from its own frame on, with what acted from there on."""
    config = {"x": {"lower": 1.0, "upper": 60.0, "unit": "N/m", "sets": ["stiffness"]}}
    simulator = build_simulator(
        SimulatorConfig.model_validate({"system": "oscillator", "parameters": config})
    )
    truth, frames = np.array([20.0]), 38
    unit = np.asarray(simulator.space.to_coordinates(truth))
    force = np.sin(np.arange(frames))[:, None]
    start = np.array([0.3, 0.0])
    states = simulate_each(
        simulator, unit[None], start[None], force[None, :-1], frame_time=0.02, precision="float64"
    )
    states = np.concatenate([start[None], states[0]])
    recording = Recording(
        "shaken", 0.02, states, force, states, start, np.zeros((2, 2)), {"stiffness": 20.0}
    )
    data = trajectory_set(simulator.system, [recording], ["train"], {})
    begin = np.array([0, 8, 16, 24, 32])
    shown = simulated_windows(simulator, unit, states[begin], data, 0, 8, begin)
    wanted = begin[:, None] + np.arange(9)
    seen = wanted < frames
    np.testing.assert_allclose(shown[seen], states[wanted[seen]], atol=1e-12)


def test_runs_without_windows_are_told_so(held_out, tmp_path):
    request = request_of("windows", held_out, tmp_path / "windows")
    files = dict(request.files) | {"posterior": [held_out.posterior[SVGD]]}
    with pytest.raises(PdsimError, match="has no shooting windows"):
        plot("windows", request._replace(files=files))


def test_entries_are_read_without_a_plotting_library():
    code = (
        "import sys; from pdsim import registry; "
        "[registry.load('figures', name).FIGURE for name in registry.NAMES['figures']]; "
        "print([m for m in ('matplotlib', 'pandas', 'scipy') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    # xarray loads pandas by itself.
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, xarray, jax; print('pandas' in sys.modules, "
         "'scipy' in sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    allowed = {name for name, there in zip(("pandas", "scipy"), loaded, strict=True)
               if there == "True"}  # fmt: skip
    assert set(eval(found)) <= allowed
