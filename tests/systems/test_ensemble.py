"""Many roll-outs in chunks are the same roll-outs."""

import numpy as np
import pytest

from pdsim.experiment.load import load_experiment
from pdsim.systems import ensemble
from pdsim.systems.simulator import build_simulator

FRAMES, CHANNELS = 30, 4
GRID = {"frame_time": 1 / 500, "precision": "float64"}


@pytest.mark.parametrize("draws", [1, 21, 23])
def test_chunks_of_draws_are_the_whole(root, monkeypatch, draws):
    """Whole chunks, a last one that is not full, and fewer draws than one holds."""
    config = load_experiment(root / "config/experiments/ibm_calibrated.yaml").simulator
    simulator = build_simulator(config)
    random = np.random.default_rng(0)
    coordinates = random.uniform(size=(draws, simulator.space.dimension))
    values = np.asarray(simulator.space.to_physical(coordinates))
    starts, inputs = random.normal(size=(2, CHANNELS)), np.zeros((2, FRAMES, 0))
    given = (simulator, values, starts, inputs)
    whole = ensemble.roll_out(*given, **GRID, frames=np.array([FRAMES, 12]))
    most, held = 7 * FRAMES * CHANNELS, []

    def watched(simulator, coordinates, start, inputs, frames, frame_time):
        held.append(len(coordinates) * frames * CHANNELS)
        return roll(simulator, coordinates, start, inputs, frames, frame_time)

    roll = ensemble._roll
    monkeypatch.setattr(ensemble, "_roll", watched)
    monkeypatch.setattr(ensemble, "_CHUNK", most)
    parts = ensemble.roll_out(*given, **GRID, frames=np.array([FRAMES, 12]))
    np.testing.assert_array_equal(parts, whole)
    assert max(held) <= most


def test_no_draws_roll_out_to_nothing(root):
    config = load_experiment(root / "config/experiments/ibm_calibrated.yaml").simulator
    simulator = build_simulator(config)
    nothing = np.zeros((0, simulator.space.dimension))
    found = ensemble.roll_out(simulator, nothing, np.zeros((1, 4)), np.zeros((1, 9, 0)), **GRID)
    assert found.shape == (1, 0, 9, CHANNELS)
