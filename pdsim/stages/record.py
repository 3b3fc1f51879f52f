"""Stage ``record``: raw runs of a synthetic camera."""

import numpy as np

from pdsim.config import RecordingConfig
from pdsim.errors import PdsimError
from pdsim.files import write_atomically
from pdsim.recordings import camera
from pdsim.systems import load_system


def record(recording: RecordingConfig, system_name: str, run: int, output: str) -> None:
    """Write ``<run>.csv`` in the IBM format."""
    if recording.camera is None:
        raise PdsimError("recording.source is not camera: there is nothing to record")
    parameters = load_system(system_name).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    states = camera.simulate(recording.camera, defaults, recording.rate_hz, run)
    length = {**defaults, **recording.camera.parameters}["length"]
    table = camera.pixels(recording.camera, length, states)
    write_atomically(output, lambda path: np.savetxt(path, table, fmt="%d", delimiter=","))
