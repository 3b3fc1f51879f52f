"""A planar loop over many steps: constraints, energy, order, and what other integrators do."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tiers import slow
from variational.problems import PlanarLoop, energy

from pdsim.variational.constraint import mass_matrix
from pdsim.variational.midpoint import Guess, constraint_slopes, momentum, solve
from pdsim.variational.simulate import failure, simulate

RHO = jnp.array([0.8, 0.5])


def moving(loop, joules, seed=0):
    """The rest shape and velocities along the constraints of a kinetic energy."""
    with jax.ensure_compile_time_eval():
        q = jnp.array(loop.rest)
        null = np.linalg.svd(constraint_slopes(loop, q, RHO))[2][2:].T
        v = null @ np.random.default_rng(seed).normal(size=loop.links - 2)
        v *= np.sqrt(joules / (0.5 * v @ mass_matrix(loop, q, RHO) @ v))
        return q, jnp.array(v)


@partial(jax.jit, static_argnames=("loop", "dt", "steps"))
def run(loop, q, v, dt, steps):
    """Motion, report, and the energy of each step: that of its middle."""
    motion, report = simulate(loop, q, momentum(loop, q, v, RHO), None, RHO, dt, steps=steps)
    whole = jnp.concatenate([q[None], motion.q])
    middle, rate = 0.5 * (whole[1:] + whole[:-1]), jnp.diff(whole, axis=0) / dt
    return motion, report, jax.vmap(lambda q, v: energy(loop, q, v, RHO))(middle, rate)


def openness(loop, q):
    """max |h| of each configuration, (step,)."""
    return np.abs(jax.vmap(lambda q: loop.constraint(q, RHO))(q)).max(axis=1)


@pytest.mark.parametrize("links", [4, slow(5), slow(6)])
def test_the_loop_stays_closed_and_keeps_its_energy(links):
    """20 s at 0.01 s; the loop starts with 0.05 J of motion."""
    loop, dt, steps = PlanarLoop(links), 0.01, 2000
    motion, report, found = run(loop, *moving(loop, 0.05), dt, steps)
    assert failure(report, dt) is None
    assert openness(loop, motion.q).max() <= 1e-10
    assert np.abs(found / found[0] - 1).max() <= 0.008
    assert abs(np.polyfit(dt * np.arange(steps), found, 1)[0]) <= 1e-5
    halves = np.ptp(np.reshape(found, (2, -1)), axis=1)
    assert halves[1] == pytest.approx(halves[0], rel=0.3)


@pytest.mark.slow
def test_what_the_energy_of_a_fast_loop_does_is_an_error_of_second_order():
    """With 0.2 J six links swing far: ten times the slope above, which shorter steps take away."""
    loop = PlanarLoop(6)
    spreads, slopes = [], []
    for dt, steps in ((0.01, 2000), (0.005, 4000), (0.0025, 8000)):
        _, _, found = run(loop, *moving(loop, 0.2), dt, steps)
        spreads.append(np.abs(found / found[0] - 1).max())
        slopes.append(abs(np.polyfit(dt * np.arange(steps), found, 1)[0]))
    assert spreads[0] > 3.5 * spreads[1] > 3.5**2 * spreads[2]
    assert slopes[0] > 4 * slopes[1] > 4**2 * slopes[2]
    assert slopes[2] <= 1e-5


def test_newtons_own_steps_are_few():
    """Without a matrix at hand, from the velocity and the impulse of the step before."""
    loop, dt = PlanarLoop(4), 0.01
    q, v = moving(loop, 0.2)
    motion, _, _ = run(loop, q, v, dt, 2000)
    nothing = jnp.full((6, 6), jnp.nan)

    def again(before, here):
        (q, _, _), (q0, p0, multiplier) = before, here
        guess = Guess((q0 - q) / dt, multiplier, nothing)
        return solve(loop, q0, p0, None, RHO, guess, dt)

    rows = [jax.tree.map(lambda x, k=k: x[k : k + 1998], motion) for k in (0, 1)]
    found = jax.jit(jax.vmap(again))(*rows)
    np.testing.assert_allclose(found.q, motion.q[2:], atol=1e-11)
    # The first is the chord step, which needs a matrix and fails.
    assert found.iterations.max() - 1 <= 4


def acceleration(loop, q, v):
    """a and λ of M a + Dhᵀ λ = f, Dh a = −(d/dt Dh) v: the constraints differentiated twice."""
    by_v = jax.grad(loop.lagrangian, 1)
    f = jax.grad(loop.lagrangian)(q, v, RHO) - jax.jvp(lambda q: by_v(q, v, RHO), (q,), (v,))[1]
    Dh = constraint_slopes(loop, q, RHO)
    turning = jax.jvp(lambda q: constraint_slopes(loop, q, RHO) @ v, (q,), (v,))[1]
    M = mass_matrix(loop, q, RHO)
    corner = jnp.zeros((len(Dh), len(Dh)))
    K = jnp.block([[M, Dh.T], [Dh, corner]])
    return jnp.linalg.solve(K, jnp.concatenate([f, -turning]))[: len(q)]


@cache
def field(loop):
    """d(q, v)/dt of the index-reduced equations."""

    @jax.jit
    def rate(state):
        q, v = jnp.split(state, 2)
        return jnp.concatenate([v, acceleration(loop, q, v)])

    return rate


@pytest.mark.slow
def test_the_error_falls_with_the_square_of_the_step():
    """Five links for 0.5 s, against the index-reduced equations at a tolerance of 1e-11."""
    loop, end = PlanarLoop(5), 0.5
    q, v = moving(loop, 0.2)
    rate = field(loop)
    exact = solve_ivp(
        lambda _, y: np.asarray(rate(y)),
        (0, end),
        np.concatenate([q, v]),
        method="DOP853",
        rtol=1e-11,
        atol=1e-11,
    )
    assert np.abs(loop.constraint(exact.y[:5, -1], RHO)).max() < 1e-8
    errors = []
    for steps in (50, 100, 200, 400, 800):
        motion, _, _ = run(loop, q, v, end / steps, steps)
        errors.append(np.linalg.norm(motion.q[-1] - exact.y[:5, -1]))
    ratios = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(ratios[1:], 4.0, rtol=0.1)


@pytest.mark.slow
def test_integrating_accelerations_lets_the_loop_open():
    """Runge and Kutta's fourth order at 0.01 s for 20 s, the same loop and start."""
    loop, dt, steps = PlanarLoop(5), 0.01, 2000
    q, v = moving(loop, 0.2)
    rate = field(loop)

    @jax.jit
    def follow(y):
        def once(y, _):
            a = rate(y)
            b = rate(y + 0.5 * dt * a)
            c = rate(y + 0.5 * dt * b)
            d = rate(y + dt * c)
            y = y + dt / 6 * (a + 2 * b + 2 * c + d)
            return y, y

        return jax.lax.scan(once, y, length=steps)[1]

    opened = openness(loop, follow(jnp.concatenate([q, v]))[:, :5])
    assert opened[-500:].max() > 1e-4
    assert opened[-500:].max() > 3 * opened[:500].max()
    motion, _, _ = run(loop, q, v, dt, steps)
    assert openness(loop, motion.q).max() <= 1e-10
