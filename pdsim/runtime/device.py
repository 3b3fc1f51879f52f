"""Set-up of JAX for one process: precision, compile cache, memory; and what it runs on."""

import contextlib
import ctypes
import hashlib
import logging
import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import jax
import jaxlib
from jax.experimental.compilation_cache import compilation_cache
from packaging.version import Version

from pdsim.runtime import gpu
from pdsim.runtime.errors import PdsimError
from pdsim.xla.flags import with_ours

log = logging.getLogger(__name__)

_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1
# Threads of XLA for each core, at least, where batches of LAPACK's routines may be computed.
_THREADS = 4


def _cpu_features() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cache_folder() -> Path:
    """Return the folder of compiled programs for this jaxlib, platform and CPU.

    Code compiled for another CPU is refused or crashes, so its features are part of the name.

    Raises:
        RuntimeError: this user has no home.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    if not Path(base).is_absolute():
        raise RuntimeError(f"{str(base)!r} is no absolute path")
    features = hashlib.sha256(_cpu_features().encode()).hexdigest()[:8]
    name = f"jaxlib{jaxlib.__version__}-{sys.platform}-{platform.machine()}-{features}"
    return Path(base) / "pdsim" / name


def _threads(cores: int, lapack: bool) -> int:
    """Size of XLA's pool, which it reads from ``NPROC`` when it starts."""
    if cores > 1 and not lapack:
        return cores
    enough = max(_THREADS * cores, available_cores())
    stated = int(os.environ.get("NPROC") or enough)
    return stated if cores == 1 else max(stated, enough)


def _shardy(cores: int, jaxlib_version: str) -> bool:
    """Whether XLA's newer partitioner, Shardy, splits what runs on several cores.

    Not from jaxlib 0.11 on: with 0.11.2 it ends in a segmentation fault while it removes arguments
    that a split function leaves unused.
    """
    return cores == 1 or Version(jaxlib_version) < Version("0.11")


def configure(precision: str = "float64", cores: int = 1, *, lapack: bool = True) -> None:
    """Prepare JAX; call once, before the first computation of a process.

    - one GPU, if ``JAX_PLATFORMS`` asks for CUDA (``pdsim.runtime.gpu``);
    - a device for each of ``cores``, as far as there are so many, where it computes on the CPU
      (``pdsim.xla.cores``);
    - float64 arithmetic unless ``precision`` is "float32";
    - compiled programs are kept across processes (``JAX_COMPILATION_CACHE_DIR`` overrides where);
    - a loop on the CPU is one function where a pass through it touches less than 10 MB: XLA starts
      each array's computation by itself, which for few particles takes several times as long as
      the arithmetic of a step (``benchmarks/README.md``);
    - vectors are as wide as the processor has them, up to 512 bits;
    - XLA splits no loop among threads itself: it kept both of two cores busy with half as much work
      again, a device for each was no faster than one, and a program in which it splits a loop of a
      function that is computed once cannot be linked (``pdsim.xla.pairs``);
    - several cores have four threads of XLA each, whatever ``NPROC`` says: since jaxlib 0.10 a
      batch of LAPACK's routines holds a thread until others have done their share, and two batches
      at a time, of one core or of two, stop a pool of two for ever. Without such batches
      (``lapack=False``; see ``pdsim.xla.cores.one_by_one``) they have one each, which is
      faster (``benchmarks/README.md``);
    - several cores do without Shardy where it crashes (``_shardy``);
    - glibc is told to keep large freed blocks: by default each roll-out's arrays are handed back
      to the system and faulted in again, which doubled the time of a gradient.
    """
    gpu.claim(os.environ)
    cores = min(cores, available_cores())
    os.environ["NPROC"] = str(_threads(cores, lapack))
    given = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = with_ours(given, jaxlib.__version__)
    jax.config.update("jax_num_cpu_devices", cores)
    jax.config.update("jax_enable_x64", precision == "float64")
    if not _shardy(cores, jaxlib.__version__):
        jax.config.update("jax_use_shardy_partitioner", False)
    _keep_programs(os.environ.get("JAX_COMPILATION_CACHE_DIR", ""))
    # XLA reports every program it loads from the cache as compiled for another machine, because of
    # two tuning hints (prefer-no-gather, prefer-no-scatter) that no machine lists. Real failures
    # arrive as exceptions; JAX's own warnings stay.
    jax.config.update("jax_logging_level", "CRITICAL")
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            libc.mallopt(_M_MMAP_THRESHOLD, 2**30)
            libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)

    _check_platforms(os.environ.get("JAX_PLATFORMS", ""))


def _keep_programs(given: str) -> None:
    """Choose the folder of compiled programs, or say why each job compiles them anew.

    Args:
        given: what the environment names as JAX's own folder; a path or an address.
    """
    if "://" in given:
        return
    try:
        folder = Path(given) if given else cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        why = f"{given or os.environ.get('XDG_CACHE_HOME') or '~/.cache'}: {error}"
        log.warning(
            "compiled programs cannot be kept (%s), so every job compiles them anew; name a folder "
            "as JAX_COMPILATION_CACHE_DIR",
            why,
        )
        jax.config.update("jax_enable_compilation_cache", False)
        return
    if not given:
        jax.config.update("jax_compilation_cache_dir", str(folder))


def _check_platforms(platforms: str) -> None:
    """Start JAX's backends where the environment asks for others than the CPU's.

    Raises:
        PdsimError: one of them is not there.
    """
    if platforms in ("", "cpu"):
        return
    try:
        jax.devices()
    # Without a GPU, JAX ends in an assertion.
    except (RuntimeError, AssertionError) as error:
        told = str(error).partition("\n")[0].partition(" (set ")[0] or "no such device is here"
        raise PdsimError(
            f"JAX_PLATFORMS={platforms!r}: JAX does not start: {told}; set it to cpu, or to "
            "cuda,cpu, which takes the CPU where there is no GPU"
        ) from None


@contextlib.contextmanager
def compiled_afresh() -> Iterator[None]:
    """Compile what is compiled meanwhile, and neither look for it in the cache nor keep it there.

    For those who want to know how long it takes.
    """
    before = jax.config.jax_enable_compilation_cache  # type: ignore[attr-defined]
    jax.config.update("jax_enable_compilation_cache", False)
    # Whether there is a cache JAX asks once.
    compilation_cache.reset_cache()
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
        compilation_cache.reset_cache()


def describe() -> dict[str, str]:
    """Devices and package versions, as attributes of a result file."""
    device = jax.devices()[0]
    packages = ("pdsim", "jax", "jaxlib", "numpy", "optax", "blackjax", "emcee")
    return {
        "device": f"{device.platform}: {device.device_kind}",
        "devices": str(jax.local_device_count()),
        "versions": " ".join(f"{name}={version(name)}" for name in packages),
        "python": platform.python_version(),
    }
