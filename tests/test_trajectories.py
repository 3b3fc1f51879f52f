import numpy as np
import pytest

from pdsim.runtime.errors import PdsimError
from pdsim.trajectories import windows


def test_windows_share_their_border_frames_and_lose_none():
    observed = np.arange(400.0)[None, :, None]
    targets, starts = windows(observed, 10)
    assert targets.shape == (40, 1, 10, 1)
    np.testing.assert_array_equal(starts, 40 * np.arange(10))
    # Window w predicts the frames after its start, up to the next window's start.
    np.testing.assert_array_equal(targets[0, 0, :, 0], starts + 1)
    np.testing.assert_array_equal(targets[-1, 0, :-1, 0], starts[1:])
    seen = targets[np.isfinite(targets)]
    np.testing.assert_array_equal(np.sort(seen), np.arange(1, 400))


def test_one_window_is_the_whole_trajectory():
    targets, starts = windows(np.arange(400.0)[None, :, None], 1)
    assert targets.shape == (399, 1, 1, 1)
    assert np.isfinite(targets).all()
    assert starts.tolist() == [0]


def test_too_many_windows_are_refused():
    with pytest.raises(PdsimError, match="cannot be cut into 30 windows"):
        windows(np.zeros((1, 32, 4)), 30)
