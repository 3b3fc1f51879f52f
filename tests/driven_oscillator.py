"""A driven oscillator whose recordings the Kalman filter knows: the setting of exact tests."""

import jax
import jax.numpy as jnp
import numpy as np
from kalman import kalman
from scipy.linalg import expm

from pdsim.likelihood.config import MarginalConfig
from pdsim.likelihood.marginal_data import marginal_problem
from pdsim.likelihood.noise import noise_model
from pdsim.likelihood.problem import Position
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.oscillator import Oscillator
from pdsim.systems.simulator import Simulator

FRAME_TIME, WINDOWS, START_DEVIATION = 0.02, 4, 3.0
FIXED = {"mass": 0.7, "damping": 0.4, "gain": 1.3}
SPACE = ParameterSpace(
    (
        Parameter("stiffness", 8.0, 16.0, "N/m", sets=("stiffness",)),
        Parameter("rest", -0.2, 0.2, "m", sets=("rest",)),
    ),
    tuple(FIXED.items()),
)
COVARIANCE = np.array([[2e-4, 1e-4], [1e-4, 3e-3]])
# Of stiffness, rest, σ, q of both state variables and its correlation.
POINTS = np.array([[0.5, 0.6, 0.4, 0.5, 0.6, 0.7], [0.3, 0.1, 0.6, 0.7, 0.2, 0.3]])


def recordings(trajectories_of):
    """Two recordings of a driven oscillator, one shorter, positions measured with gaps."""
    random = np.random.default_rng(1)
    observed, states, inputs = [], [], []
    for length in (61, 38):
        force = np.repeat(random.uniform(-5, 5, length // 5 + 1), 5)[:length]
        state, rows = np.array([0.3, -0.8]), []
        for push in force:
            rows.append(state)
            transition, shift = exact_step(12.0, 0.05, push)
            state = transition @ state + shift + 0.01 * random.normal(size=2)
        rows = np.array(rows)
        seen = rows + np.array([0.01, 0.1]) * random.normal(size=rows.shape)
        seen[7:11, 0] = np.nan
        observed.append(seen)
        states.append(rows + 0.05 * random.normal(size=rows.shape))
        inputs.append(force[:, None])
    made = trajectories_of(Oscillator(), observed, states, FRAME_TIME, inputs=inputs)
    made["start_covariance"][:] = COVARIANCE
    made["channel_derived"][:] = [False, True]
    return made


def exact_step(stiffness, rest, push):
    """One frame of the oscillator under constant force: x ← A x + b."""
    mass, damping = FIXED["mass"], FIXED["damping"]
    force = (FIXED["gain"] * push + stiffness * rest) / mass
    generator = np.zeros((3, 3))
    generator[0, 1] = 1.0
    generator[1] = [-stiffness / mass, -damping / mass, force]
    whole = expm(generator * FRAME_TIME)
    return whole[:2, :2], whole[:2, 2]


evaluate = jax.jit(lambda problem, point: problem.evaluate(point))
linearise = jax.jit(lambda problem, point: problem.linearise(point))
slope = jax.jit(
    jax.grad(lambda x, problem, point: evaluate(problem, point._replace(parameters=x))[0].sum())
)


def problem_of(data, *, start=START_DEVIATION, count=WINDOWS, **config):
    simulator = Simulator(Oscillator(integrator="rk4"), SPACE, 20)
    return marginal_problem(
        simulator,
        data,
        noise_model(MarginalConfig(**config), simulator, data),
        start_deviation=start,
        window_count=count,
        combination="product",
        iterations=1,
    )


def position(problem, points):
    nothing = jnp.zeros((len(points), *problem.start_shooting().shape))
    return Position(jnp.asarray(points), nothing)


def log_likelihood(data, point, space):
    """log p of all recordings together."""
    stiffness, rest, sigma, *q, rho = np.asarray(space.to_physical(jnp.asarray(point)))
    total = 0.0
    for one in range(data.sizes["trajectory"]):
        force = data["inputs"].values[one, :, 0]
        total += kalman(
            data["observed"].values[one, : int(data["length"][one])],
            lambda frame, force=force: exact_step(stiffness, rest, force[frame - 1]),
            data["start"].values[one],
            START_DEVIATION**2 * COVARIANCE,
            [sigma],
            q,
            rho,
            length=-(-60 // WINDOWS),
        )[0]
    return total
