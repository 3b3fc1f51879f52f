"""What is looked at, one function each; ``examine`` runs them all."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from pdsim.runtime.memory import physical_memory

# Relative difference of compiled code to NumPy that rounding explains, float64.
_ROUNDING = 1e-9
# Free space that results need [GB]: a group of experiments leaves about one.
_SPACE, _LITTLE_SPACE = 0.2, 2.0
_PARTICLES, _FRAMES, _FRAME_TIME = 64, 4, 0.01
# Beside the defaults, so that no term of the equations vanishes.
_CROOKED = {"com_x_1": 0.01, "com_x_2": -0.02, "friction_1": 1e-4, "friction_2": 2e-4}
_NAMES = ("mass_2", "com_y_2", "friction_1")
_PLUGINS = ("snakemake-executor-plugin-slurm", "snakemake-executor-plugin-cluster-generic")


class Finding(NamedTuple):
    """What a check found.

    Attributes:
        what: was looked at.
        state: "wrong" makes the machine unfit, a "note" does not.
        text: what was found and, if it is wrong, the remedy.
    """

    what: str
    state: Literal["fit", "note", "wrong"]
    text: str


def python() -> Finding:
    """The interpreter, against the one the package asks for."""
    from packaging.specifiers import SpecifierSet

    found, asked = sys.version.split()[0], metadata.metadata("pdsim")["Requires-Python"]
    if SpecifierSet(asked).contains(found, prereleases=True):
        return Finding("python", "fit", found)
    return Finding("python", "wrong", f"{found}, and {asked} is needed; install another")


def packages() -> Finding:
    """Installed versions, against those the package allows: known-bad ones are excluded there."""
    from packaging.requirements import Requirement

    wrong, count = [], 0
    for line in metadata.requires("pdsim") or ():
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        count += 1
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name} {version} (allowed: {requirement.specifier})")
    if wrong:
        text = f"{', '.join(wrong)}; install requirements.lock into this environment"
        return Finding("packages", "wrong", text)
    return Finding("packages", "fit", f"{count}, each of a version that is allowed")


def device() -> Finding:
    """JAX's device, and whether it counts in float64."""
    import jax
    import jax.numpy as jnp

    devices = jax.devices()
    text = f"jax {jax.__version__} on {devices[0].platform} ({devices[0].device_kind})"
    number = jnp.asarray(1.0) + 2.0**-40
    if number.dtype != np.float64 or float(number) == 1.0:
        text += " has no float64; unset JAX_ENABLE_X64, or take another device by JAX_PLATFORMS"
        return Finding("device", "wrong", text)
    return Finding("device", "fit", f"{text}, float64")


def arithmetic() -> Finding:
    """A pendulum's motion and slopes: compiled, step by step, and in NumPy alone.

    Compiled code is tried as estimators run it, for many particles at once.
    """
    import jax
    import jax.numpy as jnp

    from pdsim.doctor import pendulum
    from pdsim.systems.double_pendulum import Options, build
    from pdsim.systems.rollout import rollout

    system = build(Options()).with_integrator("rk4")
    defaults = {name: one.default for name, one in system.parameters.items()} | _CROOKED
    random = np.random.default_rng(0)
    draws = {name: defaults[name] * random.uniform(0.7, 1.3, _PARTICLES) for name in _NAMES}
    start = random.uniform(-1, 1, (4, _PARTICLES)) * np.array([[2.0], [2.0], [5.0], [5.0]])

    def cost(own, first):
        channels, _ = rollout(
            system,
            system.prepare(defaults | own),
            tuple(first),
            (),
            frames=_FRAMES,
            frame_time=_FRAME_TIME,
            substeps=1,
        )
        return 0.5 * sum(jnp.sum(x**2) for x in channels[:2])

    both = jax.value_and_grad(cost)
    compiled = jax.jit(jax.vmap(both, in_axes=(0, 1)))(draws, jnp.asarray(start))
    with jax.disable_jit():
        single = both({name: float(draws[name][0]) for name in _NAMES}, jnp.asarray(start[:, 0]))
    plain = {name: np.full(_PARTICLES, value) for name, value in defaults.items()} | draws
    found = pendulum.angles(plain, start, _FRAMES, _FRAME_TIME)
    value = (found**2 / 2).sum(axis=(0, 1))
    slopes = {name: pendulum.slope(name, plain, start, _FRAMES, _FRAME_TIME) for name in _NAMES}
    errors = {
        "compiled motion": _error(compiled[0], value),
        "compiled slopes": max(_error(compiled[1][name], slopes[name]) for name in _NAMES),
        "motion": _error(single[0], value[0]),
        "slopes": max(_error(single[1][name], slopes[name][0]) for name in _NAMES),
    }
    # A comparison with NaN is false: what is not finite is wrong.
    wrong = [f"{what} by {error:.1e}" for what, error in errors.items() if not error <= _ROUNDING]
    if wrong:
        text = (
            f"wrong: {', '.join(wrong)} (relative); results would be; take another version of jax"
        )
        return Finding("arithmetic", "wrong", text)
    largest = max(errors.values())
    return Finding("arithmetic", "fit", f"compiled or not, within {largest:.0e} of NumPy's")


def _error(found, expected) -> float:
    """Largest difference over the largest size."""
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


def netcdf() -> Finding:
    """A file of results, written and read."""
    import xarray as xr

    from pdsim.runtime.files import read_dataset, write_dataset

    values = np.linspace(0.0, 1.0, 1001)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tried.nc"
        write_dataset(path, xr.Dataset({"tried": ("x", values)}))
        same = np.array_equal(read_dataset(path)["tried"].values, values)
    if not same:
        return Finding("netcdf", "wrong", "a file is not read as it was written; reinstall netcdf4")
    return Finding("netcdf", "fit", f"netcdf4 {metadata.version('netcdf4')} writes and reads")


def snakemake() -> Finding:
    """Snakemake, and the plugins that submit to clusters."""
    found = []
    for name in _PLUGINS:
        try:
            version = metadata.version(name)
            found.append(f"{name.removeprefix('snakemake-executor-plugin-')} {version}")
        except metadata.PackageNotFoundError:
            continue
    submits = f"submits by {', '.join(found)}" if found else "no cluster's plugin (extra: cluster)"
    return Finding("snakemake", "fit", f"{metadata.version('snakemake')}, {submits}")


def machine() -> Finding:
    """Cores and memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    text = f"{cores} cores"
    memory = physical_memory()
    if memory is not None:
        text += f", {memory / 2**30:.0f} GB"
    return Finding("machine", "fit", text)


def disk(folder: str | Path) -> Finding:
    """Whether a folder of results can be written to, and has room."""
    where = Path(folder).absolute()
    while not where.exists():
        where = where.parent
    if not where.is_dir():
        text = f"{where}: is a file, where results need a folder; name a folder with --results"
        return Finding("disk", "wrong", text)
    if not os.access(where, os.W_OK):
        text = f"{where}: cannot be written to; name another folder with --results"
        return Finding("disk", "wrong", text)
    free = shutil.disk_usage(where).free / 1e9
    text = f"{free:.1f} GB free at {where}"
    if free < _SPACE:
        return Finding("disk", "wrong", f"{text}; make room, or name another with --results")
    return Finding("disk", "note" if free < _LITTLE_SPACE else "fit", text)


def examine(folder: str | Path) -> Iterator[Finding]:
    """All findings, each as soon as it is there; a check that fails is a finding.

    Args:
        folder: where results would go.
    """
    checks: dict[str, Callable[[], Finding]] = {
        "python": python,
        "packages": packages,
        "machine": machine,
        "disk": partial(disk, folder),
        "netcdf": netcdf,
        "snakemake": snakemake,
        "device": device,
        "arithmetic": arithmetic,
    }
    for name, check in checks.items():
        try:
            yield check()
        except Exception as error:
            yield Finding(name, "wrong", f"{type(error).__name__}: {error}")
