"""Sum against product of two trajectories from two pendulums (Sec. II-B, Fig. 6)."""

import numpy as np
import pytest

from pdsim.experiment.load import load_experiment
from pdsim.experiment.slices import slice_of
from pdsim.inference import load_estimator
from pdsim.inference.runner import run
from pdsim.inference.runs import WorkConfig
from pdsim.likelihood.build import build_problem
from pdsim.registry import load
from pdsim.runtime.files import read_dataset
from pdsim.stages.preprocess import preprocess
from pdsim.stages.record import record
from pdsim.systems.simulator import build_simulator

TRUE = np.array([[1.2, 2.2], [2.0, 1.4]])
NEAR = 0.25  # [m]; the two are 1.1 m apart


@pytest.fixture(scope="module")
def posteriors(root, tmp_path_factory):
    """CSVGD's draws, by the way the two likelihoods are combined."""
    folder = tmp_path_factory.mktemp("modes")
    draws = {}
    for name in ("product", "sum"):
        experiment = load_experiment(root / f"config/experiments/modes_{name}.yaml")
        raw, trajectories = folder / name, folder / f"{name}.nc"
        record(slice_of("record", experiment), output=str(raw))
        files = experiment.source.files(experiment.recording, str(raw))
        preprocess(slice_of("preprocess", experiment), raw=files, output=str(trajectories))
        problem = build_problem(
            build_simulator(experiment.simulator),
            experiment.likelihood,
            read_dataset(trajectories),
            "multiple",
            "float64",
        )
        settings = load("inference", "csvgd").Settings.model_validate(
            experiment.run("csvgd_multiple").settings
        )
        budget = WorkConfig(particle_count=100, iteration_count=300)
        estimator = load_estimator("csvgd", settings, budget)
        result = run(estimator, problem, seed=0, chunk_size=100)
        coordinates = estimator.draws(problem, result.state).parameters
        draws[name] = np.asarray(problem.space.to_physical(coordinates))
    return draws


def near(draws, point) -> float:
    return np.mean(np.linalg.norm(draws - point, axis=1) < NEAR)


@pytest.mark.slow
def test_the_product_averages(posteriors):
    """CSVGD on two pendulums at once, by the product of their likelihoods."""
    assert near(posteriors["product"], TRUE.mean(axis=0)) > 0.8
    assert max(near(posteriors["product"], point) for point in TRUE) < 0.05


@pytest.mark.slow
def test_the_sum_keeps_both_modes(posteriors):
    """CSVGD on two pendulums at once, by the sum of their likelihoods."""
    assert min(near(posteriors["sum"], point) for point in TRUE) > 0.15
    assert sum(near(posteriors["sum"], point) for point in TRUE) > 0.7
