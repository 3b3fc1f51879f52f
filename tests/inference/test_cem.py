"""The cross-entropy method's own ground; its posteriors are tested with all others'."""

import numpy as np
from inference.targets import build, gaussian
from threadpoolctl import threadpool_info, threadpool_limits

from pdsim.inference.cem import Cem
from pdsim.inference.runner import run


def test_small_matrices_are_left_to_one_thread(monkeypatch):
    """With two, which wait for one another, a run on a busy machine took six times as long."""
    seen, fit = [], Cem._fit

    def told(*arguments):
        seen.extend(x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas")
        return fit(*arguments)

    monkeypatch.setattr(Cem, "_fit", told)
    problem = gaussian(np.array([0.4, 0.7]), np.diag([0.02, 0.01]))
    with threadpool_limits(2, user_api="blas"):
        run(build("cem", particles=20, iterations=3), problem, seed=0, chunk_size=10, report=False)
        assert all(x["num_threads"] == 2 for x in threadpool_info() if x["user_api"] == "blas")
    assert seen and set(seen) == {1}
