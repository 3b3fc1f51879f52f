"""Figures of the flexible loop, and of estimators that keep every iterate."""

from types import SimpleNamespace

import jax.numpy as jnp
import matplotlib.image
import numpy as np
import pytest
import xarray as xr
from PIL import Image

from pdsim.figures import descent, hand_path, loop, loop_motion
from pdsim.figures.figure import Request
from pdsim.figures.loop_shape import Shapes, configurations, lines
from pdsim.inference.identity import Identity
from pdsim.posterior import parameter_group
from pdsim.recordings import arm_path
from pdsim.recordings.recording import Recording
from pdsim.recordings.trajectories import trajectory_set
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.loop_mechanics import clamp_of
from pdsim.systems.simulator import build_simulator

LINKS, FRAMES, FRAME_TIME = 6, 31, 0.01
TRUTH = {"kappa_theta": 4.5, "kappa_psi": 1.0}
LIMITS = {"lower": 0.1, "upper": 15.0, "unit": "N m/rad"}
SECTIONS = {
    "title": "A loop",
    "simulator": SimulatorConfig.model_validate(
        {
            "system": "flexible_loop",
            "options": {"links": LINKS},
            "parameters": dict.fromkeys(TRUTH, LIMITS),
        }
    ),
}
DESCENT = Identity("steepest_descent_single", "steepest_descent", "single")
NEWTON = Identity("gauss_newton_single", "gauss_newton", "single")


@pytest.fixture(scope="module")
def simulator():
    return build_simulator(SECTIONS["simulator"])


def trajectories(folder, simulator, observed, inputs):
    start = simulator.system.start()
    states = np.full((len(observed), len(start)), np.nan)
    size = len(start)
    truth = {**TRUTH, "mass": 0.132}
    recording = Recording(
        "0", FRAME_TIME, observed, inputs, states, start, np.zeros((size, size)), truth
    )
    path = folder / "trajectories.nc"
    write_dataset(path, trajectory_set(simulator.system, [recording], ["train"], {}))
    return str(path)


def posterior(folder, simulator, identity, iterates):
    """A file of one point, with the columns that the figures read."""
    count = len(iterates)
    history = {f"at_{name}": iterates[:, i] for i, name in enumerate(TRUTH)}
    if identity == DESCENT:
        history |= {"cost": np.exp(-np.arange(count)), "slope": np.exp(-0.5 * np.arange(count))}
    history = {name: ("iteration", values) for name, values in history.items()}
    groups = {
        "/": xr.Dataset(attrs=identity._asdict()),
        "posterior": parameter_group(simulator.space, iterates[None, -1:], ("chain", "draw")),
        "history": xr.Dataset(history),
    }
    path = folder / f"{identity.run}.nc"
    write_dataset(path, xr.DataTree.from_dict(groups))
    return str(path)


@pytest.fixture(scope="module")
def request_of(simulator, tmp_path_factory):
    """A request whose hand follows a circle; nothing is simulated."""
    folder = tmp_path_factory.mktemp("loop")
    turn = np.linspace(0, 6, FRAMES)
    observed = 0.1 * np.stack([np.cos(turn), np.sin(turn), 0.3 * turn], axis=1)
    iterates = np.linspace([5.0, 5.0], list(TRUTH.values()), 30)
    files = {
        "trajectories": [trajectories(folder, simulator, observed, np.zeros((FRAMES, 21)))],
        "posterior": [posterior(folder, simulator, one, iterates) for one in (DESCENT, NEWTON)],
    }
    return lambda stem, identity=None: Request(SECTIONS, identity, files, str(stem))


@pytest.fixture
def still(simulator, monkeypatch):
    """In place of a simulation: the loop as it hangs, and turned by its last hinge."""
    q = np.tile(simulator.system.mechanics.start, (FRAMES, 1))
    q[:, 6] += np.sin(np.linspace(0, 6, FRAMES))
    pairs = [lines(simulator.system, jnp.asarray(one)) for one in q[:: FRAMES - 1]]
    arm, sides = (np.repeat(np.stack(x), [FRAMES - 1, 1], axis=0) for x in zip(*pairs, strict=True))
    found = Shapes(arm, sides, q[:, 6], FRAME_TIME * np.arange(FRAMES), "0")
    for module in (loop, loop_motion):
        monkeypatch.setattr(module, "shapes", lambda request: found)
    return found


def is_picture(path):
    picture = matplotlib.image.imread(path)
    assert min(picture.shape[:2]) > 200
    assert picture[..., :3].std() > 0.02
    assert path.with_suffix(".pdf").stat().st_size > 5000


def test_lines_run_from_the_grip_to_the_clamp_over_links_of_one_length(simulator):
    mechanics = simulator.system.mechanics
    arm, sides = lines(simulator.system, jnp.asarray(mechanics.start))
    assert arm.shape == (8, 3) and sides.shape == (2, LINKS // 2 + 1, 3)
    np.testing.assert_allclose(arm[-1], mechanics.hand(jnp.asarray(mechanics.start)), atol=1e-12)
    np.testing.assert_allclose(sides[:, 0], np.tile(arm[-1], (2, 1)), atol=1e-12)
    np.testing.assert_allclose(sides[:, -1], clamp_of(LINKS).place, atol=1e-12)
    lengths = np.linalg.norm(np.diff(sides, axis=1), axis=2)
    np.testing.assert_allclose(lengths, mechanics.tree.length, atol=1e-12)


def test_the_moments_shown_are_the_start_and_the_extremes(still):
    wrist = np.array([0.5, 0.6, -0.9, 0.4])
    sides = np.zeros((4, 2, 4, 3))
    arm = np.zeros((4, 8, 3))
    arm[:, -1, 2] = [0.7, 0.6, np.nan, 0.65]
    found = still._replace(arm=arm, sides=sides, wrist=wrist)
    assert list(loop.moments(found).values()) == [0, 2, 1]


@pytest.mark.parametrize(("count", "expected"), [(1, [0]), (4, [0, 1, 2, 3]), (75, 10)])
def test_iterates_shown_are_spread_by_their_logarithm(count, expected):
    shown = hand_path.chosen(count)
    assert (shown[0], shown[-1]) == (0, count - 1)
    if isinstance(expected, list):
        assert shown.tolist() == expected
    else:
        assert len(shown) <= expected
        assert np.all(np.diff(shown, 2) >= 0)


def test_pictures_of_the_loop_and_of_the_descent_are_drawn(request_of, still, tmp_path):
    loop.draw(request_of(tmp_path / "loop"))
    descent.draw(request_of(tmp_path / "descent"))
    for name in ("loop", "descent"):
        is_picture(tmp_path / f"{name}.png")


def test_the_motion_is_animated_and_the_same_bytes_again(request_of, still, tmp_path, monkeypatch):
    monkeypatch.setattr(loop_motion, "_EVERY", 0.1)
    for stem in ("one", "two"):
        loop_motion.draw(request_of(tmp_path / stem))
    one, two = ((tmp_path / f"{stem}.gif").read_bytes() for stem in ("one", "two"))
    assert one == two
    with Image.open(tmp_path / "one.gif") as animation:
        assert animation.n_frames == 4
        first = np.asarray(animation.convert("RGB"), float)
        animation.seek(3)
        assert np.abs(np.asarray(animation.convert("RGB"), float) - first).max() > 100


def test_the_path_of_the_hand_is_drawn_for_the_iterates(request_of, tmp_path, monkeypatch):
    asked = []

    def roll_out(simulator, draws, starts, inputs, **grid):
        asked.append(draws)
        turn = np.linspace(0, 6, FRAMES)[1:]
        path = np.stack([np.cos(turn), np.sin(turn), 0.3 * turn], axis=1)
        return 0.1 * draws[None, :, :1, None] / 4.5 * path

    monkeypatch.setattr(hand_path, "roll_out", roll_out)
    hand_path.draw(request_of(tmp_path / "path", DESCENT))
    is_picture(tmp_path / "path.png")
    np.testing.assert_allclose(asked[0][[0, -1]], [[5.0, 5.0], list(TRUTH.values())])


def test_which_experiments_have_them():
    def experiment(system, *methods, parameters=("a", "b")):
        runs = [SimpleNamespace(method=method) for method in methods]
        simulator = SimpleNamespace(system=system, parameters=dict.fromkeys(parameters))
        return SimpleNamespace(simulator=simulator, runs=runs)

    mine = experiment("flexible_loop", "steepest_descent", "svgd")
    assert all(x.FIGURE.applies(mine, None, DESCENT) for x in (loop, loop_motion, descent))
    assert hand_path.FIGURE.applies(mine, None, DESCENT)
    assert not hand_path.FIGURE.applies(mine, None, Identity("svgd_single", "svgd", "single"))
    other = experiment("oscillator", "steepest_descent")
    assert descent.FIGURE.applies(other, None, None)
    assert not any(x.FIGURE.applies(other, None, DESCENT) for x in (loop, loop_motion, hand_path))
    assert not descent.FIGURE.applies(experiment("oscillator", "svgd"), None, None)
    single = experiment("oscillator", "steepest_descent", parameters=("a",))
    assert not descent.FIGURE.applies(single, None, None)


@pytest.mark.slow
def test_what_is_drawn_is_the_recorded_motion(simulator, tmp_path):
    """At the truth the hand of the simulated shapes is where it was recorded."""
    system = simulator.system
    values = {name: parameter.default for name, parameter in system.parameters.items()} | TRUTH
    config = arm_path.Config.model_validate(
        {
            "source": "arm_path",
            "rate_hz": 1 / FRAME_TIME,
            "frame_count": FRAMES,
            "links": LINKS,
            "train": [{"run": 0, "frames": [0, FRAMES]}],
        }
    )
    observed, inputs = arm_path.simulate(config, system, values, 0)
    data = read_dataset(trajectories(tmp_path, simulator, observed, inputs))
    q = configurations(simulator, data, np.array(list(TRUTH.values())))
    assert q.shape == (FRAMES, 7 + 2 * LINKS)
    grips = [lines(system, jnp.asarray(one))[0][-1] for one in q]
    np.testing.assert_allclose(grips, observed, atol=1e-9)
