import numpy as np
from reference import CROOKED

from pdsim.recordings.camera import (
    CameraConfig,
    pixels,
    population_draws,
    run_parameters,
    simulate,
)
from pdsim.recordings.markers import joint_angles
from pdsim.systems.double_pendulum import Options, coefficients
from pdsim.systems.pendulum_motion import energy


def camera(**changes):
    values = {
        "parameters": CROOKED | {"friction_1": 0.0, "friction_2": 0.0},
        "runs": [{"q": (1.5, 0.4), "dq": (5.0, -3.0)}],
        "frame_count": 200,
        "pixels_per_metre": 2000.0,
        "link_2_length": 0.07,
    }
    return CameraConfig.model_validate(values | changes)


def test_the_true_motion_conserves_energy():
    c = camera()
    states = simulate(c, run_parameters(c, 0), 500.0, 0)
    values = np.asarray(energy(tuple(states.T), coefficients(c.parameters, Options())))
    assert np.abs(values - values[0]).max() < 1e-8 * np.abs(values).max()


def test_pixels_give_the_angles_back_within_the_quantisation():
    c = camera()
    states = simulate(c, run_parameters(c, 0), 500.0, 0)
    table = pixels(c, CROOKED["length"], states, np.random.default_rng(0))
    assert table.shape == (200, 6)
    assert table.dtype == int
    found = joint_angles(table.reshape(-1, 3, 2).astype(float))
    # Two markers rounded by half a pixel each, over the shorter link, in both angles.
    bound = 2 * np.sqrt(2) / (0.07 * 2000)
    assert np.abs(found - states[:, :2]).max() < 2 * bound


def test_the_pivot_drifts():
    c = camera(pivot_drift=5.0)
    states = simulate(c, run_parameters(c, 0), 500.0, 0)
    table = pixels(c, CROOKED["length"], states, np.random.default_rng(0))
    assert np.ptp(table[:, 0]) >= 9


def test_jitter_makes_the_errors_of_rounding_white():
    """A marker that stands still is off by the same in every frame, unless it jitters."""
    still = np.tile([0.3, 0.2, 0.0, 0.0], (4000, 1))
    c = camera(pivot_drift=0.0)
    table = pixels(c, CROOKED["length"], still, np.random.default_rng(0))
    assert (table == table[0]).all()
    c = camera(pivot_drift=0.0, jitter=0.5)
    first, second = (
        pixels(c, CROOKED["length"], still, np.random.default_rng(seed)) for seed in (0, 1)
    )
    assert (first != second).any()
    # The mean tells where between two pixels it is, to 4 deviations; so do no rounded places.
    place = 1200 + 2000 * CROOKED["length"] * np.cos(0.3)
    deviation = np.sqrt(0.5**2 + 1 / 12)
    np.testing.assert_allclose(first[:, 2].mean(), place, atol=4 * deviation / np.sqrt(4000) + 2e-3)
    np.testing.assert_allclose(first[:, 2].std(), deviation, rtol=0.05)
    error = first - first.mean(axis=0)
    assert np.abs((error[1:] * error[:-1]).mean(axis=0) / error.var(axis=0)).max() < 0.06


def test_a_run_can_have_parameters_of_its_own():
    c = camera(runs=[{"q": (1.5, 0.4)}, {"q": (1.5, 0.4), "parameters": {"length": 0.2}}])
    assert run_parameters(c, 0)["length"] == CROOKED["length"]
    assert run_parameters(c, 1) == c.parameters | {"length": 0.2}


def test_a_population_gives_each_run_its_parameters():
    c = camera(
        population={
            "parameters": {"link": ["length", "com_y_1"], "mass": ["mass_2"]},
            "mean": [0.1, 0.05],
            "covariance": [[1e-4, 2e-5], [2e-5, 2.5e-5]],
            "run_count": 4000,
        }
    )
    drawn = population_draws(c.population)
    np.testing.assert_allclose(drawn.mean(axis=0), [0.1, 0.05], atol=5e-4)
    np.testing.assert_allclose(np.cov(drawn.T), c.population.covariance, rtol=0.1, atol=2e-6)
    values = run_parameters(c, 7)
    assert values["length"] == values["com_y_1"] == drawn[7, 0]
    assert values["mass_2"] == drawn[7, 1]
    assert c.run_count == 4000
