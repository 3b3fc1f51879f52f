"""A step that ends with the friction of its end: its equation, its slopes, what it does to differences."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.rigid_body.forces import friction
from pdsim.rigid_body.friction import slowed
from pdsim.rigid_body.links import Links
from pdsim.systems.articulated import Options, build

CASES, JOINTS, DT = 500, 7, 0.01


@pytest.fixture(scope="module")
def cases():
    """Masses whose joints pull each other, friction from none felt to one that holds everything."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(CASES, JOINTS, JOINTS)) * np.exp(rng.normal(size=(CASES, 1, JOINTS)))
    mass = 0.3 * root @ root.swapaxes(1, 2) + 0.003 * np.eye(JOINTS)
    dry = np.exp(1.5 * rng.normal(size=(CASES, JOINTS)) - 1)
    scale = np.exp(rng.uniform(np.log(1e-4), 0, size=CASES))
    damping = np.where(rng.random((CASES, JOINTS)) < 0.5, 0, rng.lognormal(size=(CASES, JOINTS)))
    v = rng.normal(size=(CASES, JOINTS)) * np.exp(rng.uniform(-4, 1, size=(CASES, 1)))
    force = rng.normal(size=(CASES, JOINTS)) * dry * np.exp(rng.normal(size=(CASES, JOINTS)))
    momentum = np.einsum("bij,bj->bi", mass, v) + DT * force
    return mass, momentum, v, dry, damping, scale


def _links(dry, damping, scale):
    return Links(
        {"velocity/friction": dry, "velocity/damping": damping, "velocity/friction_velocity": scale}
    )


@partial(jax.jit, static_argnames="dtype")
def _solved(mass, momentum, v, *numbers, dtype=jnp.float64):
    given = (jnp.asarray(x, dtype) for x in (mass, momentum, v, *numbers))

    def one(mass, momentum, v, *numbers):
        links = _links(*numbers)
        u = slowed(mass, momentum, links, v, DT)
        return u, mass @ u + DT * friction(links, u) - momentum

    return jax.vmap(one)(*given)


@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float64, 1e-11), (jnp.float32, 1e-3)])
def test_forces_are_in_balance_at_the_end(cases, dtype, tolerance):
    _, momentum, _, dry, _, _ = cases
    u, missed = _solved(*cases, dtype=dtype)
    assert u.dtype == dtype
    size = (np.abs(momentum) + DT * dry).max(axis=1, keepdims=True)
    np.testing.assert_array_less(np.abs(missed) / size, tolerance)


def test_what_is_not_a_number_stays_none(cases):
    mass, momentum, *rest = (x[:2] for x in cases)
    u, _ = _solved(mass, np.array([[np.nan], [1.0]]) * momentum, *rest)
    assert np.isnan(u[0]).all() and np.isfinite(u[1]).all()


def _stepper(friction_velocity):
    system = build(Options(model=str(__file__).replace("test_friction.py", "arm.xml")))
    system = system.with_integrator("implicit_damping")
    held = {"joint/swing/friction": 3.0, "joint/reach/friction": 3.0}
    values = {k: p.default for k, p in system.parameters.items()} | held
    prepared = system.prepare(values | {"joint/swing/friction_velocity": friction_velocity})

    def stepped(vector):
        return system.pack(system.step(system.unpack(vector), (), 0.0, prepared, DT))

    return system, prepared, stepped


@pytest.mark.parametrize("friction_velocity", [1e-3, 1e-2])
def test_velocities_come_nearer_to_each_other(friction_velocity):
    """Where joints stop: measured with the masses, no difference grows; a step with the friction of
    its beginning, though it stops them too, enlarges some by a half."""
    system, prepared, stepped = _stepper(friction_velocity)
    rng = np.random.default_rng(3)
    states = np.concatenate(
        [np.tile([0.4, 0.1], (200, 1)), rng.normal(size=(200, 2)) * 0.1], axis=1
    )
    slopes = jax.jit(jax.vmap(jax.jacfwd(stepped)))(states)[:, 2:, 2:]
    mass = system.mass_matrix(jnp.array(states[0]), prepared)
    root = np.linalg.cholesky(mass).T
    measured = root @ np.asarray(slopes) @ np.linalg.inv(root)
    growth = np.linalg.norm(measured, ord=2, axis=(1, 2))
    # Centrifugal forces move velocities too, by a thousandth.
    assert growth.max() < 1.01 and growth.min() < 0.3


def test_slopes_are_differences():
    _, _, stepped = _stepper(0.01)
    states = np.array([[0.4, 0.1, 0.03, -0.02], [0.2, -0.3, 0.5, 0.4], [0.4, 0.1, -0.1, 0.002]])
    slopes = np.asarray(jax.jit(jax.vmap(jax.jacfwd(stepped)))(states))
    np.testing.assert_allclose(
        slopes, jax.jit(jax.vmap(jax.jacrev(stepped)))(states), rtol=1e-9, atol=1e-10
    )
    moved = 1e-6 * np.eye(4)[None]
    ahead, back = (
        np.asarray(jax.jit(jax.vmap(jax.vmap(stepped)))(states[:, None] + sign * moved))
        for sign in (1, -1)
    )
    np.testing.assert_allclose(slopes, (ahead - back).swapaxes(1, 2) / 2e-6, rtol=1e-5, atol=1e-6)
