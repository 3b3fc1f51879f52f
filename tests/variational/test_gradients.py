"""Derivatives of steps and of whole simulations, by every way there is."""

from dataclasses import dataclass
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from variational.problems import Pendulum, PlanarLoop

from pdsim.variational.adjoint import linearised, simulate_by_adjoint, sweep
from pdsim.variational.implicit import Given, step
from pdsim.variational.midpoint import (
    at_rest,
    constraint_slopes,
    momentum,
    residual,
    slopes,
)
from pdsim.variational.simulate import simulate


@dataclass(frozen=True)
class Driven(PlanarLoop):
    """Pushed by u, a torque in each hinge."""

    def force(self, q, v, u, rho):
        return u


DT, STEPS = 0.01, 100
LOOP = Driven(4)
RHO = jnp.array([0.8, 0.5])
DRIVE = 0.01 * jnp.array(np.random.default_rng(1).normal(size=(STEPS, 4)))


@cache
def start():
    """The rest shape, moving along the constraints."""
    with jax.ensure_compile_time_eval():
        q = jnp.array(LOOP.rest)
        null = np.linalg.svd(constraint_slopes(LOOP, q, RHO))[2][2:].T
        v = jnp.array(null @ np.array([2.0, -1.0]))
        return q, momentum(LOOP, q, v, RHO)


def cost(q):
    """Squared distances of the loop's middle from where it rests; q (step, 4)."""
    rest = LOOP.points(jnp.array(LOOP.rest))[0][1]
    found = jax.vmap(lambda q: LOOP.points(q)[0][1])(q) - rest
    # The last one counts twice: running and terminal cost.
    return (found**2).sum() + (found[-1] ** 2).sum()


@cache
def by(whole):
    """Cost and its slopes in (ρ, q, p, u): by the adjoint of the whole, or through the steps."""

    def value(rho, q, p, u):
        if whole:
            motion, _ = simulate_by_adjoint(LOOP, q, p, u, rho, DT, STEPS)
        else:
            motion, _ = simulate(LOOP, q, p, u, rho, DT, steps=STEPS)
        return cost(motion.q)

    return jax.jit(jax.value_and_grad(value, (0, 1, 2, 3)))


@pytest.fixture(scope="module")
def central():
    """The cost's slope in ρ by central differences."""
    h = 1e-5
    ends = [[by(False)(RHO + s * h * e, *start(), DRIVE)[0] for s in (1, -1)] for e in np.eye(2)]
    return np.array([(above - below) / (2 * h) for above, below in ends])


@pytest.fixture(scope="module")
def pushed():
    """The motion at RHO, and the slopes of its configurations in ρ in forward mode."""

    def motion(rho):
        found, _ = simulate(LOOP, *start(), DRIVE, rho, DT, steps=STEPS, forward=True)
        return found.q, found

    tangent, found = jax.jit(jax.jacfwd(motion, has_aux=True))(RHO)
    return found, tangent


@pytest.fixture(scope="module")
def swept(pushed):
    """The simulation at RHO to first order, with the slopes of the cost in its states."""
    motion, _ = pushed
    linear = jax.jit(lambda motion: linearised(LOOP, *start(), DRIVE, RHO, motion, DT))(motion)
    by_q = jax.grad(cost)(motion.q)
    return motion, linear, jnp.concatenate([by_q, jnp.zeros_like(by_q)], axis=1)


def test_a_step_of_the_pendulum_is_the_known_one():
    """Torque 0.8 N m for 0.1 s on 1 kg at 1 m; the map keeps area."""
    rho = (1.0, 1.0, 9.8)

    def end(q, p, u, forward):
        given = Given(jnp.array([q]), jnp.array([p]), u, rho)
        found, *_ = step(Pendulum(), given, at_rest(Pendulum(), given.q, rho), 0.1, forward=forward)
        end = jnp.stack([found.q[0], found.p[0]])
        return end, end

    at = (0.2, 0.5, 0.8)
    expected = np.array(
        [
            [0.953334338555, 0.097666716928, 0.009766671693],
            [-0.933313228895, 0.953334338555, 0.0953333433],
        ]
    )
    (reverse, found), (forward, again) = (
        jax.jit(way(partial(end, forward=forward), (0, 1, 2), has_aux=True))(*at)
        for way, forward in ((jax.jacrev, False), (jax.jacfwd, True))
    )
    reverse, forward = np.stack(reverse, axis=1), np.stack(forward, axis=1)
    for one in (found, again):
        np.testing.assert_allclose(one, [0.247136194156, 0.362723883111], atol=1e-12)
    np.testing.assert_allclose(reverse[:, :2], expected[:, :2], atol=1e-12)
    np.testing.assert_allclose(reverse[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(forward, reverse, atol=1e-14)
    assert np.linalg.det(reverse[:, :2]) == pytest.approx(1.0, abs=1e-12)


def test_all_ways_to_the_gradient_agree(pushed, central):
    motion, tangent = pushed
    forward = jnp.einsum("kx,kxm->m", jax.grad(cost)(motion.q), tangent)
    (_, reverse), (_, adjoint) = (by(whole)(RHO, *start(), DRIVE) for whole in (False, True))
    np.testing.assert_allclose(reverse[0], forward, rtol=1e-10)
    np.testing.assert_allclose(adjoint[0], forward, rtol=1e-10)
    np.testing.assert_allclose(adjoint[0], central, rtol=1e-6)
    # Of the start and of the inputs.
    for a, b in zip(adjoint[1:], reverse[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max())


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

    def literal(q0, p0, u, q1, multiplier, K):
        printed = jax.jacfwd(lambda q: slopes(LOOP, q, q1, RHO, DT)[0])(q0)
        exact = jax.jacfwd(lambda q: residual(LOOP, q, p0, u, RHO, q1, multiplier, DT))(q0)
        only = jnp.concatenate([printed, jnp.zeros((2, 4))])
        change = -jnp.linalg.solve(K, only - exact)[:4]
        after = jax.jacfwd(lambda q: slopes(LOOP, q0, q, RHO, DT)[1])(q1)
        # What replacing the exact R_q0 by the printed one changes of A.
        return jnp.concatenate([change, after @ change])

    change = jax.jit(jax.vmap(literal))(*before, DRIVE, motion.q, motion.multiplier, linear.K)
    printed = linear._replace(A=linear.A.at[:, :, :4].add(change))
    wrong = gradient(printed, cost_slopes, linear.B)
    assert np.all(np.abs(wrong / central - 1) > 1e-2)


def test_the_derivatives_of_8_are_total_and_count_twice_in_9(swept, pushed, central):
    """z' = A z + B is the sensitivity of the motion; in the sum of Eq. 9 only B belongs."""
    _, linear, cost_slopes = swept

    def follow(z, one):
        A, B = one
        z = A @ z + B
        return z, z

    _, total = jax.lax.scan(follow, jnp.zeros_like(linear.B[0]), (linear.A, linear.B))
    _, tangent = pushed
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
