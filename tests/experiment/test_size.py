"""Counts whose arrays a machine cannot hold are refused by key, with a count that fits."""

import re

import pytest

from pdsim.experiment.checks import size
from pdsim.experiment.load import load_experiment
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.memory import too_little


@pytest.mark.parametrize(
    ("name", "key", "what"),
    [
        ("demo", "budgets.paper.particle_count", "roll-outs of 100 draws"),
        ("demo", "prediction.samples", "predictions by 400 samples"),
        ("demo", "recording.camera.frame_count", "recordings of"),
        ("calibration_oscillator", "recording.frame_count", "recordings of"),
        ("two_lengths", "bayessim.training_set.count", "simulations of"),
        ("two_lengths", "bayessim.training_set.held_out_count", "simulations of"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(root, monkeypatch, name, key, what):
    experiment = load_experiment(root / f"config/experiments/{name}.yaml")
    size.check_memory(experiment)
    need = next(need for need in size.needs(experiment) if need.key == key)
    monkeypatch.setattr(size, "needs", lambda *_: [need])
    monkeypatch.setattr(size, "physical_memory", lambda: need.size // 2)
    with pytest.raises(PdsimError) as error:
        size.check_memory(experiment)
    assert f"{key}: the {what}" in str(error.value)
    most = re.search(r"use less than ([\d,]+)", str(error.value))[1]
    assert int(most.replace(",", "")) == pytest.approx(need.amount / 2, abs=1)


@pytest.mark.parametrize(
    ("verb", "knob"),
    [
        ("infer", "particle_count"),
        ("export", "--count"),
        ("control", "simulations"),
        ("predict", "prediction.samples"),
        ("training-set", "bayessim.training_set.chunk_size"),
        ("preprocess", "rows"),
        ("simulate", "particle_count"),
    ],
)
def test_the_message_names_what_did_not_fit_and_its_knob(verb, knob):
    told = too_little(verb, on_device=False)
    assert told.startswith("too little memory for the ")
    assert knob in told
    assert "JAX_PLATFORMS" not in told
