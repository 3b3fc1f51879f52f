"""Physical systems, one file each. To add one: a file with a ``SYSTEM``, and a line here."""

from importlib import import_module

from pdsim.errors import PdsimError
from pdsim.systems.system import System

MODULES = {
    "double_pendulum": "pdsim.systems.double_pendulum",
}


def load_system(name: str) -> System:
    """Return the system of that name; only its own module is imported."""
    if name not in MODULES:
        raise PdsimError(f"no system is called {name!r}; there are: {', '.join(MODULES)}")
    return import_module(MODULES[name]).SYSTEM
