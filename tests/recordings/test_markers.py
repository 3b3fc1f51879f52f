import numpy as np
import pytest

from pdsim.recordings.markers import joint_angles, read_pixels
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
