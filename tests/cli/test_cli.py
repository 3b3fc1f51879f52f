import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from pdsim.cli import main as cli
from pdsim.cli.main import main


def test_help_teaches_the_stages(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for word in ("preprocess", "infer", "evaluate", "snakemake demo", "exit codes"):
        assert word in text


def test_as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "pdsim", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("pdsim 0.")


def test_check_is_silent_when_all_is_well(root, capsys):
    assert main(["check", str(root / "config/experiments/demo.yaml")]) == 0
    assert capsys.readouterr().out == ""


def test_a_device_without_the_memory_is_told_with_what_to_do(capsys, monkeypatch):
    def ask(a):
        return jax.block_until_ready(jax.jit(lambda: jnp.ones(2**46))())

    monkeypatch.setattr(cli, "_execute", ask)
    words = ["--run", "x", "--trajectories", "x.nc", "--output", "y.nc"]
    assert main(["infer", "x.yaml", *words]) == 2
    text = capsys.readouterr().err
    for word in (
        "pdsim infer: too little memory for the draws",
        "particle_count",
        "float32",
        "JAX_PLATFORMS=cpu",
    ):
        assert word in text
    assert "bytes" in text
    assert text.endswith("; the same command goes on from the last checkpoint\n")
    assert text.count("\n") == 1


def test_another_error_of_jax_is_not_taken_for_it(monkeypatch):
    def fail(a):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")

    monkeypatch.setattr(cli, "_execute", fail)
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        main(["check", "x.yaml"])
