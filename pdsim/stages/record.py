"""Stage ``record``: raw runs of a source that makes its own."""

from pathlib import Path

from pdsim import registry
from pdsim.config.slices import Record
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_folder_atomically


def record(options: Record, *, output: str) -> None:
    """Write a folder of raw runs; an earlier recording there is replaced, anything else refused."""
    source = registry.load("recordings", options.recording.source)
    if not hasattr(source, "make"):
        raise PdsimError(
            f"recording.source: {options.recording.source} is read from files; there is nothing to "
            "record"
        )

    def write(folder: Path) -> None:
        source.make(options.recording, options.defaults, folder)

    write_folder_atomically(output, write, source.made)
