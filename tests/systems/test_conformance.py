"""What every registered system must do; a new one is found by its line in ``pdsim.registry``."""

from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import compilation
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from windows import error_of_one

from pdsim import registry
from pdsim.systems.integrators import DAMPED, INTEGRATORS
from pdsim.systems.rollout import rollout
from pdsim.systems.system import POSITIONS, ContinuousSystem, System

# Options to test beside the defaults.
OPTIONS = {
    "double_pendulum": (
        {"motors": True},
        {"parameters": "base"},
        {"dry_friction": True, "air_drag": True},
        {"parameters": "base", "motors": True},
    )
}
# Options without which a system is none.
ARM = Path(__file__).parents[1] / "rigid_body" / "arm.xml"
NEEDED = {"articulated": {"model": str(ARM)}, "flexible_loop": {"links": 6}}
# Systems of as many numbers as a robot has take long to compile: not every integrator is tried.
TRIED = {"articulated": ("implicit_damping",)}
# Those whose steps are solved for take minutes to compile.
SLOW = {"flexible_loop": pytest.mark.slow}
# Systems that solve for a step know it to a tolerance, and differences no better than that allows.
SOLVED = {"flexible_loop": 1e-4}
UNITS = {
    "angle": {"rad"},
    "position": {"m"},
    "velocity": {"rad/s", "m/s"},
    "acceleration": {"m/s^2"},
    "momentum": {"N m s"},
    "force": {"N"},
    "torque": {"N m"},
}
FRAMES, FRAME_TIME, FIRST_TIME = 4, 1 / 50, 0.4
TARGET, PRECISION = 0.3, 2.0

# Compiling takes most of the time; these make it a third, and slow what is compiled.
jit = partial(jax.jit, compiler_options=compilation.OPTIONS)


def build(name: str, options: dict) -> System:
    module = registry.load("systems", name)
    return module.build(module.Options.model_validate(NEEDED.get(name, {}) | options))


def variants():
    """Every system with its default options and each integrator, and with other options."""
    for name in registry.NAMES["systems"]:
        system = build(name, {})
        if not isinstance(system, ContinuousSystem):
            yield pytest.param(system, id=name, marks=SLOW.get(name, ()))
        else:
            for integrator in TRIED.get(name, INTEGRATORS):
                able = integrator != "semi_implicit_euler" or system.second_order
                if able and (integrator not in DAMPED or hasattr(system, "damped_step")):
                    yield pytest.param(
                        system.with_integrator(integrator), id=f"{name}-{integrator}"
                    )
        for options in OPTIONS.get(name, ()):
            chosen = (f"{key}={value}" for key, value in options.items())
            yield pytest.param(build(name, options), id="-".join([name, *chosen]))


every_system = pytest.mark.parametrize("system", list(variants()))


class Sample(NamedTuple):
    """One point at which a system is tried; parameters are factors of ``values``."""

    factors: np.ndarray
    start: np.ndarray
    inputs: tuple[np.ndarray, ...]


def values(system: System) -> list[float]:
    """Parameters near their defaults; those of default 0 get a small value, so that they act."""
    rng = np.random.default_rng(3)
    defaults = [parameter.default or 1e-3 for parameter in system.parameters.values()]
    return (np.array(defaults) * rng.uniform(0.9, 1.1, len(defaults))).tolist()


def sample(system: System, seed: int = 0, dtype: str = "float64") -> Sample:
    rng = np.random.default_rng(seed)
    found = Sample(
        factors=rng.uniform(0.95, 1.05, len(system.parameters)),
        start=rng.uniform(-1, 1, len(system.state)),
        inputs=tuple(rng.uniform(-0.01, 0.01, FRAMES) for _ in system.inputs),
    )
    if system.name == "flexible_loop":
        found = found._replace(**closed_loop(system, rng))
    return jax.tree.map(lambda x: np.asarray(x, dtype), found)


def closed_loop(system: System, rng):
    """A loop must be closed at the start, and what acts must be near it."""
    start, half = system.start(), len(system.state) // 2
    start[:half] += rng.uniform(-0.02, 0.02, half)
    start[half:] += rng.uniform(-1, 1, half) * np.where(np.arange(half) < 7, 1e-2, 1e-5)
    start = system.nearest(start, prepare(system, np.ones(len(system.parameters))))
    inputs = tuple(
        (start[number - 7] if 7 <= number < 14 else 0.0) + rng.uniform(-0.01, 0.01, FRAMES)
        for number in range(21)
    )
    return {"start": start, "inputs": inputs}


def prepare(system: System, factors):
    named = zip(system.parameters, values(system), factors, strict=True)
    return system.prepare({name: factor * value for name, value, factor in named})


def roll(system: System, point: Sample, first_time, frames: int):
    """Channels (frame, channel) and the vector of the end state."""
    channels, end = rollout(
        system,
        prepare(system, point.factors),
        system.unpack(point.start),
        point.inputs,
        frames=frames,
        frame_time=FRAME_TIME,
        first_time=first_time,
    )
    return jnp.stack(channels, axis=1), system.pack(end)


def cost(system: System, point: Sample):
    """Squared error of a roll-out that begins at some time of the recording."""
    target = tuple((np.full(FRAMES, TARGET), np.full(FRAMES, PRECISION)) for _ in system.channels)
    total, _ = error_of_one(
        system,
        prepare(system, point.factors),
        point.start,
        point.inputs,
        target,
        frame_time=FRAME_TIME,
        first_time=FIRST_TIME,
    )
    return total


@cache
def reverse_gradient(system: System) -> tuple[float, Sample]:
    """The cost of the sample and its gradient."""
    value, gradient = jit(jax.value_and_grad(lambda point: cost(system, point)))(sample(system))
    return float(value), jax.tree.map(np.asarray, gradient)


roll_two_frames = jit(partial(roll, frames=2), static_argnums=0)
STEP = 1e-5


@cache
def moved_roll_outs(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Roll the sample out with every number of it moved by STEP ahead, then back, then as it is."""
    flat, restore = ravel_pytree(sample(system))
    size = flat.size
    points = np.asarray(flat) + STEP * np.concatenate(
        [np.eye(size), -np.eye(size), np.zeros((1, size))]
    )
    batch = jax.vmap(lambda flat: roll(system, restore(flat), FIRST_TIME, FRAMES))
    channels, ends = jit(batch)(points)
    return np.asarray(channels), np.asarray(ends)


@every_system
def test_names_units_and_kinds_are_complete(system):
    """What a system says of itself is enough for files, figures and units."""
    assert system.name in registry.NAMES["systems"]
    for quantities in (system.state, system.channels, system.inputs):
        names = [quantity.name for quantity in quantities]
        assert len(set(names)) == len(names)
        for quantity in quantities:
            assert quantity.unit in UNITS[quantity.kind], quantity
    shown = {quantity.name for quantity in (*system.state, *system.channels)}
    assert shown.isdisjoint(quantity.name for quantity in system.inputs)
    assert system.channels
    for name, parameter in system.parameters.items():
        assert parameter.unit, name
        assert parameter.meaning, name
        assert parameter.label, name
        assert np.isfinite(parameter.default), name
        assert not (parameter.positive and parameter.default < 0), name


@every_system
def test_second_order_states_are_positions_and_their_rates(system):
    """Semi-implicit Euler and smoothing rely on it."""
    if not getattr(system, "second_order", False):
        pytest.skip("not a state of positions and their rates")
    half = len(system.state) // 2
    assert len(system.state) == 2 * half
    for position, rate in zip(system.state[:half], system.state[half:], strict=True):
        assert position.kind in POSITIONS
        assert (rate.kind, rate.unit) == ("velocity", f"{position.unit}/s")
    vector = sample(system).start
    prepared = prepare(system, sample(system).factors)
    rates = system.derivative(system.unpack(vector), (0.0,) * len(system.inputs), 0.0, prepared)
    np.testing.assert_array_equal(system.pack(rates)[:half], vector[half:])


@every_system
def test_a_state_survives_its_vector(system):
    """Shooting variables are vectors, steps work on states."""
    vector = sample(system).start
    assert vector.shape == (len(system.state),)
    np.testing.assert_array_equal(system.pack(system.unpack(vector)), vector)


@every_system
def test_a_state_differs_from_others_and_not_from_itself(system):
    """Defects of shooting are such differences."""
    a, b = sample(system).start, sample(system, 1).start
    np.testing.assert_array_equal(system.difference(a, a), np.zeros(len(system.state)))
    assert np.all(system.difference(a, b) != 0)
    np.testing.assert_allclose(system.difference(a, b), -system.difference(b, a), rtol=1e-12)


@every_system
def test_equality_and_hash_are_by_content(system):
    """Equal systems share compiled programs, others never."""
    plain = build(system.name, {})
    others = [build(system.name, options) for options in ({}, *OPTIONS.get(system.name, ()))]
    if isinstance(system, ContinuousSystem):
        assert system.with_integrator("another") != system
        others = [one.with_integrator(system.integrator) for one in others]
    same = [one for one in others if one == system]
    assert len(same) == 1
    assert same[0] is not system
    assert hash(same[0]) == hash(system)
    assert all(plain != build(system.name, o) for o in OPTIONS.get(system.name, ()))


@every_system
def test_combinations_are_finite_and_have_units(system):
    """What the motion identifies goes into files and tables."""
    values_and_units = system.combinations(
        dict(zip(system.parameters, values(system), strict=True))
    )
    for name, (value, unit) in values_and_units.items():
        assert np.isfinite(value), name
        assert np.shape(value) == (), name
        assert unit, name
        assert system.combination_meanings.get(name), f"combination_meanings: what is {name}?"


@every_system
def test_a_batch_is_its_samples_and_a_roll_out_goes_on_where_it_was_left(system):
    """Two halves alone, the second from the end of the first and at its time, are a whole."""
    point = sample(system)
    channels, ends = moved_roll_outs(system)
    front = point._replace(inputs=tuple(u[:2] for u in point.inputs))
    first, middle = roll_two_frames(system, front, FIRST_TIME)
    back = point._replace(start=middle, inputs=tuple(u[2:] for u in point.inputs))
    second, end = roll_two_frames(system, back, FIRST_TIME + 2 * FRAME_TIME)
    alone = np.concatenate([first, second])
    np.testing.assert_allclose(channels[-1], alone, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ends[-1], end, rtol=1e-10, atol=1e-12)
    # The neighbours in the batch are other roll-outs, unless one moves a number that does not act.
    assert system.name in NEEDED or not np.any(np.all(channels[:-1] == channels[-1], axis=(1, 2)))


@every_system
def test_reverse_mode_is_that_of_finite_differences(system):
    """In parameters, start state and inputs; and the squared error is that of the roll-out."""
    value, gradient = reverse_gradient(system)
    channels, _ = moved_roll_outs(system)
    costs = np.sum((PRECISION * (channels - TARGET)) ** 2, axis=(1, 2))
    assert value == pytest.approx(costs[-1], rel=1e-12)
    flat, restore = ravel_pytree(sample(system))
    found = restore((costs[: flat.size] - costs[flat.size : -1]) / (2 * STEP))
    # Central differences are good to about STEP² = 1e-10 and 1e-16 · cost / STEP = 1e-10.
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(found), strict=True):
        digits = SOLVED.get(system.name, 1e-6)
        np.testing.assert_allclose(a, b, rtol=digits, atol=digits * np.abs(b).max())


# Primitives of JAX that call LAPACK.
LAPACK = {"cholesky", "eig", "eigh", "geqrf", "lu", "qr", "schur", "svd", "triangular_solve"}


def primitives(jaxpr) -> set[str]:
    """Names of all primitives of a program, those of inner programs too."""
    found = set()
    for equation in jaxpr.eqns:
        found.add(equation.primitive.name)
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=_is_program):
            if _is_program(inner):
                found |= primitives(getattr(inner, "jaxpr", inner))
    return found


def _is_program(value) -> bool:
    return hasattr(value, "eqns") or hasattr(value, "jaxpr")


@every_system
def test_who_calls_lapack_says_so(system):
    """A job of two cores would else have too few threads, and stop for ever."""
    forward = jax.jacfwd(lambda point: cost(system.forward_mode(), point))
    used = primitives(jax.make_jaxpr(forward)(sample(system)).jaxpr)
    used |= primitives(jax.make_jaxpr(jax.grad(lambda p: cost(system, p)))(sample(system)).jaxpr)
    assert system.lapack or not used & LAPACK
    if system.name == "flexible_loop":  # which solves, so that a name missing above would be seen
        assert used & LAPACK


@every_system
def test_forward_mode_is_reverse_mode(system):
    """Tangents and gradients are those of one function."""
    point = sample(system)
    forward = jit(jax.jacfwd(lambda point: cost(system.forward_mode(), point)))(point)
    for a, b in zip(
        jax.tree.leaves(forward), jax.tree.leaves(reverse_gradient(system)[1]), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10 * np.abs(b).max())


@every_system
def test_every_parameter_start_variable_and_input_acts(system):
    """None of them has no effect on the error; of an input, no frame has none."""
    gradient = reverse_gradient(system)[1]
    for name, slope in zip(system.parameters, gradient.factors, strict=True):
        # Of a robot's numbers some act on what is not observed, or not from here, as limits do.
        assert slope != 0 or system.name in NEEDED, name
    for quantity, slope in zip(system.state, gradient.start, strict=True):
        assert slope != 0, quantity.name
    for quantity, slopes in zip(system.inputs, gradient.inputs, strict=True):
        assert np.all(slopes != 0), quantity.name


@every_system
def test_an_input_acts_from_its_frame_to_the_next(system):
    """Inputs are held during a frame, neither early nor late."""
    if not system.inputs:
        pytest.skip("no inputs")
    point = sample(system)
    point = point._replace(inputs=tuple(u[:2] for u in point.inputs))
    moved = point._replace(inputs=tuple(u + np.array([0, 0.1]) for u in point.inputs))
    before, after = (roll_two_frames(system, one, FIRST_TIME)[0] for one in (point, moved))
    # Row 0 of the roll-out is the frame before input 1 acts, row 1 the one after.
    np.testing.assert_array_equal(after[0], before[0])
    assert np.any(after[1] != before[1])


@every_system
def test_float32_stays_float32(system):
    """A constant of another type would double memory unseen."""
    point = sample(system, dtype="float32")
    shapes = jax.eval_shape(lambda point: roll(system, point, FIRST_TIME, FRAMES), point)
    assert {leaf.dtype for leaf in jax.tree.leaves(shapes)} == {np.dtype("float32")}


@every_system
def test_nan_stays_nan(system):
    """A state that has failed never becomes finite again."""
    point = sample(system)
    lost = point._replace(
        start=np.full(len(system.state), np.nan), inputs=tuple(u[:2] for u in point.inputs)
    )
    _, end = roll_two_frames(system, lost, FIRST_TIME)
    assert not np.any(np.isfinite(end))
