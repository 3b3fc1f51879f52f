"""Stage ``record``: raw runs of a source that makes its own."""

from pathlib import Path

from pdsim import registry
from pdsim.experiment.slices import Record
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_folder_atomically
from pdsim.systems.simulator import build_system


def record(options: Record, *, output: str) -> None:
    """Write a folder of raw runs; an earlier recording there is replaced, anything else refused."""
    device.configure()
    source = registry.load("recordings", options.recording.source)
    if not hasattr(source, "make"):
        raise PdsimError(
            f"recording.source: {options.recording.source} is read from files; there is nothing to "
            "record"
        )
    system = build_system(options.system)

    def write(folder: Path) -> None:
        source.make(options.recording, system, folder)

    write_folder_atomically(output, write, source.made)
