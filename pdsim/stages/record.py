"""Stage ``record``: raw runs of a synthetic camera."""

import numpy as np

from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import write_folder_atomically
from pdsim.recordings import camera
from pdsim.recordings.config import RecordingConfig
from pdsim.systems import load_system


def record(recording: RecordingConfig, system_name: str, output: str) -> None:
    """Write a folder of ``<run>.csv`` in the IBM format, one for each run."""
    if recording.camera is None:
        raise PdsimError("recording.source is not camera: there is nothing to record")
    config = recording.camera
    parameters = load_system(system_name).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}

    def write(folder):
        for run in range(config.run_count):
            values = {**defaults, **camera.run_parameters(config, run)}
            states = camera.simulate(config, values, recording.rate_hz, run)
            table = camera.pixels(config, values["length"], states)
            np.savetxt(folder / f"{run}.csv", table, fmt="%d", delimiter=",")

    write_folder_atomically(output, write)
