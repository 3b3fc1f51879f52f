"""What recordings leave open, where mechanics says what that must be."""

import numpy as np
import pytest
from draft.swings import LINKS, NOISE

from pdsim.likelihood.config import LikelihoodConfig
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.preflight.information import information
from pdsim.preflight.pieces import pieces
from pdsim.preflight.preflight import (
    UNKNOWN,
    measured_positions,
    preflight,
    spread_points,
)
from pdsim.preflight.words import common_factor, open_directions, simplest
from pdsim.recordings.trajectories import select
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import build_simulator

SCALED = {"mass_1": "kg", "inertia_1": "kg m^2", "mass_2": "kg", "friction_1": "N m s"}


def simulator_of(names, fixed=()):
    units = {**SCALED, "com_y_1": "m"}
    return build_simulator(
        SimulatorConfig.model_validate(
            {
                "system": "double_pendulum",
                "parameters": {
                    name: {
                        "lower": LINKS[name] / 2, "upper": LINKS[name] * 2, "unit": units[name],
                        "scale": "log",
                    }
                    for name in names
                },
                "fixed": {n: v for n, v in LINKS.items() if n not in names} | dict(fixed),
            }
        )
    )  # fmt: skip


@pytest.fixture(scope="session")
def train(trajectories_of, runs):
    """Half a second of each swing, starts as they were made."""
    from pdsim.recordings.cut import cut
    from pdsim.recordings.smoothing import Smoothing

    system = simulator_of(["mass_1"]).system
    cuts = [
        cut(run, 0, 122, system, Smoothing(11, 4), derive_velocities=False) for run in runs.values()
    ]
    data = trajectories_of(
        system, [c.observed for c in cuts], [c.states for c in cuts], cuts[0].frame_time
    )
    return select(data, "train")


def matrices(simulator, train):
    columns, noise = measured_positions(train)
    points = simulator.space.sobol(4)[1:]
    return points, information(simulator, train, columns, noise, points)


def test_masses_of_a_free_pendulum_are_known_up_to_a_common_factor(train):
    """Friction of joint 2 is held at 0, so that nothing holds the scale of mass."""
    simulator = simulator_of([*SCALED, "com_y_1"], {"inertia_2": 0.0, "friction_2": 0.0})
    points, found = matrices(simulator, train)
    assert common_factor(simulator.space, points, found) == list(SCALED)
    told = open_directions(simulator.space, points, found)
    assert (
        told[0]
        == "only the ratios of mass_1, inertia_1, mass_2, friction_1: up to one common factor"
    )


def test_of_many_pieces_a_few_stand_for_all(train):
    """Two swings of 122 frames, cut into pieces of 5."""
    cut = pieces(train, 5)
    assert cut.starts.shape[0] == cut.inputs.shape[0] == 12
    assert cut.inputs.shape[1] == 5
    assert cut.share == 12 / 48
    np.testing.assert_array_equal(cut.starts[0], train["states"].values[0, 0])
    np.testing.assert_array_equal(cut.starts[-1], train["states"].values[1, 115])


def test_where_states_within_a_recording_are_no_starts_only_the_step_is_told(train):
    simulator = simulator_of(["mass_1", "inertia_1", "friction_1"])
    broken = train.copy(deep=True)
    broken["states"].values[:, 1:] = np.nan
    found = preflight(simulator, LikelihoodConfig(), broken, 122)
    assert found.fine
    assert found.open == (UNKNOWN,)
    broken["states"].values[:] = 1e150
    with pytest.raises(PdsimError, match="at no point of the limits a roll-out is finite"):
        preflight(simulator, LikelihoodConfig(), broken, 122)


def test_of_an_exact_recording_the_noise_that_is_stated_counts(train):
    """Smooth angles have next to no noise of their own, which every step's error would exceed."""
    simulator = simulator_of(["mass_1", "inertia_1", "friction_1"])
    exact = train.copy(deep=True)
    time = 0.01 * np.arange(exact.sizes["time"])
    for column in range(exact.sizes["channel"]):
        exact["observed"].values[..., column] = np.sin(time)
    assert not preflight(simulator, LikelihoodConfig(), exact, 122).fine
    names = [str(name) for name in exact["channel"].values]
    stated = LikelihoodConfig(noise=dict.fromkeys(names, 0.01))
    found = preflight(simulator, stated, exact, 122)
    assert found.fine
    assert found.step > 0


def test_a_long_chain_is_looked_at_at_fewer_points():
    simulator = simulator_of(["mass_1", "inertia_1", "friction_1"])
    many, one = (spread_points(simulator, states) for states in (4, 200))
    assert (many.shape, one.shape) == ((8, 3), (1, 3))
    np.testing.assert_array_equal(one[0], 0.5)
    assert (many > 0).all()


def test_one_mass_that_is_known_holds_the_others(train):
    simulator = simulator_of(["mass_1", "inertia_1", "friction_1"])
    points, found = matrices(simulator, train)
    assert common_factor(simulator.space, points, found) == []
    assert not any(
        "common factor" in text for text in open_directions(simulator.space, points, found)
    )


def test_noise_of_the_positions_is_found(train):
    columns, noise = measured_positions(train)
    assert columns == [0, 1]
    np.testing.assert_allclose(noise, NOISE, rtol=0.2)


TWO = [(0.5, 5.0, "link_1"), (0.5, 5.0, "link_2"), (0.0, 1.0, "friction_1")]


def box(limits):
    return ParameterSpace(tuple(Parameter(name, low, high, "m") for low, high, name in limits))


def slopes(*rows):
    """F of residuals with these slopes in widths of the box."""
    matrix = np.array(rows, float)
    return matrix.T @ matrix


def test_parameters_that_every_point_tells_are_not_called_open():
    """Each point tells both parameters; the elementwise median of the three would tell neither."""
    found = 1e4 * np.array([[[1, 9.9], [9.9, 100]], [[100, 9.9], [9.9, 1]], [[1, 0], [0, 1]]])
    assert np.linalg.eigvalsh(found).min() > 100
    assert np.linalg.eigvalsh(np.median(found, axis=0)).min() < 0
    assert open_directions(box(TWO[:2]), np.full((3, 2), 0.5), found) == []


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[100, 100, 0], [0, 0, 100]],
         ["nothing is seen of link_1, link_2 moved together by 1 : −1 of their limits' widths"]),
        ([[100, 0, 0]], ["nothing is seen of link_2 alone", "nothing is seen of friction_1 alone"]),
        ([[100, 0, 0], [0, 50, 100]],
         ["nothing is seen of link_2, friction_1 moved together by 1 : −0.5 of their limits' "
          "widths"]),
        ([[100, 0, 0], [0, 100, 0], [0, 0, 3]],
         ["little is seen of friction_1 alone: 76 % of the width of the limits remains at best"]),
        ([[100, 0, 0], [0, 100, 0], [0, 0, 100]], []),
    ],
)  # fmt: skip
def test_what_is_open_is_said_by_its_parameters(rows, told):
    points = np.full((2, 3), 0.5)
    assert sorted(open_directions(box(TWO), points, np.stack([slopes(*rows)] * 2))) == sorted(told)


def test_directions_with_few_parts_span_the_same_space():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(5, 3)))[0]
    found = simplest(axes)
    outside = found.T - axes @ (axes.T @ found.T)
    np.testing.assert_allclose(outside, 0, atol=1e-12)
    assert np.linalg.matrix_rank(found) == 3
    assert (np.abs(found) < 1e-12).sum() >= 6
