"""Derivatives of steps and of whole simulations, by every way there is."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from variational.problems import Pendulum, PlanarLoop

from pdsim.variational.adjoint import linearised, simulate_by_adjoint, sweep
from pdsim.variational.implicit import Given, step
from pdsim.variational.linearise import linearise
from pdsim.variational.midpoint import (
    at_rest,
    constraint_slopes,
    momentum,
    residual,
    slopes,
)
from pdsim.variational.simulate import simulate

DT, STEPS = 0.01, 100
LOOP = PlanarLoop(4)
RHO = jnp.array([0.8, 0.5])


@cache
def start():
    """The rest shape, moving along the constraints."""
    with jax.ensure_compile_time_eval():
        q = jnp.array(LOOP.rest)
        null = np.linalg.svd(constraint_slopes(LOOP, q, RHO))[2][2:].T
        v = jnp.array(null @ np.array([2.0, -1.0]))
        return q, momentum(LOOP, q, v, RHO)


def path(q):
    """Where the middle of the loop is, (2,)."""
    return LOOP.points(q)[0][1]


@pytest.fixture(scope="module")
def measured():
    motion, _ = simulate(LOOP, *start(), None, jnp.array([0.7, 0.6]), DT, steps=STEPS)
    return jax.vmap(path)(motion.q)


def errors(motion, measured):
    found = jax.vmap(path)(motion.q) - measured
    # The last one counts twice: running and terminal cost.
    return jnp.concatenate([found, found[-1:]])


def cost(rho, measured, **form):
    motion, _ = simulate(LOOP, *start(), None, rho, DT, steps=STEPS, **form)
    return (errors(motion, measured) ** 2).sum()


def by_adjoint(rho, measured):
    motion, _ = simulate_by_adjoint(LOOP, *start(), None, rho, DT, STEPS)
    return (errors(motion, measured) ** 2).sum()


@pytest.fixture(scope="module")
def central(measured):
    def at(rho):
        return cost(rho, measured)

    h = 1e-5
    ends = jax.jit(jax.vmap(at))(RHO + h * jnp.concatenate([jnp.eye(2), -jnp.eye(2)]))
    return (ends[:2] - ends[2:]) / (2 * h)


def test_a_step_of_the_pendulum_is_the_known_one():
    """Torque 0.8 N m for 0.1 s on 1 kg at 1 m; the map keeps area."""
    rho = (1.0, 1.0, 9.8)

    def end(q, p, u, forward):
        given = Given(jnp.array([q]), jnp.array([p]), u, rho)
        found, *_ = step(Pendulum(), given, at_rest(Pendulum(), given.q, rho), 0.1, forward=forward)
        return jnp.stack([found.q[0], found.p[0]])

    at = (0.2, 0.5, 0.8)
    np.testing.assert_allclose(end(*at, False), [0.247136194156, 0.362723883111], atol=1e-12)
    expected = np.array(
        [
            [0.953334338555, 0.097666716928, 0.009766671693],
            [-0.933313228895, 0.953334338555, 0.0953333433],
        ]
    )
    reverse = np.stack(jax.jacrev(lambda *x: end(*x, False), (0, 1, 2))(*at), axis=1)
    forward = np.stack(jax.jacfwd(lambda *x: end(*x, True), (0, 1, 2))(*at), axis=1)
    np.testing.assert_allclose(reverse[:, :2], expected[:, :2], atol=1e-12)
    np.testing.assert_allclose(reverse[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(forward, reverse, atol=1e-14)
    assert np.linalg.det(reverse[:, :2]) == pytest.approx(1.0, abs=1e-12)


def test_all_ways_to_the_gradient_agree(measured, central):
    reverse = jax.jit(jax.grad(lambda rho: cost(rho, measured)))(RHO)
    forward = jax.jit(jax.jacfwd(lambda rho: cost(rho, measured, forward=True)))(RHO)
    adjoint = jax.jit(jax.grad(lambda rho: by_adjoint(rho, measured)))(RHO)
    np.testing.assert_allclose(reverse, forward, rtol=1e-10)
    np.testing.assert_allclose(adjoint, forward, rtol=1e-10)
    np.testing.assert_allclose(adjoint, central, rtol=1e-6)


def test_start_and_inputs_have_derivatives_by_the_adjoint(measured):
    """As by reverse mode through the steps."""

    class Driven(PlanarLoop):
        def force(self, q, v, u, rho):
            return u

    drive = 0.01 * jnp.array(np.random.default_rng(1).normal(size=(20, 4)))

    def value(whole, q, p, u):
        ends = (
            simulate_by_adjoint(Driven(), q, p, u, RHO, DT, 20)
            if whole
            else simulate(Driven(), q, p, u, RHO, DT, steps=20)
        )
        return (jax.vmap(path)(ends[0].q) ** 2).sum() + (ends[0].p ** 2).sum()

    pair = [
        jax.jit(jax.grad(lambda *x, whole=whole: value(whole, *x), (0, 1, 2)))(*start(), drive)
        for whole in (False, True)
    ]
    for a, b in zip(*pair, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max())


@pytest.fixture(scope="module")
def swept(measured):
    """The simulation at RHO to first order, with the slopes of the cost in its states."""
    q, p = start()
    motion, _ = simulate(LOOP, q, p, None, RHO, DT, steps=STEPS)
    linear = jax.jit(lambda motion: linearised(LOOP, q, p, None, RHO, motion, DT))(motion)
    by_q = jax.grad(lambda q: (errors(motion._replace(q=q), measured) ** 2).sum())(motion.q)
    return motion, linear, jnp.concatenate([by_q, jnp.zeros_like(by_q)], axis=1)


def gradient(linear, slopes, B):
    return jnp.einsum("kx,kxm->m", sweep(linear.A, slopes), B)


def test_the_sweep_with_these_matrices_gives_the_gradient(swept, central):
    _, linear, slopes = swept
    np.testing.assert_allclose(gradient(linear, slopes, linear.B), central, rtol=1e-6)


def test_without_the_multipliers_term_of_7b_the_gradient_is_wrong(swept, central):
    """The paper prints R_q0 = D1 D1 Ld + D1 Fd⁻; −D(Dhᵀ λ) is missing."""
    motion, linear, cost_slopes = swept
    q, p = start()
    before = (jnp.concatenate([a[None], b[:-1]]) for a, b in ((q, motion.q), (p, motion.p)))

    def literal(q0, p0, q1, multiplier):
        K = linearise(LOOP, Given(q0, p0, None, RHO), q1, multiplier, DT).K
        printed = jax.jacfwd(lambda q: slopes(LOOP, q, q1, RHO, DT)[0])(q0)
        exact = jax.jacfwd(lambda q: residual(LOOP, q, p0, None, RHO, q1, multiplier, DT))(q0)
        only = jnp.concatenate([printed, jnp.zeros((2, 4))])
        change = -jnp.linalg.solve(K, only - exact)[:4]
        after = jax.jacfwd(lambda q: slopes(LOOP, q0, q, RHO, DT)[1])(q1)
        # What replacing the exact R_q0 by the printed one changes of A.
        return jnp.concatenate([change, after @ change])

    change = jax.jit(jax.vmap(literal))(*before, motion.q, motion.multiplier)
    printed = linear._replace(A=linear.A.at[:, :, :4].add(change))
    wrong = gradient(printed, cost_slopes, linear.B)
    assert np.all(np.abs(wrong / central - 1) > 1e-2)


def test_the_derivatives_of_8_are_total_and_count_twice_in_9(swept, central, measured):
    """z' = A z + B is the sensitivity of the motion; in the sum of Eq. 9 only B belongs."""
    _, linear, cost_slopes = swept

    def follow(z, one):
        A, B = one
        z = A @ z + B
        return z, z

    _, total = jax.lax.scan(follow, jnp.zeros_like(linear.B[0]), (linear.A, linear.B))
    tangent = jax.jacfwd(
        lambda rho: simulate(LOOP, *start(), None, rho, DT, steps=STEPS, forward=True)[0].q
    )(RHO)
    np.testing.assert_allclose(total[:, :4], tangent, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(jnp.einsum("kx,kxm->m", cost_slopes, total), central, rtol=1e-6)
    twice = gradient(linear, cost_slopes, total)
    assert np.all(np.abs(twice / central - 1) > 0.5)


def test_steps_are_symplectic_along_the_constraints(swept):
    """Aᵀ Ω A = Ω for dq0 in the null space of Dh(q0); the loop has no damping."""
    motion, linear, _ = swept
    for k in (1, 50, 99):
        null = np.linalg.svd(constraint_slopes(LOOP, motion.q[k - 1], RHO))[2][2:].T
        basis = np.zeros((8, 6))
        basis[:4, :2], basis[4:, 2:] = null, np.eye(4)
        omega = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.eye(4), np.zeros((4, 4))]])
        A = np.asarray(linear.A[k]) @ basis
        np.testing.assert_allclose(A.T @ omega @ A, basis.T @ omega @ basis, atol=1e-10)
