import numpy as np
import pytest

from pdsim.recordings.markers import joint_angles, moved_onto_axes, read_pixels
from pdsim.runtime.errors import PdsimError


def test_the_first_number_of_a_pair_is_vertical_and_grows_downwards():
    hanging = np.array([[[100, 100], [200, 100], [300, 100]]])
    np.testing.assert_allclose(joint_angles(hanging), [[0.0, 0.0]])
    # Link 1 a quarter turn towards larger horizontal numbers, link 2 hanging: relative −90°.
    sideways = np.array([[[100, 100], [100, 200], [200, 200]]])
    np.testing.assert_allclose(joint_angles(sideways), [[np.pi / 2, -np.pi / 2]])


def test_neither_drift_nor_image_scale_matter():
    rng = np.random.default_rng(0)
    pixels = rng.uniform(0, 1000, (50, 3, 2))
    moved = 1.0225 * pixels + rng.uniform(-20, 20, (50, 1, 2))
    np.testing.assert_allclose(joint_angles(pixels), joint_angles(moved), atol=1e-9)


def test_angles_are_unwrapped_over_many_turns():
    angle = np.linspace(0, 30 * np.pi, 2000)
    link = 200 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    pixels = np.stack([np.zeros((2000, 2)), link, 2 * link], axis=1)
    np.testing.assert_allclose(joint_angles(pixels)[:, 0], angle, atol=1e-9)
    np.testing.assert_allclose(joint_angles(pixels)[:, 1], 0, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3\n4,5,6\n7,8,9\n", "6|six columns"),
        ("a,b,c,d,e,f\n", "cannot be read"),
        ("1,2,3,4,5,6\n1,2,3,nan,5,6\n1,2,3,4,5,6\n", "line 2"),
    ],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    path = tmp_path / "7.csv"
    path.write_text(text)
    with pytest.raises(PdsimError, match=message) as error:
        read_pixels(path)
    assert str(path) in str(error.value)


def turning(frames):
    """A run whose links turn at different rates, from joint to joint, in pixels."""
    time = np.linspace(0, 1, frames)
    angles = np.stack([9 * time + np.sin(5 * time), 4 * np.cos(7 * time)], axis=1)
    return angles, np.stack([np.cos(angles), np.sin(angles)], axis=2) * [[600.0], [450.0]]


def test_markers_beside_the_axes_are_moved_onto_them():
    """Pivot and elbow seen from the side, and the elbow's marker not in its middle."""
    angles, links = turning(3000)
    u = links[:, 0] / 600
    across = np.stack([-u[:, 1], u[:, 0]], axis=1)
    seen = links + np.stack(
        [np.tile([0.8, 1.9], (3000, 1)), [1.2, -0.3] - 1.8 * u + 0.6 * across], axis=1
    )
    pivot = np.array([1200.0, 1180.0])
    pixels = pivot + np.cumsum([0 * u, *seen.swapaxes(0, 1)], axis=0).swapaxes(0, 1)
    relative = np.stack([angles[:, 0], angles[:, 1] - angles[:, 0]], axis=1)

    def error(pixels):
        return np.abs(np.sin((joint_angles(pixels) - relative) / 2)).max()

    assert error(pixels) > 2e-3
    assert error(moved_onto_axes(pixels, "run.csv")) < 1e-9
    noisy = pixels + 0.3 * np.random.default_rng(0).normal(size=pixels.shape)
    found = joint_angles(moved_onto_axes(noisy, "run.csv")) - joint_angles(noisy)
    expected = relative - joint_angles(pixels)
    assert np.abs(np.sin((found - expected) / 2)).max() < 1e-4


def test_a_run_that_hardly_turns_does_not_tell_its_offsets():
    _, links = turning(3000)
    pixels = np.cumsum([0 * links[:, 0], *links[:60].repeat(50, 0).swapaxes(0, 1)], 0).swapaxes(
        0, 1
    )
    pixels = pixels + 0.3 * np.random.default_rng(0).normal(size=pixels.shape)
    with pytest.raises(PdsimError, match=r"run\.csv.*marker_offsets.*turn too little"):
        moved_onto_axes(pixels, "run.csv")
