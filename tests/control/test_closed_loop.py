from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.control.closed_loop import advance_all, begin_all
from pdsim.control.config import ControllerConfig
from pdsim.control.tasks.cart_pole import CartPoleTask
from pdsim.control.tasks.quadrotor import QuadrotorTask


def controller(task, belief="ukf", **settings):
    small = {"samples": 9, "sequences": 20, "horizon": 6, "iterations": 3, "particles": 16}
    config = ControllerConfig(name="one", belief=belief, **{**small, **settings})
    return config.build(task)


@pytest.mark.slow
def test_a_batch_is_its_simulations_and_chunks_are_a_whole():
    """A vehicle alone moves as in a batch, and one stopped and gone on with as one that was not."""
    one = controller(QuadrotorTask())
    start = begin_all(one, 3, 2)
    _, whole = advance_all(one, 3, start, jnp.asarray(0), 6)
    middle, first = advance_all(one, 3, start, jnp.asarray(0), 3)
    _, second = advance_all(one, 3, middle, jnp.asarray(3), 3)
    for name in ("state", "input", "mean", "safety"):
        parts = np.concatenate([getattr(first, name), getattr(second, name)])
        np.testing.assert_allclose(parts, getattr(whole, name), rtol=1e-9, atol=1e-12)
    alone = jax.tree.map(lambda x: x[1:], start)
    _, single = advance_all(one, 3, alone, jnp.asarray(0), 3)
    np.testing.assert_allclose(single.state[:, 0], whole.state[:3, 1], rtol=1e-9, atol=1e-12)


def test_controllers_meet_the_same_vehicles_and_others_under_another_seed():
    task = QuadrotorTask()
    ukf, oracle = (begin_all(controller(task, belief), 0, 3) for belief in ("ukf", "truth"))
    np.testing.assert_array_equal(ukf.truth, oracle.truth)
    assert len(np.unique(np.asarray(ukf.truth)[:, 0])) == 3
    assert np.all(np.asarray(begin_all(controller(task), 1, 3).truth) != np.asarray(ukf.truth))


@pytest.mark.slow
def test_each_run_of_the_cart_pole_begins_anew_with_the_belief_kept():
    """Between runs the cart is put back and what is believed is not."""
    task = CartPoleTask(lap_time=0.06)
    one = controller(task)
    assert task.lap_steps == 3
    end, record = advance_all(one, 0, begin_all(one, 0, 2), jnp.asarray(0), 4)
    x = np.asarray(record.state[:, :, 0])
    # Within a run the cart moves by centimetres, from one to the next to another start.
    assert np.abs(np.diff(x[:3], axis=0)).max() < 0.05 < np.abs(x[3] - x[2]).max()
    deviation = np.asarray(record.deviation[:, :, 0])
    assert np.all(deviation[3] <= deviation[2] * 1.01)
    del end


def test_a_vehicle_that_is_lost_is_held_and_learns_no_more():
    task = QuadrotorTask()
    one = controller(task)
    start = begin_all(one, 0, 1)
    over = start._replace(state=start.state.at[0, 2].set(np.deg2rad(84.9)).at[0, 5].set(9.0))
    _, record = advance_all(one, 0, over, jnp.asarray(0), 6)
    assert np.all(np.asarray(record.crashed))
    np.testing.assert_array_equal(record.state[0], record.state[-1])
    np.testing.assert_array_equal(record.mean[0], record.mean[-1])


@pytest.mark.slow
def test_a_lap_of_the_quadrotor_is_safe_and_near_the_oracle_s():
    """Heavy and light vehicles, with the settings of the shipped experiment."""
    task = QuadrotorTask()
    rmse = {}
    for belief, settings in (
        ("truth", {"samples": 1, "risk": 0.5, "sequences": 2000, "robust_trajectory": False}),
        ("svgd", {"samples": 10}),
    ):
        one = ControllerConfig(name="one", belief=belief, **settings).build(task)
        _, record = advance_all(one, 0, begin_all(one, 0, 2), jnp.asarray(0), task.lap_steps)
        assert np.all(np.asarray(record.clearance) > 0)
        times = (jnp.arange(task.lap_steps) + 1) * task.control_time
        goal = np.stack([np.asarray(x) for x in task.reference(times)[:2]], axis=1)
        error = np.asarray(record.state)[..., :2] - goal[:, None]
        rmse[belief] = np.sqrt((error**2).sum(axis=-1).mean())
    assert rmse["truth"] <= rmse["svgd"] <= 1.35 * rmse["truth"]


def test_single_precision_stays_single():
    task = QuadrotorTask()
    one = controller(task, "svgd")
    with jax.enable_x64(False):
        start = begin_all(one, 0, 1)
        shapes = jax.eval_shape(partial(advance_all, one, 0, count=1), start, jnp.asarray(0))
    floats = {x.dtype for x in jax.tree.leaves(shapes) if jnp.issubdtype(x.dtype, jnp.floating)}
    assert floats == {np.dtype("float32")}
