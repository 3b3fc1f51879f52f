"""Tables read with the config of a test."""

import numpy as np
import pytest
from pydantic import ValidationError

from pdsim.recordings import table
from pdsim.runtime.errors import PdsimError
from pdsim.systems.double_pendulum import Options, build

FREE = build(Options())
DRIVEN = build(Options(motors=True))
ANGLES = {"q0": {"column": "a", "unit": "rad"}, "q1": {"column": "b", "unit": "rad"}}
TIME = np.arange(400) * 0.002


def config(files, **changes) -> table.Config:
    values = {
        "source": "table",
        "files": files if isinstance(files, dict | list) else [files],
        "time": {"column": "t"},
        "channels": ANGLES,
    }
    values |= changes
    return table.Config.model_validate({k: v for k, v in values.items() if v is not None})


def read(path, system=FREE, **changes):
    return table.read(config(path, **changes), "run", path, system)


def refused(path, words, system=FREE, **changes):
    with pytest.raises(PdsimError) as error:
        read(path, system, **changes)
    for word in words:
        assert word in str(error.value), str(error.value)


def invalid(words, files="run.csv", **changes):
    with pytest.raises(ValidationError) as error:
        config(files, **changes)
    for word in words:
        assert word in str(error.value), str(error.value)
