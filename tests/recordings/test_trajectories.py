import numpy as np
import pytest

from pdsim.recordings.trajectories import window_length, windows
from pdsim.runtime.errors import PdsimError


def cut(frames, count):
    """Windows of a recording whose values are its frame numbers, frame 0 left out."""
    length = window_length(frames, count)
    observed = np.arange(1.0, frames)[None, :, None]
    return windows(observed, length, count, np.nan), length * np.arange(count)


def test_windows_share_their_border_frames_and_lose_none():
    targets, starts = cut(400, 10)
    assert targets.shape == (40, 1, 10, 1)
    np.testing.assert_array_equal(starts, 40 * np.arange(10))
    # Window w predicts the frames after its start, up to the next window's start.
    np.testing.assert_array_equal(targets[0, 0, :, 0], starts + 1)
    np.testing.assert_array_equal(targets[-1, 0, :-1, 0], starts[1:])
    seen = targets[np.isfinite(targets)]
    np.testing.assert_array_equal(np.sort(seen), np.arange(1, 400))


def test_one_window_is_the_whole_trajectory():
    targets, starts = cut(400, 1)
    assert targets.shape == (399, 1, 1, 1)
    assert np.isfinite(targets).all()
    assert starts.tolist() == [0]


def test_too_many_windows_are_refused_and_counts_that_fit_are_named():
    with pytest.raises(PdsimError, match="cannot be cut into 30 windows") as error:
        window_length(32, 30)
    assert "window_count" in str(error.value)
    assert "use 16 or 31" in str(error.value)
    for count in (16, 31):
        targets, starts = cut(32, count)
        assert starts[-1] < 31
        assert np.isfinite(targets[:, 0, -1]).any()


def test_what_lies_beyond_the_end_is_filled():
    cut = windows(np.ones((2, 7, 3)), 4, 2, -1.0)
    assert cut.shape == (4, 2, 2, 3)
    assert (cut[:3] == 1).all()
    assert (cut[3, :, 0] == 1).all()
    assert (cut[3, :, 1] == -1).all()


def test_recordings_of_unequal_length_are_padded(trajectories_of):
    from pdsim.recordings.trajectories import inputs_of, select
    from pdsim.systems.oscillator import Oscillator

    values = [np.ones((length, 2)) for length in (30, 20)]
    data = trajectories_of(Oscillator(), values, values, 0.01, splits=["train", "test"])
    assert data["length"].values.tolist() == [30, 20]
    assert np.isfinite(data["observed"].values[1, :20]).all()
    assert np.isnan(data["observed"].values[1, 20:]).all()
    assert inputs_of(data).shape == (2, 29, 1)
    assert not inputs_of(data).any()
    with pytest.raises(PdsimError, match="none of split 'other'"):
        select(data, "other")


def test_recordings_at_different_rates_are_refused():
    from dataclasses import replace

    from pdsim.recordings.recording import unsmoothed
    from pdsim.recordings.trajectories import trajectory_set
    from pdsim.systems.oscillator import Oscillator

    one = unsmoothed("0", 0.01, np.ones((30, 2)), np.zeros((30, 1)), 2, source="a.csv")
    other = replace(one, frame_time=0.02, source="b.csv")
    with pytest.raises(PdsimError, match=r"b\.csv: 0\.02 s between frames, but a\.csv has 0\.01"):
        trajectory_set(Oscillator(), [one, other], ["train", "test"], {})


def test_a_truth_that_the_training_recordings_share_is_known(trajectories_of):
    from pdsim.parameters.space import Parameter, ParameterSpace
    from pdsim.recordings.trajectories import known_truth, true_parameters
    from pdsim.systems.oscillator import Oscillator

    space = ParameterSpace((Parameter("k", 1.0, 50.0, "N/m", sets=("stiffness",)),))
    values = [np.ones((20, 2))] * 2

    def made(**truth):
        return trajectories_of(Oscillator(), values, values, 0.01, truth=truth.items())

    assert known_truth(made(stiffness=20.0, mass=1.0), space).tolist() == [20.0]
    assert known_truth(made(mass=1.0), space) is None
    assert known_truth(made(), space) is None
    different = made(stiffness=20.0)
    different["truth"][1] = 21.0
    assert known_truth(different, space) is None
    assert true_parameters(different, space).ravel().tolist() == [20.0, 21.0]
