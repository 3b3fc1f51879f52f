"""A belief that starts from a posterior file."""

import numpy as np
import pytest
import yaml
from posteriors import section, write_posterior

from pdsim.control.config import ControllerConfig, TaskConfig
from pdsim.control.prior import first_particles
from pdsim.control.tasks.cart_pole import CartPoleTask
from pdsim.experiment.load import load_control
from pdsim.runtime.errors import PdsimError
from pdsim.systems.config import PosteriorOf

ASKED = PosteriorOf(experiment="cart_pole", run="csvgd_marginal")
MEAN, DEVIATION = np.array([1.08, 0.092]), np.array([0.01, 0.004])


def posterior(path, names=("mass_cart", "mass_pole"), unit="kg", run="csvgd_marginal", scale=1.0):
    """A posterior file of 400 Gaussian draws."""
    draws = np.random.default_rng(0).normal(MEAN, DEVIATION, (400, 2)) * scale
    simulator = section(names, system="cart_pole", unit=unit)
    return write_posterior(path, dict(zip(names, draws.T, strict=True)), simulator, run=run)


def test_particles_have_the_posterior_s_moments_and_differ(tmp_path):
    task = CartPoleTask()
    path = posterior(tmp_path / "posterior.nc")
    first = first_particles(path, ASKED, task, 256)
    theta = np.exp(np.array(first)) * task.nominal
    np.testing.assert_allclose(theta.mean(axis=0), MEAN, atol=3 * DEVIATION.max() / 16)
    np.testing.assert_allclose(theta.std(axis=0), DEVIATION, rtol=0.15)
    assert len(np.unique(theta[:, 0])) == 256
    assert first == first_particles(path, ASKED, task, 256)
    belief = ControllerConfig(name="one", belief="svgd").build(task, first).belief
    np.testing.assert_allclose(belief.init(None, None), first, rtol=1e-6)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"names": ("mass_cart", "mass")}, "has no mass_pole, but mass_cart, mass"),
        ({"unit": "g"}, "mass_cart is in g, and cart_pole has it in kg"),
        ({"run": "nuts_marginal"}, "is of run nuts_marginal, seed 0, but prior_from asks for run"),
        ({"scale": -1.0}, "is not a positive number"),
    ],
)
def test_a_posterior_that_does_not_fit_is_refused(tmp_path, changed, words):
    path = posterior(tmp_path / "posterior.nc", **changed)
    with pytest.raises(PdsimError, match=words):
        first_particles(path, ASKED, CartPoleTask(), 8)


def test_the_vehicle_may_be_given_and_the_prior_is_drawn_all_the_same():
    import jax

    task = TaskConfig(name="cart_pole", vehicle={"mass_pole": 0.09, "mass_cart": 1.05}).build()
    for seed in range(2):
        truth = np.exp(np.asarray(task.draw_truth(jax.random.key(seed)))) * task.nominal
        np.testing.assert_allclose(truth, [1.05, 0.09], rtol=1e-6)
    draws = [np.asarray(task.draw_prior(jax.random.key(seed))) for seed in range(2)]
    assert np.all(draws[0] != draws[1])
    with pytest.raises(PdsimError, match=r"task\.vehicle: cart_pole learns mass_cart, mass_pole"):
        TaskConfig(name="cart_pole", vehicle={"mass_cart": 1.0}).build()


MISTAKES = {
    "no such experiment": ({"experiment": "cart_pol"}, r"prior_from\.experiment: .*no such file"),
    "no such run": ({"run": "csvgd_multiple"}, r"has no run 'csvgd_multiple'.*csvgd_marginal"),
    "no such seed": ({"seed": 7}, r"prior_from\.seed: .*has seeds \[0"),
    "another robot": ({"experiment": "calibration_oscillator"}, "has no mass_cart, but stiffness"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_a_controller_starts_from_is_checked_before_anything_runs(root, tmp_path, mistake):
    change, words = MISTAKES[mistake]
    for name in ("cart_pole", "calibration_oscillator"):
        text = (root / f"config/experiments/{name}.yaml").read_text()
        (tmp_path / f"{name}.yaml").write_text(text)
    values = yaml.safe_load((root / "config/experiments/cart_pole_identified.yaml").read_text())
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(values))
    assert load_control(path).controller("from_posterior").prior_from.run == "csvgd_marginal"
    values["controllers"][2]["prior_from"].update(change)
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(PdsimError, match=words) as error:
        load_control(path)
    assert str(path) in str(error.value)


def test_only_particles_start_from_draws():
    with pytest.raises(ValueError, match="belief ukf has no particles"):
        ControllerConfig(name="one", belief="ukf", prior_from=ASKED)
