"""Every key at the top of an experiment file goes through `pdsim fit`."""

import pytest
import yaml

from pdsim.cli.main import main
from pdsim.experiment.model import ExperimentConfig

LINK = {"lower": 0.5, "upper": 5.0, "unit": "m"}
MASS = {"lower": 0.5, "upper": 2.0, "unit": "kg"}
KEYS = {
    "kind": "identification",
    "title": "Every key",
    "description": "Each key at the top of the file, once.",
    "notes": ["A paragraph for the discussion."],
    "seeds": [3],
    "precision": "float64",
    "paper_table": True,
    "detailed": ["svgd"],
    "reference": "svgd_single",
    "combinations": {"reach": "link_1 + link_2 [cm]", "heavy": "mass_1/mass_2"},
    "exchangeable": [["link_1", "link_2"], ["mass_1", "mass_2"]],
    "landscape": ["link_1", "link_2"],
    "prediction": {"prefix": 40},
    "calibration": {"data_sets": 8, "draws": 9},
    "tuning": {"share": 0.5},
    "bayessim": {
        "statistics": ["summary"],
        "densities": ["mdn"],
        "training_set": {"count": 40},
        "density": {"epochs": 5, "hidden": [8], "component_count": 2},
    },
    "runs": [
        {"method": "svgd", "shooting": "single"},
        {"method": "csvgd", "shooting": "multiple"},
    ],
    "budgets": {"smoke": {"particle_count": 10, "iteration_count": 12}},
}


@pytest.mark.slow
def test_every_key_goes_through_fit(root, tmp_path, monkeypatch, capfd):
    """A key that works in one job's check and ends another job shows here."""
    values = yaml.safe_load((root / "config/experiments/demo.yaml").read_text())
    values |= KEYS
    recording = values["recording"]
    recording["test"] = recording["test"][:2]
    values["simulator"]["parameters"] |= {"mass_1": MASS, "mass_2": MASS}
    for name in ("mass_1", "mass_2"):
        del values["simulator"]["fixed"][name]
    assert set(values) == set(ExperimentConfig.model_fields)
    (tmp_path / "all_keys.yaml").write_text(yaml.safe_dump(values))
    monkeypatch.chdir(tmp_path)
    fit = ["fit", "all_keys.yaml", "--budget", "smoke", "--cores", "2", "--results", "out"]
    ended = main(fit)
    told = capfd.readouterr()
    assert ended == 0, told.out[-3000:] + told.err[-3000:]
    page = (tmp_path / "out/smoke/all_keys/report.html").read_text()
    assert "reach" in page
    assert "heavy" in page
