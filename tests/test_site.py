"""The documents as a site: all in its contents, built without a warning, their code is code."""

import re
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import yaml

from pdsim import registry
from pdsim.cli.arguments import parser
from pdsim.control.config import ControlConfig
from pdsim.experiment.model import ExperimentConfig

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"),
        *(ROOT / name / "README.md" for name in ("config", "data", "benchmarks")),
    ]
)  # fmt: skip


class Block(NamedTuple):
    path: Path
    language: str
    text: str


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def blocks(language):
    return [
        Block(path, language, match[1])
        for path in DOCUMENTS
        for match in re.finditer(rf"(?ms)^```{language}\n(.*?)^```", path.read_text())
    ]


def test_every_document_is_in_the_site_s_contents():
    """Sphinx says it too, where it is installed."""
    text = (ROOT / "docs/index.md").read_text()
    listed = {
        name_of((ROOT / "docs" / f"{line}.md").resolve())
        for block in re.findall(r"(?s)```\{toctree\}(.*?)```", text)
        for line in block.split("\n\n", 1)[1].split()
    }
    assert listed == {name_of(path) for path in DOCUMENTS} - {"docs/index.md"}


@pytest.mark.parametrize(
    "block", blocks("yaml"), ids=lambda b: f"{name_of(b.path)}: {b.text[:30]!r}"
)
def test_yaml_has_keys_that_there_are(block):
    """The first two levels; a document shows parts of files, at times from within a section."""
    reference = (ROOT / "config/README.md").read_text()
    fields = {**ControlConfig.model_fields, **ExperimentConfig.model_fields}
    open_maps = [name for name in fields if str(fields[name].annotation).startswith("dict")]

    def there(key):
        return key in fields or re.search(rf"`([\w.\[\]<>]*\.)?{re.escape(key)}`", reference)

    for key, section in yaml.safe_load(block.text).items():
        assert there(key), key
        # Keys of these, of tables' columns and of what is observed are the user's own.
        if isinstance(section, dict) and key not in (*open_maps, "channels", "inputs", "observe"):
            assert [inner for inner in section if not there(inner)] == [], key


@pytest.mark.parametrize(
    "block", blocks("python"), ids=lambda b: f"{name_of(b.path)}: {b.text[:30]!r}"
)
def test_python_compiles(block):
    compile(block.text, name_of(block.path), "exec")


def test_the_system_of_the_document_is_one(monkeypatch):
    """Its code and its section of an experiment, as a reader would save them; it swings as it must."""
    document = ROOT / "docs/own_system.md"
    (code,) = (b.text for b in blocks("python") if b.path == document)
    (section,) = (yaml.safe_load(b.text) for b in blocks("yaml") if b.path == document)
    module = types.ModuleType("pdsim.systems.pendulum")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, "pendulum.py", "exec"), module.__dict__)
    names = (*registry.NAMES["systems"], "pendulum")
    monkeypatch.setitem(registry.NAMES, "systems", names)

    from pdsim.systems.config import SimulatorConfig
    from pdsim.systems.rollout import rollout
    from pdsim.systems.simulator import build_simulator, check_parameters

    config = SimulatorConfig.model_validate(section["simulator"])
    system, space, substeps = build_simulator(config)
    check_parameters(config, system)
    values = space.system_parameters(space.to_coordinates(jnp.array([0.1, 0.0])))
    frames, frame_time = 400, 0.01
    (q, _), _ = rollout(
        system, system.prepare(values), system.unpack(jnp.array([0.01, 0.0])),
        (jnp.zeros(frames),), frames=frames, frame_time=frame_time, substeps=substeps,
    )  # fmt: skip
    times = frame_time * np.arange(1, frames + 1)
    np.testing.assert_allclose(q, 0.01 * np.cos(np.sqrt(20.0) * times), atol=1e-5)
    slope = jax.grad(
        lambda g: system.combinations({**values, "gravity": g})["gravity_over_inertia"][0]
    )
    assert float(slope(2.0)) == pytest.approx(10.0)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    """Sphinx finds every page, link and docstring, and each command is in the reference."""
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "."]
    result = subprocess.run(
        [*command, str(tmp_path / "site")], cwd=ROOT, capture_output=True, text=True, timeout=900
    )
    assert result.returncode == 0, result.stderr[-3000:]
    page = (tmp_path / "site/docs/commands.html").read_text()
    for verb in parser()._subparsers._group_actions[0].choices:
        assert f"pdsim {verb}" in page
