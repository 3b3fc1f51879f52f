"""The loop in the hand of the arm: geometry, springs, and when its steps are too long."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.recordings.arm_path import ArmPath, reference
from pdsim.systems.baxter_arm import LINKS
from pdsim.systems.flexible_loop import Options, build
from pdsim.systems.loop_mechanics import ARM, POSTURE, Drive, clamp_of
from pdsim.variational.adjoint import simulate_by_adjoint
from pdsim.variational.midpoint import constraint_slopes, slopes
from pdsim.variational.simulate import failure, simulate
from pdsim.variational.stability import stability_number

RHO = {"kappa_theta": 4.45252, "kappa_psi": 0.96969, "mass": 0.132, "gravity": 9.81, "damping": 0.0}


def mechanics(links):
    return build(Options(links=links)).mechanics


def driven(loop, dt, steps):
    """What moves the arm along the reference path, held against gravity."""
    middles = jnp.array(reference(ArmPath(), POSTURE, (np.arange(steps) + 0.5) * dt))
    q = jnp.array(loop.start)
    alone = RHO | {"mass": 0.0, "kappa_theta": 0.0, "kappa_psi": 0.0}

    def holding(b):
        return -jax.grad(loop.lagrangian)(q.at[:ARM].set(b), jnp.zeros_like(q), alone)[:ARM]

    return Drive(jax.vmap(holding)(middles), middles, jnp.zeros_like(middles))


@pytest.mark.parametrize(("links", "size"), [(6, 19), (12, 31)])
def test_the_loop_at_rest_is_a_regular_polygon_that_is_closed(links, size):
    loop = mechanics(links)
    assert loop.start.shape == (size,)
    assert len(build(Options(links=links)).state) == 2 * size
    q = jnp.array(loop.start)
    np.testing.assert_allclose(loop.hand(q), [0.61598, -0.81099, 0.19294], atol=1e-5)
    np.testing.assert_allclose(clamp_of(links).place[0], [0.61598, -0.81099, -0.51706], atol=1e-5)
    np.testing.assert_allclose(loop.constraint(q, RHO), np.zeros(12), atol=1e-14)
    placed = loop.tree.follow(q)
    corners = np.concatenate([placed.points[ARM : ARM + 2 * links : 2], placed.points[-1:]])
    middle = 0.5 * (np.asarray(placed.points[-3]) + np.asarray(placed.points[-1]))
    np.testing.assert_allclose(np.linalg.norm(corners - middle, axis=1), 0.355, atol=1e-12)


def test_constraints_are_independent_at_rest():
    singular = np.linalg.svd(constraint_slopes(mechanics(12), jnp.array(mechanics(12).start), RHO))[
        1
    ]
    np.testing.assert_allclose(singular[[0, -1]], [3.97, 0.084], rtol=5e-3)


def test_the_bare_arm_has_the_known_mass_matrix():
    loop = mechanics(6)
    q = jnp.array(loop.start)
    bare = RHO | {"mass": 0.0}
    M = jax.hessian(loop.lagrangian, 1)(q, jnp.zeros_like(q), bare)
    expected = [3.234, 2.625, 0.527, 0.510, 0.0359, 0.0271, 0.0006]
    np.testing.assert_allclose(np.diag(M)[:ARM], expected, atol=5e-4)


def test_derivatives_without_recursion_are_those_that_follow_the_tree():
    tree = mechanics(6).tree
    rng = np.random.default_rng(0)
    q, v = (jnp.array(rng.normal(size=19)) for _ in range(2))
    from pdsim.variational.hinges import place

    plain = jax.jvp(tree.follow, (q,), (v,))[1]
    for a, b in zip(jax.jvp(lambda q: place(tree, q), (q,), (v,))[1], plain, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_slopes_of_the_springs_are_the_closed_form():
    """D3 D1 Ld = D3 D2 Ld = −dt/4 (q0 + q1) at the angles of that spring, 0 elsewhere."""
    loop, dt = mechanics(6), 0.01
    rng = np.random.default_rng(0)
    q0, q1 = (jnp.array(loop.start + rng.normal(size=19) * 0.1) for _ in range(2))
    for name, places in (("kappa_theta", loop.thetas), ("kappa_psi", loop.thetas + 1)):
        found = jax.jacfwd(lambda k, name=name: slopes(loop, q0, q1, RHO | {name: k}, dt))(1.0)
        expected = np.zeros(19)
        expected[places] = -dt / 4 * np.asarray(q0 + q1)[places]
        for one in found:
            np.testing.assert_allclose(one, expected, atol=1e-14)


def test_what_acts_is_the_torque_that_was_measured_less_its_bias():
    system = build(Options(links=6))
    values = {name: parameter.default for name, parameter in system.parameters.items()}
    values |= {f"bias_{link.name}": 0.1 * (i + 1) for i, link in enumerate(LINKS)}
    found = system.drive(jnp.arange(21.0), system.prepare(values))
    np.testing.assert_allclose(found.torque, np.arange(7.0) - 0.1 * np.arange(1, 8))
    np.testing.assert_array_equal(found.angle, np.arange(7.0) + 7)
    np.testing.assert_array_equal(found.rate, np.arange(7.0) + 14)


@pytest.mark.parametrize(("key", "value"), [("links", 5), ("mass_factors", (1.0,))])
def test_options_that_make_no_loop_are_refused(key, value):
    with pytest.raises(ValueError, match=key):
        Options.model_validate({key: value})


@pytest.mark.slow
def test_the_stability_number_foresees_that_an_undamped_loop_diverges():
    """12 links at dt = 0.01 s: without damping S passes 1 and steps fail; with 0.05 they do not."""
    loop, dt, steps = mechanics(12), 0.01, 100
    q, drive = jnp.array(loop.start), driven(loop, dt, steps)
    run = jax.jit(
        lambda damping: simulate(loop, q, 0 * q, drive, RHO | {"damping": damping}, dt, steps=steps)
    )
    motion, report = run(0.0)
    lost = failure(report, dt)
    assert lost is not None and "did not converge" in lost.reason
    assert np.all(np.isnan(motion.q[lost.step :]))
    number = jax.jit(lambda q, impulse: stability_number(loop, q, impulse, RHO, dt))
    last = lost.step - 1
    assert max(number(motion.q[k - 1], motion.multiplier[k]) for k in (last, last - 1)) > 1
    motion, report = run(0.05)
    assert failure(report, dt) is None
    closed = jax.vmap(lambda q: loop.constraint(q, RHO))(motion.q)
    assert np.abs(closed).max() <= 1e-10


@pytest.mark.slow
def test_every_way_to_the_gradient_of_the_hands_path_agrees():
    """6 links for one second: the adjoint sweep, both modes through the steps, differences."""
    loop, dt, steps = mechanics(6), 0.01, 100
    q, drive = jnp.array(loop.start), driven(loop, dt, steps)

    def whole(kappa):
        return RHO | {"kappa_theta": kappa[0], "kappa_psi": kappa[1], "damping": 0.05}

    def cost(kappa, follow):
        motion, _ = follow(whole(kappa))
        hand = jax.vmap(loop.hand)(motion.q)
        return ((hand - loop.hand(q)) ** 2).sum()

    def through(rho, **form):
        return simulate(loop, q, 0 * q, drive, rho, dt, steps=steps, **form)

    def by_adjoint(rho):
        return simulate_by_adjoint(loop, q, 0 * q, drive, rho, dt, steps)

    at, h = jnp.array([5.0, 5.0]), 1e-3
    reverse = jax.jit(jax.value_and_grad(lambda kappa: cost(kappa, through)))
    forward = jax.jit(jax.jacfwd(lambda kappa: cost(kappa, partial(through, forward=True))))(at)
    adjoint = jax.jit(jax.grad(lambda kappa: cost(kappa, by_adjoint)))(at)
    np.testing.assert_allclose(adjoint, forward, rtol=1e-10)
    np.testing.assert_allclose(reverse(at)[1], forward, rtol=1e-10)
    ends = [[reverse(at + sign * h * e)[0] for sign in (1, -1)] for e in np.eye(2)]
    central = [(above - below) / (2 * h) for above, below in ends]
    np.testing.assert_allclose(central, adjoint, rtol=1e-6)
