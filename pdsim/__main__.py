"""The command line as a process of its own: ``pdsim`` and ``python -m pdsim``."""

import gc

from pdsim.cli.main import main

# Objects made between two looks for garbage; Python's default is 700 to 2,000. What a job of
# seconds makes are modules and classes, which stay: it looked at them again and again.
_OBJECTS = 50_000


def run() -> int:
    """Run one command and return its exit code, with few looks for garbage and none at the end."""
    gc.set_threshold(_OBJECTS)
    try:
        return main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    raise SystemExit(run())
