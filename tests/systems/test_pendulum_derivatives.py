"""Slopes of the double pendulum: its written adjoint, and gradients of its squared error."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import CROOKED, DRAG, MOTORS, random_states
from tiers import slow
from windows import error_of_one

from pdsim.systems import pendulum_motion
from pdsim.systems.double_pendulum import DoublePendulum, Options
from pdsim.systems.misfit import squared_error
from pdsim.systems.pendulum_motion import plain_accelerations
from pdsim.systems.rollout import over_windows, rollout

FREE = DoublePendulum()
DRIVEN = DoublePendulum(options=Options(motors=True, friction_velocity=0.3))
DRY = DoublePendulum(options=Options(dry_friction=True, friction_velocity=0.3))
AIR = DoublePendulum(options=Options(air_drag=True))
START = (1.0, 0.4, 2.0, -3.0)


@pytest.mark.parametrize(
    ("system", "count"), [(FREE, 4 + 10), (DRIVEN, 4 + 2 + 14), (DRY, 4 + 13), (AIR, 4 + 13)]
)
def test_the_written_adjoint_is_the_transpose_of_the_accelerations(system, count):
    """In state, torques and every coefficient, the width ε of dry friction among them."""
    states = tuple(jnp.asarray(c) for c in random_states(30).T)
    rng = np.random.default_rng(2)
    torques = ()
    if system.options.motors or system.options.dry_friction:
        states = (*states[:2], *(0.02 * v for v in states[2:]))  # where dry friction is not flat
    if system.inputs:
        torques = tuple(jnp.asarray(rng.normal(size=30)) for _ in range(2))
    one = system.prepare(CROOKED | MOTORS | DRAG)
    k = jax.tree.map(lambda x: jnp.full(30, x), one)
    cotangent = tuple(jnp.asarray(rng.normal(size=30)) for _ in range(2))
    # Operation by operation: programs contract products and sums, each in its own way.
    with jax.disable_jit():
        shown, automatic = jax.vjp(plain_accelerations, states, torques, k)
        same, written = jax.vjp(pendulum_motion.accelerations, states, torques, k)
    np.testing.assert_array_equal(same, shown)
    expected = automatic(cotangent)
    assert len(jax.tree.leaves(expected)) == count
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(written(cotangent)), strict=True):
        assert np.all(a != 0)
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9 * float(jnp.abs(a).max()))


def test_drag_has_no_slope_at_rest():
    """Forward and in reverse the derivatives there are those without drag."""
    rest, without = (1.0, 0.4, 0.0, 0.0), FREE.prepare(CROOKED)
    k = AIR.prepare(CROOKED | DRAG)
    for form in (plain_accelerations, pendulum_motion.accelerations):
        in_state = [
            jax.jacrev(lambda s, k=k, form=form: form(s, (), k))(rest) for k in (k, without)
        ]
        np.testing.assert_allclose(in_state[0], in_state[1], rtol=1e-9, atol=1e-9)
    in_forward = jax.jacfwd(lambda s: plain_accelerations(s, (), k))(rest)
    np.testing.assert_allclose(in_forward, in_state[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("substeps", [1, 3])
def test_roll_out_gradients_are_those_of_finite_differences(substeps, integrator):
    system = DoublePendulum(integrator=integrator)
    names = [name for name in system.parameters if name != "gravity"]
    values = jnp.array([CROOKED[name] for name in names])
    target = tuple((jnp.full((60,), 0.3), jnp.full((60,), 2.0)) for _ in system.channels)

    def cost(scale, start):
        parameters = dict(zip(names, values * scale, strict=True)) | {"gravity": 9.81}
        total, _ = error_of_one(
            system,
            system.prepare(parameters),
            start,
            (),
            target,
            frame_time=1 / 500,
            substeps=substeps,
        )
        return total

    scale, start = jnp.ones(len(names)), jnp.array(START)
    by_scale, by_start = jax.jit(jax.grad(cost, argnums=(0, 1)))(scale, start)
    value = jax.jit(cost)

    def difference(x, evaluate):
        h = 1e-6
        return np.array(
            [
                (evaluate(x.at[i].add(h)) - evaluate(x.at[i].add(-h))) / (2 * h)
                for i in range(len(x))
            ]
        )

    # Central differences are good to about h² and 1e-16 · cost / h, here 1e-8 relative.
    for found, expected in (
        (by_scale, difference(scale, lambda x: value(x, start))),
        (by_start, difference(start, lambda x: value(scale, x))),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("in_turn", [False, True])
def test_squared_error_is_that_of_the_roll_out(in_turn):
    """Of two particles, three recordings and four windows, some with an end before the last."""
    rng = np.random.default_rng(0)
    lengths, frames, shape = rng.normal(loc=1.0, scale=0.1, size=2), 25, (3, 4)
    start = jnp.asarray(rng.normal(size=(2, *shape, 4)))
    target, precision = rng.normal(size=(4, frames, *shape)), rng.uniform(0, 2, (4, frames, *shape))
    torques = tuple(jnp.asarray(0.1 * rng.normal(size=(2, frames, *shape))))
    active = jnp.asarray(np.arange(frames)[:, None, None] < rng.integers(10, 40, size=shape))
    first_time = jnp.arange(4.0)
    timing = {"frame_time": 1 / 500, "substeps": 2}

    def prepare(length):
        return DRIVEN.prepare(CROOKED | MOTORS | {"length": length * CROOKED["length"]})

    def window(length, start, inputs, active, first_time):
        channels, end = rollout(
            DRIVEN,
            prepare(length),
            DRIVEN.unpack(start),
            inputs,
            frames=frames,
            first_time=first_time,
            active=active,
            **timing,
        )
        return jnp.stack(channels), DRIVEN.pack(end)

    by_window = jnp.broadcast_to(jnp.asarray(lengths)[:, None, None], (2, *shape))
    shown, end = jax.jit(over_windows(window))(by_window, start, torques, active, first_time)
    # (particle, recording, window, channel, frame), as what was observed.
    misses = np.moveaxis(precision, (0, 1), (-2, -1)) * (
        shown - np.moveaxis(target, (0, 1), (-2, -1))
    )
    found = jax.jit(partial(squared_error, DRIVEN, in_turn=in_turn, **timing))(
        jax.vmap(prepare)(jnp.asarray(lengths)),
        start,
        torques,
        tuple(zip(jnp.asarray(target), jnp.asarray(precision), strict=True)),
        first_time=first_time,
        active=active,
    )
    np.testing.assert_allclose(found[0], (misses**2).sum(axis=(-2, -1)), rtol=1e-12)
    np.testing.assert_allclose(found[1], end, rtol=1e-12)


@pytest.mark.parametrize("segment", [slow(1), 4, slow(12), 40])
def test_a_gradient_that_keeps_few_states_is_the_same(segment):
    """Segments that divide the frames, that leave some over, and one that is longer than all."""
    rng = np.random.default_rng(0)
    starts, observed = jnp.asarray(rng.normal(size=(6, 4))), rng.normal(size=(6, 4, 25))

    def gradient(segment):
        def error(scale, start, observed):
            k = FREE.prepare(CROOKED)
            k = k._replace(J1=scale * k.J1)
            targets = tuple((target, jnp.ones(25)) for target in observed)
            total, end = error_of_one(
                FREE, k, start, (), targets, frame_time=1 / 500, segment=segment
            )
            return total + end.sum()

        slopes = jax.jit(jax.vmap(jax.value_and_grad(error, argnums=(0, 1))))
        return slopes(jnp.ones(6), starts, observed)

    for found, expected in zip(
        jax.tree.leaves(gradient(segment)), jax.tree.leaves(gradient(None)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-11)
