"""The command line as a process of its own: ``pdsim`` and ``python -m pdsim``."""

import gc
import os
import sys

from pdsim.cli.main import main

# Objects made between two looks for garbage; Python's default is 700 to 2,000. What a job of
# seconds makes are modules and classes, which stay: it looked at them again and again.
_OBJECTS = 50_000
# Exit code of a process that SIGPIPE ends.
_PIPE_CLOSED = 141


def run() -> int:
    """Run one command and return its exit code, with few looks for garbage and none at the end."""
    gc.set_threshold(_OBJECTS)
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Greek letters shows their numbers.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = main()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever reads has enough, as `head`; what is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    finally:
        gc.freeze()


if __name__ == "__main__":
    raise SystemExit(run())
