"""How much memory the machine has, and what it says where that is too little."""

import os


def physical_memory() -> int | None:
    """Memory of this machine [bytes]; None where the system does not say."""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the machine, or the device JAX computes on, lacks memory."""
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)
