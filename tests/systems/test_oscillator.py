import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import driven_oscillator

from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.systems.ensemble import roll_out
from pdsim.systems.oscillator import Options, Oscillator, build
from pdsim.systems.rollout import rollout
from pdsim.systems.simulator import Simulator

PARAMETERS = {"mass": 0.7, "damping": 0.4, "stiffness": 12.0, "rest": 0.05, "gain": 1.3}
FRAME_TIME = 0.02
START = (0.3, -0.8)
FORCE = np.random.default_rng(0).uniform(-5, 5, 100)


def closed_form(p, start, force) -> np.ndarray:
    """Motion (frame, 2) of the under-damped oscillator with a force held from frame to frame.

    About the balance x_e = rest + gain u / k, with δ = c / 2m and ω² = k/m − δ²,

        y(t) = exp(−δt) (y cos ωt + (ẏ + δ y) / ω sin ωt)
        ẏ(t) = exp(−δt) (ẏ cos ωt − (δ ẏ + k/m y) / ω sin ωt)
    """
    decay, natural = p["damping"] / (2 * p["mass"]), p["stiffness"] / p["mass"]
    omega = np.sqrt(natural - decay**2)
    shrink = np.exp(-decay * FRAME_TIME)
    cosine, sine = np.cos(omega * FRAME_TIME), np.sin(omega * FRAME_TIME) / omega
    x, dx = start
    motion = []
    for u in force:
        balance = p["rest"] + p["gain"] * u / p["stiffness"]
        y = x - balance
        x = balance + shrink * (y * cosine + (dx + decay * y) * sine)
        dx = shrink * (dx * cosine - (decay * dx + natural * y) * sine)
        motion.append((x, dx))
    return np.array(motion)


def simulated(parameters, substeps: int) -> np.ndarray:
    @jax.jit
    def roll(start, force):
        channels, _ = rollout(
            Oscillator(),
            parameters,
            start,
            (force,),
            frames=len(FORCE),
            frame_time=FRAME_TIME,
            substeps=substeps,
        )
        return jnp.stack(channels, axis=1)

    return np.asarray(roll(tuple(map(jnp.asarray, START)), jnp.asarray(FORCE)))


def test_two_closed_forms_agree():
    np.testing.assert_allclose(
        closed_form(PARAMETERS, START, FORCE),
        driven_oscillator(PARAMETERS, START, FORCE)[1:],
        atol=1e-12,
    )


@pytest.mark.parametrize(("substeps", "bound"), [(2, 2e-7), (20, 2e-11)])
def test_motion_under_a_force_is_the_closed_form(substeps, bound):
    """RK4 at 10 ms and at 1 ms: a tenth of the step, 1e-4 of the error."""
    expected = closed_form(PARAMETERS, START, FORCE)
    np.testing.assert_allclose(simulated(PARAMETERS, substeps), expected, rtol=0, atol=bound)


def test_motion_depends_on_the_combinations_only():
    scaled = PARAMETERS | {
        name: 3 * PARAMETERS[name] for name in ("mass", "damping", "stiffness", "gain")
    }
    one, other = (Oscillator().combinations(p) for p in (PARAMETERS, scaled))
    for name, (value, unit) in one.items():
        assert other[name] == (pytest.approx(value, rel=1e-12), unit)
    np.testing.assert_allclose(simulated(PARAMETERS, 1), simulated(scaled, 1), rtol=0, atol=1e-12)


def test_it_takes_no_options():
    assert build(Options()) == Oscillator()
    with pytest.raises(ValueError, match="extra"):
        Options.model_validate({"motors": True})


def test_of_a_short_recording_no_more_frames_are_simulated_than_it_has():
    fixed = tuple((k, v) for k, v in PARAMETERS.items() if k != "mass")
    space = ParameterSpace((Parameter("mass", 0.5, 1.0, "kg", sets=("mass",)),), fixed)
    simulator = Simulator(Oscillator(), space, 1)
    arguments = simulator, np.array([[0.7], [0.8]]), np.array([START, START])
    grid = {"frame_time": FRAME_TIME, "precision": "float64"}
    inputs = np.stack([FORCE[:20, None]] * 2)
    whole = roll_out(*arguments, inputs, **grid)
    cut = roll_out(*arguments, inputs, **grid, frames=np.array([20, 7]))
    np.testing.assert_allclose(cut[0], whole[0], rtol=1e-12)
    np.testing.assert_allclose(cut[1, :, :7], whole[1, :, :7], rtol=1e-12)
    assert (cut[1, :, 7:] == cut[1, :, 6:7]).all()
