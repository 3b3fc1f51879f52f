import numpy as np
from reference import CROOKED

from pdsim.config import CameraConfig
from pdsim.recordings.camera import pixels, simulate
from pdsim.recordings.markers import joint_angles


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
    states = simulate(c, {}, 500.0, 0)
    from pdsim.systems.double_pendulum import coefficients, energy

    values = np.asarray(energy(tuple(states.T), coefficients(c.parameters)))
    assert np.abs(values - values[0]).max() < 1e-8 * np.abs(values).max()


def test_pixels_give_the_angles_back_within_the_quantisation():
    c = camera()
    states = simulate(c, {}, 500.0, 0)
    table = pixels(c, CROOKED["length"], states)
    assert table.shape == (200, 6)
    assert table.dtype == int
    found = joint_angles(table.reshape(-1, 3, 2).astype(float))
    # Two markers rounded by half a pixel each, over the shorter link, in both angles.
    bound = 2 * np.sqrt(2) / (0.07 * 2000)
    assert np.abs(found - states[:, :2]).max() < 2 * bound


def test_the_pivot_drifts():
    c = camera(pivot_drift=5.0)
    table = pixels(c, CROOKED["length"], simulate(c, {}, 500.0, 0))
    assert np.ptp(table[:, 0]) >= 9
