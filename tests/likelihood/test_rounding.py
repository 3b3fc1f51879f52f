"""Where numbers lose their meaning, the likelihood says so and is not large."""

import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.likelihood.smoother import Windows, log_likelihood, run_filter

COUNT, FRAMES, STEP = 40, 10, 0.01


def windows(sigma: float) -> Windows:
    """Two joints with sensors of that noise, all windows guessed wrong by about 1."""
    random, identity = np.random.default_rng(0), np.eye(4)
    times = STEP * np.arange(1, FRAMES + 1)
    rows = np.kron(np.eye(2), np.stack([np.ones(FRAMES), times], axis=1)) / sigma
    rows = rows[:, [0, 2, 1, 3]] * (1 + 1e-3 * random.normal(size=(COUNT, 1, 1)))
    guessed, noise = random.normal(size=(COUNT, 4)), random.normal(size=(COUNT, 2 * FRAMES))
    residuals = np.einsum("whs,ws->wh", rows, guessed) + noise
    transition = identity + 0.1 * np.eye(4, k=2)
    return Windows(
        jnp.array((residuals**2).sum(axis=1)),
        jnp.einsum("whs,wh->ws", rows, residuals),
        jnp.einsum("whs,wht->wst", rows, rows),
        jnp.array(1e-3 * random.normal(size=(COUNT - 1, 4))),
        jnp.broadcast_to(transition, (COUNT - 1, 4, 4)),
    )


@pytest.mark.parametrize(("sigma", "known"), [(1e-4, True), (1e-6, True), (1e-9, False)])
def test_a_likelihood_is_never_above_its_maximum(sigma, known):
    identity = jnp.eye(4)
    found = run_filter(windows(sigma), jnp.zeros(4), identity, identity, jnp.array(0.3))
    value = float(log_likelihood(found))
    assert np.isfinite(value) == known
    assert not value > 0
