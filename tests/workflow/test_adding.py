"""Adding an estimator, a system, a metric or a figure: one file and one line, and no more reruns."""

import csv
import subprocess
import sys

import pytest

from pdsim.runtime.files import read_dataset

pytestmark = pytest.mark.slow

EXPERIMENT, RESULTS = "config/experiments/tiny.yaml", "results/quick/tiny"
LINES = {
    "inference": '        "csvgd",\n',
    "systems": '        "cart_pole",\n',
    "metrics": '        "work",\n',
    "figures": '        "bayessim_posteriors",\n',
}

ESTIMATOR = '''"""Random search: each particle keeps the likelier of its place and a random one."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from pdsim.settings.section import Positive, Section
from pdsim.inference.estimator import Stepwise, largest_defect, summarise
from pdsim.inference.particles import sobol_particles
from pdsim.likelihood.problem import Position


class Settings(Section):
    """Random search."""

    width: Positive = 0.1


class State(NamedTuple):
    position: Position
    value: jax.Array


@dataclass(frozen=True)
class RandomSearch(Stepwise):
    settings: Settings
    sample_kind: ClassVar[str] = "particles"
    uses_gradients: ClassVar[bool] = False

    def init(self, problem, seed):
        position = sobol_particles(problem, self.particle_count, seed)
        return State(position, jnp.full(self.particle_count, -jnp.inf))

    def step(self, key, problem, state):
        x, shooting = state.position
        moved = x + self.settings.width * jax.random.normal(key, x.shape)
        tried = Position(jnp.clip(moved, 0.0, 1.0), shooting)
        value, defects = problem.evaluate(tried)
        better = value > state.value
        x = jnp.where(better[:, None], tried.parameters, x)
        info = summarise(
            jnp.isfinite(value), value, largest_defect(defects), evaluations=len(x)
        )
        return State(Position(x, shooting), jnp.where(better, value, state.value)), info

    def draws(self, problem, state):
        return state.position

    def diverging(self, problem, state):
        return ~jnp.isfinite(state.value)


ESTIMATOR = RandomSearch
'''

SYSTEM = '''"""A mass that falls."""

from dataclasses import dataclass
from typing import ClassVar

from pdsim.settings.section import Section
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter


class Options(Section):
    """No keys."""


@dataclass(frozen=True)
class Fall(ContinuousSystem):
    name: ClassVar[str] = "made_up"

    @property
    def state(self):
        return (Quantity("z", "m", "position"), Quantity("dz", "m/s", "velocity"))

    @property
    def parameters(self):
        return {"gravity": SystemParameter("m/s^2", 9.81, "of the place", "$g$")}

    def derivative(self, state, input, time, prepared):
        return state[1], -prepared["gravity"] + 0 * state[0]


def build(options):
    return Fall()
'''

METRIC = '''"""The largest error of a roll-out."""

import numpy as np

from pdsim.metrics.metric import Metric
from pdsim.metrics.score import Score


def _largest(evidence):
    test = evidence.test
    error = evidence.simulated[test] - evidence.observed[test][:, None]
    return Score(float(np.nanmax(np.abs(error))))


METRICS = (Metric("made_up", "largest error [-]", _largest, "low", held_out=True),)
'''

FIGURE = '''"""Numbers of roll-outs."""

from pdsim.figures import style
from pdsim.figures.figure import Figure
from pdsim.runtime.files import read_dataset


def draw(request):
    plt = style.apply()
    figure, axis = plt.subplots()
    for path in request.files["posterior"]:
        axis.plot(read_dataset(path, "history")["rollouts"])
    axis.set(xlabel="iteration", ylabel="roll-outs", title=request.title)
    style.save(figure, request.stem)


FIGURE = Figure(needs=("posterior",), sections=("title",), caption="Made up.", draw=draw)
'''


def python(project, *arguments):
    """Run Python on the project; what it makes goes elsewhere, so that later tests find no more."""
    subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=project.folder,
        env=project.environment,
        check=True,
    )


@pytest.fixture
def add(project):
    """Add a module called made_up to a room of the project, and take it away again."""
    undo = []

    def add(room, text):
        file = project.folder / f"pdsim/{room}/made_up.py"
        file.write_text(text)
        line = LINES[room]
        restore = project.change("pdsim/registry.py", line, line + '        "made_up",\n')
        undo.extend([file.unlink, restore])

    yield add
    for step in undo:
        step()


def test_an_estimator_is_one_file_and_one_line(project, add, tmp_path):
    """A new estimator runs in the pipeline and reruns nothing of the others."""
    add("inference", ESTIMATOR)
    assert project.planned() == {}
    restore = project.change(
        EXPERIMENT,
        "- method: csvgd",
        "- {method: made_up, shooting: single, settings: {width: 0.3}}\n- method: csvgd",
    )
    try:
        planned = project.planned()
        counts = {
            rule: planned.get(rule) for rule in ("infer", "simulate", "evaluate", "learning_curve")
        }
        assert counts == dict.fromkeys(counts, 1)
        # What compares all runs is done again; what shows one other run is not.
        assert not {"preprocess", "record", "plot_density", "plot_posterior"} & set(planned)
        python(
            project, "-m", "pdsim", "infer", EXPERIMENT, "--run", "made_up_single",
            "--budget", "quick", "--trajectories", f"{RESULTS}/trajectories.nc",
            "--output", tmp_path / "posterior.nc",
        )  # fmt: skip
        assert read_dataset(tmp_path / "posterior.nc").attrs["method"] == "made_up"
    finally:
        restore()


def test_a_system_is_one_file_and_one_line(project, add):
    """A new system runs in the pipeline and reruns nothing of the others."""
    add("systems", SYSTEM)
    assert project.planned() == {}
    check = (
        "from pdsim.systems.simulator import build_system\n"
        "from pdsim.systems.config import SystemChoice\n"
        "system = build_system(SystemChoice(system='made_up'))\n"
        "state = system.step((1.0, 0.0), (), 0.0, {'gravity': 10.0}, 0.1)\n"
        "assert abs(state[0] - 0.95) < 1e-12, state"
    )
    python(project, "-c", check)


def test_a_metric_is_one_file_and_one_line(project, add, tmp_path):
    """A new metric is scored, and reruns scores and what is made of them, but no inference."""
    add("metrics", METRIC)
    # No posterior, no roll-out and no figure is made again; the scores, tables and report are.
    assert set(project.planned()) == {"evaluate", "gather", "table", "write_report"}
    run, output = f"{RESULTS}/svgd_single/seed0", tmp_path / "metrics.csv"
    python(
        project, "-m", "pdsim", "evaluate", EXPERIMENT, "--run", "svgd_single",
        "--trajectories", f"{RESULTS}/trajectories.nc", "--posterior", f"{run}/posterior.nc",
        "--rollouts", f"{run}/rollouts.nc", "--prediction", f"{run}/prediction.nc",
        "--output", output,
    )  # fmt: skip
    with output.open() as file:
        rows = {row["metric"]: float(row["value"]) for row in csv.DictReader(file)}
    assert rows["made_up"] > rows["rmse"] > 0


def test_a_figure_is_one_file_and_one_line(project, add, tmp_path):
    """A new figure is drawn, and reruns itself and the report alone."""
    add("figures", FIGURE)
    assert project.planned() == {"plot_made_up": 1, "write_report": 1}
    python(
        project, "-m", "pdsim", "plot", "made_up", EXPERIMENT,
        "--posterior", f"{RESULTS}/svgd_single/seed0/posterior.nc", "--stem", tmp_path / "drawn",
    )  # fmt: skip
    assert (tmp_path / "drawn.png").stat().st_size > 0
