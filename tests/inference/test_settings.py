"""Settings of the estimators: read without their libraries, refused where they mean nothing."""

import subprocess
import sys
from typing import get_args

import pytest
from inference.targets import ESTIMATORS, build
from pydantic import ValidationError

from pdsim.inference.csvgd import Settings as CsvgdSettings
from pdsim.inference.runs import Shooting
from pdsim.registry import NAMES, load
from pdsim.settings.section import Section

GRADIENT = {"descent": "gradient"}
SLOW = ("blackjax", "emcee", "optax", "pandas", "scipy")


@pytest.mark.parametrize("method", NAMES["inference"])
def test_every_module_has_what_the_config_asks_for(method):
    module = load("inference", method)
    assert issubclass(module.Settings, Section)
    assert module.Settings.__doc__
    for name, field in module.Settings.model_fields.items():
        assert field.description, name
    shootings = getattr(module, "SHOOTINGS", get_args(Shooting))
    assert set(shootings) <= set(get_args(Shooting))
    # What a job is given are the settings in full, written and read again.
    settings = module.Settings()
    assert module.Settings.model_validate(settings.model_dump(mode="json")) == settings


def test_reading_settings_imports_no_library_that_takes_long():
    code = (
        "import jax, jax.numpy, pydantic, sys; import pdsim.parameters.space; before = set(sys.modules)\n"
        "from pdsim.registry import NAMES, load\n"
        "for name in NAMES['inference']: load('inference', name).Settings()\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & set(SLOW)


def test_reading_an_experiment_imports_no_scipy():
    code = "import sys, pdsim.experiment.load; print('scipy.optimize' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_can_be_a_key(name):
    """Compiled programs are found by it."""
    one, other = (build(name, particles=10, iterations=10) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)


def test_each_descent_has_its_defaults():
    newton, gradient = CsvgdSettings(), CsvgdSettings.model_validate(GRADIENT)
    assert (newton.step_size, newton.multiplier_step, newton.damping) == (0.5, 0.3, None)
    assert (gradient.step_size, gradient.multiplier_step, gradient.damping) == (0.01, 1e-3, 1.0)
    assert CsvgdSettings.model_validate(GRADIENT | {"step_size": 0.02}).step_size == 0.02
    again = CsvgdSettings.model_validate(gradient.model_dump(mode="json"))
    assert again == gradient


@pytest.mark.parametrize("name", ["damping", "limit_scale", "gradient_limit"])
def test_settings_of_one_descent_are_refused_with_the_other(name):
    assert getattr(CsvgdSettings.model_validate(GRADIENT | {name: 2.0}), name) == 2.0
    with pytest.raises(ValidationError, match=f"{name} belongs to descent: gradient"):
        CsvgdSettings.model_validate({name: 2.0})


def test_an_unknown_descent_is_refused():
    with pytest.raises(ValidationError, match="descent"):
        CsvgdSettings.model_validate({"descent": "newton"})
