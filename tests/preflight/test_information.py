"""What recordings leave open, where mechanics says what that must be."""

import numpy as np
import pytest
from draft.swings import LINKS, NOISE

from pdsim.preflight.information import information
from pdsim.preflight.preflight import measured_positions
from pdsim.preflight.words import common_factor, open_directions
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import build_simulator
from pdsim.trajectories import select

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
