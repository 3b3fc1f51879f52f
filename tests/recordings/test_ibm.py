import urllib.error

import jax.numpy as jnp
import numpy as np
import pytest
from reference import IBM_EQUIVALENT
from tiers import slow

from pdsim.recordings import ibm
from pdsim.recordings.cut import cut
from pdsim.recordings.markers import joint_angles, moved_onto_axes, read_pixels
from pdsim.recordings.recording import unsmoothed
from pdsim.recordings.smoothing import Smoothing
from pdsim.runtime.errors import PdsimError
from pdsim.systems.double_pendulum import DoublePendulum
from pdsim.systems.rollout import rollout

SYSTEM = DoublePendulum(integrator="semi_implicit_euler")


def angles(ibm_dir, run):
    return joint_angles(read_pixels(ibm_dir / f"{run}.csv"))


def reference_error(q, first, substeps):
    """RMS position error [rad] of the reference parameters over 400 frames at 500 Hz."""
    observed = np.full((len(q), 4), np.nan)
    observed[:, :2] = q
    run = unsmoothed("0", 1 / 500, observed, np.zeros((len(q), 0)), 4)
    window = cut(run, first, first + 400, SYSTEM, Smoothing(11, 4), derive_velocities=True)
    channels, _ = rollout(
        SYSTEM,
        SYSTEM.prepare(IBM_EQUIVALENT),
        tuple(jnp.asarray(x) for x in window.start),
        frames=399,
        frame_time=1 / 500,
        substeps=substeps,
    )
    return np.sqrt(np.mean((np.stack(channels[:2], axis=1) - window.observed[1:, :2]) ** 2))


def test_checksums_cover_all_runs(ibm_dir):
    assert sorted(ibm.SHA256) == list(range(21))
    for run in (0, 20):
        assert ibm.check_file(ibm_dir / f"{run}.csv", run) == ibm.SHA256[run]


def test_the_reference_parameters_follow_the_real_pendulum(ibm_dir):
    assert reference_error(angles(ibm_dir, 10), 5000, substeps=1) < 0.07
    assert reference_error(angles(ibm_dir, 3), 5000, substeps=10) < 0.3


def test_exchanged_axes_do_not(ibm_dir):
    """The trap of this data set: with (across, down) everything runs and nothing fits."""
    swapped = joint_angles(read_pixels(ibm_dir / "10.csv")[..., ::-1])
    assert reference_error(swapped, 5000, substeps=1) > 0.5


def test_angle_noise_is_a_milliradian(ibm_dir):
    """Fourth differences of the angles hold noise only: 0.7 and 1.4 mrad in q0 and q1."""
    q = angles(ibm_dir, 3)[5000:8000]
    sigma = np.diff(q, 4, axis=0).std(axis=0) / np.sqrt(1 + 16 + 36 + 16 + 1)
    assert sigma == pytest.approx([0.0007, 0.0014], rel=0.15)


def test_a_damaged_file_is_refused(tmp_path, ibm_dir):
    path = tmp_path / "0.csv"
    path.write_bytes((ibm_dir / "0.csv").read_bytes()[:-10])
    with pytest.raises(PdsimError, match="damaged or another"):
        ibm.check_file(path, 0)


def test_without_folder_and_network_both_ways_are_named(tmp_path, monkeypatch):
    def unreachable(*args, **options):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(ibm.urllib.request, "urlopen", unreachable)
    with pytest.raises(PdsimError) as error:
        ibm.download(3, tmp_path / "3.csv")
    for word in ("ibm_dir", "PDSIM_IBM_DIR", ibm.PUBLIC_COPY, "3.csv"):
        assert word in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_is_not_the_published_file_is_not_kept(tmp_path, monkeypatch):
    class Response:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def read(self):
            return b"<html>not found</html>"

    monkeypatch.setattr(ibm.urllib.request, "urlopen", lambda *a, **k: Response())
    with pytest.raises(PdsimError, match="SHA-256"):
        ibm.download(3, tmp_path / "3.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_comes_from_the_config_then_the_environment(monkeypatch):
    monkeypatch.setenv(ibm.FOLDER_VARIABLE, "/from/environment")
    assert ibm.local_folder("/from/config") == "/from/config"
    assert ibm.local_folder(None) == "/from/environment"
    monkeypatch.delenv(ibm.FOLDER_VARIABLE)
    assert ibm.local_folder(None) is None


@pytest.mark.parametrize("run", [2, *(slow(run) for run in range(21) if run != 2)])
def test_markers_sit_beside_their_axes_alike_in_all_runs(ibm_dir, run):
    """On their axes, links keep their lengths; found by every other frame, offsets agree."""
    pixels = read_pixels(ibm_dir / f"{run}.csv")
    moved = moved_onto_axes(pixels, f"{run}.csv")
    lengths, rigid = (
        np.linalg.norm(np.diff(x, axis=1), axis=2).std(axis=0) for x in (pixels, moved)
    )
    # The scatter of both markers remains, 0.6 mrad and 1.4 mrad across.
    assert (lengths > [1.0, 1.25]).all() and (lengths < [1.8, 1.7]).all()
    assert (rigid < [0.6, 0.85]).all()

    def turned(x):
        return (x + np.pi) % (2 * np.pi) - np.pi

    change = turned(joint_angles(moved) - joint_angles(pixels))
    most = np.abs(change).max(axis=0)
    assert (most > [2.5e-3, 8.5e-3]).all() and (most < [5e-3, 11e-3]).all()
    assert -4e-3 < change[16000:16400, 0].mean() < -1.8e-3
    half = moved_onto_axes(pixels[::2], f"{run}.csv")
    half = turned(joint_angles(half) - joint_angles(pixels[::2]))
    assert np.abs(turned(change[::2] - half)).max() < 3e-4
