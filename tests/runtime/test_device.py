"""The cache of compiled programs, shared between jobs that may be killed."""

import os
import subprocess
import sys

SCRIPT = """
from pdsim.runtime import device
device.configure()
import jax, jax.numpy as jnp
print(float(jax.jit(lambda x: jnp.sin(x).sum())(jnp.arange(100.0))))
"""


def compute(folder):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"JAX_COMPILATION_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
    )


def test_half_written_programs_are_compiled_again(tmp_path):
    """JAX does not write its cache atomically: a killed job may leave half an entry."""
    expected = compute(tmp_path)
    assert expected.returncode == 0, expected.stderr
    entries = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert entries
    for path in entries:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    again = compute(tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout == expected.stdout
    assert "Error reading persistent compilation cache" in again.stderr


def test_jobs_at_once_share_the_cache(tmp_path):
    command = [sys.executable, "-c", SCRIPT]
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    jobs = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert len({job.communicate()[0] for job in jobs}) == 1
    assert all(job.returncode == 0 for job in jobs)
