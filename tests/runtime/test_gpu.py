"""Which GPU a process takes, with files in place of device files; what it computes there."""

import json
import os
import subprocess
import sys

import jax
import pytest

from pdsim.runtime.gpu import claim

SCRIPT = """
import json, sys
from pdsim.runtime.gpu import claim
environment = json.loads(sys.argv[1])
claim(environment, sys.argv[2])
print(json.dumps(environment), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def processes():
    started = []
    yield started
    for process in started:
        process.communicate(timeout=30)


def start(processes, environment, folder):
    """Claim in a process that lives on until the test ends; return its environment."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, json.dumps(environment), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    processes.append(process)
    return json.loads(process.stdout.readline())


@pytest.fixture
def devices(tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "null"):
        (tmp_path / name).touch()
    return tmp_path


def test_each_process_takes_a_gpu_of_its_own_and_the_last_one_shares(devices, processes):
    asked = {"JAX_PLATFORMS": "cuda,cpu"}
    seen = [start(processes, asked, devices)["CUDA_VISIBLE_DEVICES"] for _ in range(4)]
    assert seen == ["0", "1", "10", "0"]
    # A process that ends gives its GPU back.
    processes.pop(1).communicate(timeout=30)
    assert start(processes, asked, devices)["CUDA_VISIBLE_DEVICES"] == "1"


def test_what_a_batch_system_allots_is_respected(devices, processes):
    asked = {"JAX_PLATFORMS": "cuda,cpu", "CUDA_VISIBLE_DEVICES": "1"}
    assert start(processes, asked, devices)["CUDA_VISIBLE_DEVICES"] == "1"
    two = asked | {"CUDA_VISIBLE_DEVICES": "1,10"}
    assert start(processes, two, devices)["CUDA_VISIBLE_DEVICES"] == "10"
    by_name = asked | {"CUDA_VISIBLE_DEVICES": "GPU-8932f937"}
    assert start(processes, by_name, devices)["CUDA_VISIBLE_DEVICES"] == "GPU-8932f937"


def test_memory_is_not_taken_at_once(devices, processes):
    asked = {"JAX_PLATFORMS": "cuda,cpu"}
    assert start(processes, asked, devices)["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    insisted = asked | {"XLA_PYTHON_CLIENT_PREALLOCATE": "true"}
    assert start(processes, insisted, devices)["XLA_PYTHON_CLIENT_PREALLOCATE"] == "true"


@pytest.mark.parametrize(
    "environment", [{}, {"JAX_PLATFORMS": "cpu"}, {"CUDA_VISIBLE_DEVICES": "0"}]
)
def test_nothing_is_claimed_for_the_cpu(devices, environment):
    before = dict(environment)
    assert claim(environment, devices) is None
    assert environment == before


@pytest.mark.parametrize("allotted", [{}, {"CUDA_VISIBLE_DEVICES": ""}])
def test_without_a_gpu_there_is_nothing_to_claim(tmp_path, allotted):
    environment = {"JAX_PLATFORMS": "cuda,cpu", **allotted}
    assert claim(environment, tmp_path) is None
    assert environment.get("CUDA_VISIBLE_DEVICES") == allotted.get("CUDA_VISIBLE_DEVICES")


@pytest.mark.skipif(
    any(device.platform == "gpu" for device in jax.devices()), reason="this machine has a GPU"
)
def test_without_a_gpu_jax_falls_back_to_the_cpu():
    script = (
        "from pdsim.runtime import device; device.configure(); print(device.describe()['device'])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"JAX_PLATFORMS": "cuda,cpu"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith("cpu:")
