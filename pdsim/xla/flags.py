"""Flags of XLA that pdsim sets, each with what it changes on a CPU.

``benchmarks/README.md`` has what each gains. A flag that the user gives stays as it is.
"""

from packaging.version import Version

# A pass that splits loops among threads. In a function that is left alone it makes one call a
# routine that XLA's runtime no longer has, and the program cannot be linked.
SPLIT = "cpu-parallel-task-assigner"
_UNSPLIT = f"--xla_disable_hlo_passes={SPLIT}"
# Loops that touch fewer bytes than this in a pass become one function, by default those of 1 kB;
# and no loops in tiles, which jaxlib 0.10 makes of what it has to transpose.
_LOOPS = (
    "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=10000000,"
    "xla_cpu_disable_tiled_emitter=true"
)
# Bits of a vector, where the processor has so wide ones; XLA's default is 256. jaxlib 0.9 to 0.12
# know this flag, and XLA ends a process at one that it does not know.
_WIDTH, _WITHOUT_WIDTH = "--xla_cpu_prefer_vector_width=512", Version("0.13")


def ours(jaxlib_version: str) -> list[str]:
    """The flags that pdsim sets with a jaxlib."""
    return [_LOOPS, _UNSPLIT, *([_WIDTH] if Version(jaxlib_version) < _WITHOUT_WIDTH else [])]


def with_ours(given: str, jaxlib_version: str) -> str:
    """Flags with ours behind those given, of which each stays as it was."""
    added = [flag for flag in ours(jaxlib_version) if flag.partition("=")[0] not in given]
    return " ".join([given, *added]).strip()
