"""Environment variables that the libraries below would stumble over, looked at before they start.

JAX reads its variables when it is imported and ends in a stack trace at a value that it does not
know; XLA ends the whole process. Some values are meant for the developers of JAX's programs and
stop every job of pdsim. Each is refused by name, with what to do.
"""

import importlib
import mmap
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pdsim.runtime.errors import PdsimError

# Variable of JAX → values with which jobs end in a stack trace (lower case), and why.
_OFF = ("", "0", "n", "no", "f", "false", "off")
_MARKED = "roll-outs that diverge are marked by NaN and inf, at which JAX would stop"
_FREE = "pdsim relies on what this forbids"
_WANTED: dict[str, tuple[tuple[str, ...], str]] = {
    "JAX_DEBUG_NANS": (_OFF, _MARKED),
    "JAX_DEBUG_INFS": (_OFF, _MARKED),
    "JAX_DISABLE_JIT": (_OFF, "uncompiled, a job takes days"),
    "JAX_NO_TRACING": (_OFF, _FREE),
    "JAX_NUMPY_RANK_PROMOTION": (("", "allow", "warn"), _FREE),
    "JAX_NUMPY_DTYPE_PROMOTION": (("", "standard"), _FREE),
    "JAX_TRANSFER_GUARD": (("", "allow", "log"), _FREE),
}
# Any text is taken by these when JAX is imported.
_TEXTS = ("JAX_PLATFORMS", "JAX_COMPILATION_CACHE_DIR")
# XLA starts a thread for each; thousands take seconds, and a hundred thousand never end.
_MOST_THREADS = 1024
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
# A flag whose value XLA is sure to read, if it knows the flag.
_PLAIN_FLAG = re.compile(r"--([a-z0-9_]+)=(?:true|false|[0-9]{1,9})")
# What XLA writes before each line of its log.
_STAMP = re.compile(r"^[EF][0-9]{4} [^\]]*\] ")


def check_environment(environment: Mapping[str, str]) -> None:
    """Refuse variables with which no job would run.

    Raises:
        PdsimError: names the variable, its value and the remedy.
    """
    threads = environment.get("NPROC", "")
    if threads and not (_NUMBER.fullmatch(threads) and int(threads) <= _MOST_THREADS):
        raise PdsimError(
            f"NPROC={threads!r}: is the number of XLA's threads, from 1 to {_MOST_THREADS}; "
            "correct it, or unset it"
        )
    for name, (values, why) in _WANTED.items():
        if environment.get(name, "").lower() not in values:
            raise PdsimError(f"{name}={environment[name]!r}: {why}; unset it")
    if flags := environment.get("XLA_FLAGS", ""):
        _check_flags(flags)
    if any(name.startswith("JAX_") and name not in _TEXTS for name in environment):
        _import_jax(environment)


def _import_jax(environment: Mapping[str, str]) -> None:
    """Import JAX, which tells of a variable that it cannot read by an exception."""
    try:
        importlib.import_module("jax")
    except ValueError as error:
        text = str(error).partition("\n")[0]
        spelt = text.lower().replace(".", "_")
        named = [n for n in environment if n.startswith("JAX_") and n.lower() in spelt]
        shown = ", ".join(f"{name}={environment[name]!r}" for name in named)
        raise PdsimError(
            f"{shown or 'the variables JAX_…'}: JAX cannot start: {text}; unset it"
        ) from None


@cache
def _check_flags(flags: str) -> None:
    """Refuse flags at which XLA would end the process.

    Flags are usually names that XLA's library holds, with numbers; others are tried in a process.
    """
    where = f"XLA_FLAGS={flags!r}"
    try:
        words = shlex.split(flags)
    except ValueError as error:
        raise PdsimError(f"{where}: cannot be read: {error}; correct it, or unset it") from None
    for word in words:
        if not word.startswith("--"):
            raise PdsimError(
                f"{where}: {word!r} is no flag, which begins with --; correct it, or unset it"
            )
    plain = [_PLAIN_FLAG.fullmatch(word) for word in words]
    if all(plain) and _known([flag[1] for flag in plain if flag]):
        return
    tried = subprocess.run(
        [sys.executable, "-c", "import jax; jax.devices()"],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        lines = [_STAMP.sub("", x) for x in tried.stderr.splitlines() if _STAMP.match(x)]
        told = lines[0] if lines else "XLA ends at once"
        raise PdsimError(f"{where}: XLA does not start: {told}; correct it, or unset it")


def _known(names: list[str]) -> bool:
    """Whether XLA's library has a text for each flag's name; False where it is not found."""
    package = find_spec("jaxlib")
    library = Path(package.origin or "").with_name("libjax_common.so") if package else None
    if library is None or not library.is_file():
        return False
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return all(text.find(b"\0" + name.encode() + b"\0") >= 0 for name in names)
