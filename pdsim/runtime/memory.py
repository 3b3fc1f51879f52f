"""How much memory the machine has."""

import os


def physical_memory() -> int | None:
    """Memory of this machine [bytes]; None where the system does not say."""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
