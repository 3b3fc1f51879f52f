"""Where numbers lose their meaning the likelihood says so, and elsewhere rounding does not grow."""

import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.likelihood.smoother import Windows, log_likelihood, run_filter, smooth

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


@pytest.mark.parametrize(("growth", "known"), [(10.0, True), (100.0, False)])
def test_motions_that_fly_apart_are_not_likely(growth, known):
    """Where rounding leaves no covariance, a quarter of these came out above their maximum."""
    random, count, size, batch = np.random.default_rng(0), 40, 4, 200
    rows = 100 * random.normal(size=(count, 3, size, batch))
    residuals = random.normal(size=(count, 3, batch))
    flying = Windows(
        jnp.array((residuals**2).sum(axis=1)),
        jnp.einsum("wksb,wkb->wsb", rows, residuals),
        jnp.einsum("wksb,wktb->wstb", rows, rows),
        jnp.array(0.01 * random.normal(size=(count - 1, size, batch))),
        jnp.array(growth * random.normal(size=(count - 1, size, size, batch))),
    )
    identity = jnp.broadcast_to(jnp.eye(size)[..., None], (size, size, batch))
    q = identity * 10.0 ** random.uniform(-10, 0, (size, 1, batch))
    found = run_filter(flying, jnp.zeros((size, batch)), identity, q, jnp.full(batch, 0.4))
    value = np.asarray(log_likelihood(found))
    assert np.isfinite(value).all() == known
    assert not (value > 0).any()


def test_rounding_does_not_grow_over_many_windows():
    """Against one dense system of all windows, where pushes are large beside the sensors' noise."""
    count, size, rho = 280, 4, 0.8
    random, identity = np.random.default_rng(0), np.eye(4)
    times = STEP * np.arange(1, 6)
    rows = np.kron(np.eye(2), np.stack([np.ones(5), times], axis=1))[:, [0, 2, 1, 3]] / 1e-4
    residuals = random.normal(size=(count, 10))
    transition = identity + 5 * STEP * np.eye(size, k=2)
    transition[2:, 2:] += 0.3 * random.normal(size=(2, 2))
    kick = identity.copy()
    kick[2:, 2:] = 10 * np.linalg.inv([[1, 0.9], [0.9, 1]])
    q, start = np.array([1e-4, 1e-4, 1e-2, 1e-2]) ** 2, 1e-2 * identity
    gaps = 1e-3 * random.normal(size=(count - 1, size))
    windows = Windows(
        jnp.array((residuals**2).sum(axis=1)),
        jnp.array(residuals @ rows),
        jnp.broadcast_to(rows.T @ rows, (count, size, size)),
        jnp.array(gaps),
        *(jnp.broadcast_to(x, (count - 1, size, size)) for x in (transition, kick)),
    )
    correlation = jnp.array(rho)
    found = run_filter(windows, jnp.zeros(size), jnp.array(start), jnp.diag(q), correlation)
    states, _ = smooth(windows, found, correlation)

    # β_w = K⁻¹ (δ_{w+1} + g_w − E δ_w), and what is new in it.
    steps, undo = np.eye(count)[1:], np.linalg.inv(kick)
    new = np.eye(count - 1) - rho * np.eye(count - 1, k=-1)
    variances = np.outer([1.0, *[1 - rho**2] * (count - 2)], q).ravel()
    pushes = np.kron(new @ steps, undo) - np.kron(new @ np.eye(count)[:-1], undo @ transition)
    offset = (new @ gaps @ undo.T).ravel()
    precision = pushes.T @ (pushes / variances[:, None]) + np.kron(np.eye(count), rows.T @ rows)
    precision[:size, :size] += np.linalg.inv(start)
    slope = pushes.T @ (offset / variances) + (residuals @ rows).ravel()
    mode = -np.linalg.solve(precision, slope)
    np.testing.assert_allclose(states.ravel(), mode, atol=1e-9)
    misfit = (residuals**2).sum() + (offset**2 / variances).sum() + slope @ mode
    determinants = np.linalg.slogdet(precision)[1] + np.linalg.slogdet(start)[1]
    determinants += np.log(variances).sum() + 2 * (count - 1) * np.linalg.slogdet(kick)[1]
    expected = -0.5 * (misfit + determinants)
    np.testing.assert_allclose(log_likelihood(found), expected, atol=1e-5)
