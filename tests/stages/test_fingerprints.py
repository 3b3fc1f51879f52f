"""What a job executes is part of its fingerprint: code that is left out could change a number unseen."""

import importlib
import re
import shutil
import sys

import numpy as np
import pytest
import yaml
from posteriors import write_posterior

from pdsim.cli.main import main
from pdsim.experiment.load import load_experiment
from pdsim.experiment.slices import slice_of
from pdsim.runtime import provenance
from pdsim.runtime.provenance import code_fingerprint, import_closure
from pdsim.stages import modules

RUN = "svgd_single"
# What decides no number, or shows in the params of every rule.
FREE = ("pdsim.registry", "pdsim.settings", "pdsim.experiment")


@pytest.fixture(scope="module")
def files(root, tmp_path_factory):
    """Experiments on the demo's pendulum with every stage, and files for each."""
    folder = tmp_path_factory.mktemp("fingerprints")
    values = yaml.safe_load((root / "config/experiments/demo.yaml").read_text())
    values["recording"]["test"] = values["recording"]["test"][:1]
    values["runs"] = [{"method": "svgd", "shooting": "single"}]
    values |= {"reference": None, "detailed": [], "landscape": None, "combinations": {}}
    values["bayessim"] = {
        "statistics": ["summary"], "densities": ["mdn"], "training_set": {"count": 20},
        "density": {"epochs": 2, "hidden": [4], "component_count": 1},
    }  # fmt: skip
    values["budgets"] = {"paper": {"particle_count": 8, "iteration_count": 4}}
    write(folder / "first.yaml", values)
    later = yaml.safe_load(yaml.safe_dump(values))
    del later["simulator"]["fixed"]["mass_1"]
    later["simulator"]["parameters"] = {"mass_1": {"lower": 0.5, "upper": 2.0, "unit": "kg"}}
    later["simulator"]["fixed_from"] = {"experiment": "first", "run": RUN}
    write(folder / "held.yaml", later)
    later = yaml.safe_load(yaml.safe_dump(values))
    later["simulator"]["prior_from"] = {"experiment": "first", "run": RUN}
    write(folder / "next.yaml", later)
    settings = slice_of("infer", load_experiment(folder / "first.yaml"), run=RUN, budget="paper")
    random = np.random.default_rng(0)
    draws = {"link_1": random.normal(1.5, 0.05, 40), "link_2": random.normal(2.0, 0.05, 40)}
    job = settings.model_dump(mode="json")
    write_posterior(folder / "earlier.nc", draws, job["simulator"], settings={"run": job["run"]})
    return folder


def write(path, values):
    path.write_text(yaml.safe_dump(values, sort_keys=False))


def command(verb, folder, experiment="first"):
    """A stage's command, with the files of the stages before it."""
    options = {
        "preprocess": {"raw": "raw"},
        "infer": {"trajectories": "trajectories.nc"},
        "simulate": {"trajectories": "trajectories.nc", "posterior": "infer.nc"},
        "predict": {"trajectories": "trajectories.nc", "posterior": "infer.nc"},
        "evaluate": {
            "trajectories": "trajectories.nc", "posterior": "infer.nc",
            "rollouts": "simulate.nc", "prediction": "predict.nc",
        },
        "training-set": {"trajectories": "trajectories.nc"},
        "statistics": {"trajectories": "trajectories.nc", "training-set": "training-set.nc"},
        "train": {"statistics": "statistics.nc"},
    }[verb]  # fmt: skip
    words = [verb, str(folder / f"{experiment}.yaml")]
    for name, file in options.items():
        words += [f"--{name}", str(folder / file)]
    if verb in ("infer", "evaluate"):
        words += ["--run", RUN]
    if verb == "statistics":
        words += ["--name", "summary"]
    if verb == "train":
        words += ["--run", "bayessim_summary_mdn"]
    output = "trajectories" if verb == "preprocess" else verb
    return [*words, "--output", str(folder / f"{output}.nc")]


def executed(monkeypatch, patched, words):
    """Modules of the package whose functions run within some functions of a command."""
    found = set()

    def watch(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add(frame.f_globals.get("__name__", ""))

    for module, name in patched:
        function = getattr(importlib.import_module(module), name)

        def watched(*arguments, function=function, **options):
            sys.setprofile(watch)
            try:
                return function(*arguments, **options)
            finally:
                sys.setprofile(None)

        monkeypatch.setattr(f"{module}.{name}", watched)
    assert main(words) == 0
    return {name for name in found if name.startswith("pdsim.")}


def left_out(found, roots):
    closure = set(import_closure(*roots))
    return {name for name in found - closure if not name.startswith(FREE)}


# In the order of the pipeline: each takes the files of those before.
STAGES = (
    "preprocess", "infer", "simulate", "predict", "evaluate", "training-set", "statistics", "train",
)  # fmt: skip


def test_all_that_a_job_executes_is_in_its_fingerprint(files, monkeypatch):
    assert main(["record", str(files / "first.yaml"), "--output", str(files / "raw")]) == 0
    for verb in STAGES:
        stage = verb.replace("-", "_")
        with monkeypatch.context() as patch:
            found = executed(patch, [(f"pdsim.stages.{stage}", stage)], command(verb, files))
        roots = modules(
            stage,
            system="double_pendulum" if verb in ("infer", "simulate", "predict") else "",
            method="svgd" if verb == "infer" else "",
            source="camera" if verb == "preprocess" else "",
        )
        if verb == "training-set":
            roots = modules(stage, system="double_pendulum")
        missing = left_out(found, roots)
        if verb in ("preprocess", "evaluate"):
            # Of a system they ask names, units and kinds, which stand in the rule's params.
            missing.discard("pdsim.systems.double_pendulum")
        assert missing == set(), verb
        assert len(found) > 3, verb


@pytest.mark.parametrize("experiment", ["held", "next"])
def test_what_reads_an_earlier_posterior_is_in_the_fingerprint(files, monkeypatch, experiment):
    if not (files / "trajectories.nc").exists():
        main(["record", str(files / "first.yaml"), "--output", str(files / "raw")])
        main(command("preprocess", files))
    option = {"held": "--fixed-from", "next": "--prior-from"}[experiment]
    reader = {
        "held": ("pdsim.experiment.earlier", "with_earlier"),
        "next": ("pdsim.experiment.next_prior", "with_next_prior"),
    }[experiment]
    words = [*command("infer", files, experiment), option, str(files / "earlier.nc")]
    patched = [reader, ("pdsim.stages.infer", "infer")]
    found = executed(monkeypatch, patched, words)
    roots = {"system": "double_pendulum", "method": "svgd"}
    assert "pdsim.earlier" in found
    assert left_out(found, modules("infer", **roots, earlier=True)) == set()
    assert "pdsim.earlier" in left_out(found, modules("infer", **roots))


@pytest.mark.parametrize(
    ("function", "new"),
    [
        ("finite_draws", "return posterior.table(names)[kept] * 2, posterior.log_density[kept]"),
        ("chosen_draw", "return dict.fromkeys(names, 1.0)"),
        ("held_values", "return {}"),
        ("fitted_prior", "return None"),
    ],
)
def test_an_edit_of_what_reads_it_reruns_the_jobs(tmp_path, monkeypatch, function, new):
    roots = modules("infer", system="oscillator", method="svgd", earlier=True)
    shutil.copytree(provenance.ROOT, tmp_path / "pdsim", ignore=shutil.ignore_patterns("*.pyc"))
    monkeypatch.setattr(provenance, "ROOT", tmp_path / "pdsim")
    provenance._digest_and_imports.cache_clear()
    before = code_fingerprint(*roots)
    path = tmp_path / "pdsim/earlier.py"
    head, name, rest = path.read_text().partition(f"def {function}(")
    body, end, after = re.split(r'(\n    """\n)', rest, maxsplit=1)
    path.write_text(f"{head}{name}{body}{end}    {new}\n{after}")
    provenance._digest_and_imports.cache_clear()
    assert code_fingerprint(*roots) != before
    provenance._digest_and_imports.cache_clear()
