"""The cache of compiled programs, shared between jobs that may be killed; the threads of XLA."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from pdsim.xla.flags import with_ours

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


# Independent batches, which XLA runs side by side.
BATCHES = """
import os
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
from pdsim.runtime import device
device.configure()
import jax, jax.numpy as jnp
def solve(a):
    right = jnp.ones((len(a), 4, 1))
    return sum(jnp.linalg.solve(a + i * jnp.eye(4), right * i) for i in (1, 2, 3))
a = jax.random.normal(jax.random.key(0), (4000, 4, 4))
for _ in range(20):
    jax.jit(solve)(a).block_until_ready()
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cannot choose cores here")
def test_batches_of_lapack_side_by_side_come_to_an_end():
    """On two cores they stopped for ever, nearly every time."""
    done = subprocess.run(
        [sys.executable, "-c", BATCHES],
        env={name: value for name, value in os.environ.items() if name != "NPROC"},
        timeout=120,
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("cores", "lapack", "threads"), [(1, True, 1), (1, False, 1), (2, True, 8), (2, False, 2)]
)
def test_a_job_of_several_cores_has_threads_for_the_batches_of_all(cores, lapack, threads):
    """Snakemake's jobs state one thread; batches of two cores, side by side, would wait for ever.

    Its loops are split among none of them; flags that were there stay.
    """
    script = f"""
import os
from pdsim.runtime import device
device.available_cores = lambda: 2
device.configure(cores={cores}, lapack={lapack})
print(os.environ["NPROC"], os.environ["XLA_FLAGS"])
"""
    given = "--xla_cpu_enable_fast_math=false"
    environment = os.environ | {"NPROC": "1", "XLA_FLAGS": given}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    found, *flags = done.stdout.split()
    assert int(found) == threads, done.stderr
    assert flags[0] == given
    assert [flag.partition("=")[0] for flag in flags[1:]] == [
        "--xla_backend_extra_options",
        "--xla_disable_hlo_passes",
        "--xla_cpu_prefer_vector_width",
    ]


@pytest.mark.parametrize(
    ("given", "jaxlib", "width"),
    [
        ("", "0.9.0", ["512"]),
        ("", "0.12.0", ["512"]),
        ("--xla_cpu_prefer_vector_width=256", "0.12.0", ["256"]),
        ("", "0.13.0", []),
    ],
)
def test_vectors_are_as_wide_as_they_come_where_xla_knows_the_flag(given, jaxlib, width):
    """A process ends at a flag that XLA does not know."""
    flags = [flag.split("=", 1) for flag in with_ours(given, jaxlib).split()]
    assert [value for name, value in flags if name == "--xla_cpu_prefer_vector_width"] == width


def test_a_loop_over_a_few_particles_is_one_function():
    """Started array by array, such a loop takes several times as long; XLA's own limit is 1 kB."""

    def step(x, _):
        return jnp.sin(x) + 1, None

    run = jax.jit(lambda x: jax.lax.scan(step, x, length=10)[0])
    assert "xla_cpu_small_call" in run.lower(jnp.ones(1000)).compile().as_text()


@pytest.mark.parametrize(
    ("cores", "jaxlib", "used"),
    [(1, "0.11.2", True), (2, "0.11.2", False), (2, "0.12.0.1", False), (2, "0.10.1", True)],
)
def test_several_cores_do_without_shardy_where_it_crashes(cores, jaxlib, used):
    """The script says a jaxlib that it does not have, for the choice alone is looked at."""
    script = f"""
import jax, jaxlib
from pdsim.runtime import device
device.available_cores = lambda: 2
jaxlib.__version__ = {jaxlib!r}
device.configure(cores={cores})
print(jax.config.jax_use_shardy_partitioner)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == str(used), done.stderr
