"""Variables of the environment that would end JAX or XLA are refused by name before they start."""

import os
import subprocess
import sys

import pytest

from pdsim.runtime.environment import check_environment
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import find_file


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"NPROC": "1", "JAX_PLATFORMS": "cpu", "JAX_DEBUG_NANS": "False", "JAX_DISABLE_JIT": ""},
        {"NPROC": "", "XLA_FLAGS": "", "JAX_NUMPY_RANK_PROMOTION": "warn", "JAX_ENABLE_X64": "1"},
        {"XLA_FLAGS": "--xla_cpu_enable_fast_math=false  --xla_cpu_prefer_vector_width=256"},
    ],
)
def test_what_jobs_can_run_with_is_let_through(environment):
    check_environment(environment)


def refused(environment, *words):
    with pytest.raises(PdsimError) as error:
        check_environment(environment)
    (name, value), *_ = environment.items()
    for word in (f"{name}={value!r}", "unset it", *words):
        assert word in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["banana", "0", "-1", "1e3", "100000", "٣", " 2", "9" * 30])
def test_a_number_of_threads_that_is_none_is_refused(value):
    refused({"NPROC": value}, "from 1 to 1024")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JAX_DEBUG_NANS", "1"),
        ("JAX_DEBUG_INFS", "on"),
        ("JAX_DISABLE_JIT", "true"),
        ("JAX_NO_TRACING", "1"),
        ("JAX_NUMPY_RANK_PROMOTION", "raise"),
        ("JAX_NUMPY_DTYPE_PROMOTION", "strict"),
        ("JAX_TRANSFER_GUARD", "disallow"),
    ],
)
def test_what_stops_every_job_is_refused(name, value):
    refused({name: value})


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("banana", "'banana' is no flag"),
        ("--xla_cpu_enable_fast_math=false /dev/zero", "'/dev/zero' is no flag"),
        ("--xla_dump_to='a", "No closing quotation"),
        ("--xla_banana=1", "Unknown flag in XLA_FLAGS: --xla_banana"),
        ("--xla_cpu_prefer_vector_width=wide", "Couldn't interpret value wide"),
    ],
)
def test_flags_at_which_xla_would_end_the_process_are_refused(flags, told):
    refused({"XLA_FLAGS": flags}, told)


SCRIPT = """
from pdsim.cli import main

def configure(a):
    from pdsim.runtime import device
    device.configure()

main._execute = configure
raise SystemExit(main.main(["check", "x"]))
"""


@pytest.mark.parametrize(
    ("variables", "code", "told"),
    [
        ({"JAX_ENABLE_X64": "banana"}, 2, "JAX_ENABLE_X64='banana': JAX cannot start"),
        ({"JAX_PLATFORMS": "banana"}, 2, "JAX_PLATFORMS='banana': JAX does not start"),
        ({"JAX_COMPILATION_CACHE_DIR": "/dev/null"}, 0, "programs cannot be kept (/dev/null"),
        ({"XDG_CACHE_HOME": "/dev/null"}, 0, "programs cannot be kept (/dev/null"),
        ({"XDG_CACHE_HOME": "relative"}, 0, "programs cannot be kept (relative"),
    ],
)
def test_what_only_jax_knows_is_one_line(tmp_path, variables, code, told):
    left_out = ("JAX_COMPILATION_CACHE_DIR", "JAX_PLATFORMS", "XLA_FLAGS")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=kept | {"PYTHONPATH": os.pathsep.join(sys.path)} | variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_variable_that_names_no_folder_is_told_where_a_file_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PDSIM_DATA_DIR", str(tmp_path / "none"))
    (tmp_path / "here.csv").touch()
    assert find_file("here.csv", tmp_path) == tmp_path / "here.csv"
    assert str(find_file("/none/far.csv", tmp_path)) == "/none/far.csv"
    with pytest.raises(PdsimError, match=r"PDSIM_DATA_DIR='.*none': no such folder.*unset"):
        find_file("far.csv", tmp_path)


def test_a_home_of_nobody_is_named(tmp_path):
    with pytest.raises(PdsimError, match=r"~nobody_here/a.csv: ~nobody_here is nobody's home"):
        find_file("~nobody_here/a.csv", tmp_path)
