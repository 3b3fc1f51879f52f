"""Loading an experiment starts no JAX backend: a job configures JAX after it was loaded."""

import json
import subprocess
import sys

import yaml

# In a process of its own: here other tests have started a backend long ago.
LOADING = """
import sys
from jax._src import xla_bridge
from pdsim.experiment.load import load_any
for path in sys.argv[1:]:
    load_any(path)
    assert not xla_bridge.backends_are_initialized(), f"{path}: loading it started a JAX backend"
"""


def combined(values):
    """An experiment's values with combinations of each parameter, and each key's neighbours."""
    names = list(values["simulator"]["parameters"])
    asked = {f"asked_{i}": name for i, name in enumerate(names) if name.isidentifier()}
    return values | {"combinations": asked}


def test_no_experiment_starts_a_backend_while_it_is_loaded(root, tmp_path):
    shipped = sorted((root / "config/experiments").glob("*.yaml"))
    paths = [*map(str, shipped)]
    # Beside copies of all, since some name others; with combinations where parameters are sought.
    (tmp_path / "data").symlink_to(root / "data")
    for path in shipped:
        values = yaml.safe_load(path.read_text())
        if "simulator" in values:
            (tmp_path / path.name).write_text(json.dumps(combined(values)))
            paths.append(str(tmp_path / path.name))
    assert len(paths) > 50
    loaded = subprocess.run(
        [sys.executable, "-c", LOADING, *paths],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert loaded.returncode == 0, loaded.stderr


def test_a_shipped_experiment_has_combinations(root):
    shipped = (root / "config/experiments").glob("*.yaml")
    assert any("combinations" in yaml.safe_load(path.read_text()) for path in shipped)
