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


# Verb → what takes its memory, and the options or keys that say how much.
_DRAWS = ("draws", "particle_count of the budget")
_KNOBS: dict[str, tuple[str, str]] = {
    "calibrate": ("draws of a data set", "calibration.budget.particle_count"),
    "condition": ("draws of the density", "particle_count of the budget"),
    "control": (
        "plans of all vehicles",
        "simulations of the budget, or samples, sequences, horizon or particles of the controller",
    ),
    "control-plot": ("log", "simulations or steps of the budget that the log is of"),
    "control-report": ("logs", "simulations or steps of the budget that the logs are of"),
    "control-table": ("logs", "simulations or steps of the budget that the logs are of"),
    "document": ("tables", "the number of rows in docs/results"),
    "export": ("draws", "--count"),
    "gather": ("tables", "the number of files"),
    "infer": ("draws and iterations", "particle_count or chunk_size of the budget"),
    "model": ("robot", "the number of bodies in its file"),
    "new": ("tables", "the number of rows in each file"),
    "predict": ("predictions", "prediction.samples"),
    "preprocess": ("recordings", "the number of rows in each file, or of windows in recording"),
    "record": ("recordings", "recording.frame_count, or the number of runs"),
    "statistics": ("simulations", "bayessim.training_set.count"),
    "train": (
        "density", "bayessim.density.feature_count, hidden or component_count"
    ),
    "training-set": (
        "simulations", "bayessim.training_set.chunk_size, or count if no chunk is finished"
    ),
    "tune": ("draws of a trial", "tuning.budget.particle_count"),
}  # fmt: skip


def too_little(verb: str, *, on_device: bool) -> str:
    """What did not fit, and what to lower.

    Args:
        verb: of the command line.
        on_device: whether JAX says so, whose arrays may be of half the size, or on a GPU.
    """
    what, knob = _KNOBS.get(verb, _DRAWS)
    smaller = (
        ", or take precision: float32; where a GPU is too small, JAX_PLATFORMS=cpu computes in the "
        "machine's own memory"
    )
    return f"too little memory for the {what}: lower {knob}{smaller if on_device else ''}"
