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
from pdsim.systems.double_pendulum import Options, coefficients, energy


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
    table = pixels(c, CROOKED["length"], states)
    assert table.shape == (200, 6)
    assert table.dtype == int
    found = joint_angles(table.reshape(-1, 3, 2).astype(float))
    # Two markers rounded by half a pixel each, over the shorter link, in both angles.
    bound = 2 * np.sqrt(2) / (0.07 * 2000)
    assert np.abs(found - states[:, :2]).max() < 2 * bound


def test_the_pivot_drifts():
    c = camera(pivot_drift=5.0)
    table = pixels(c, CROOKED["length"], simulate(c, run_parameters(c, 0), 500.0, 0))
    assert np.ptp(table[:, 0]) >= 9


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
