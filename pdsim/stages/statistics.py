"""Stage ``statistics``: one input statistic of every simulated and recorded trajectory."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.runtime import device
from pdsim.bayessim.config import BayesSimConfig
from pdsim.bayessim.statistics import STATISTICS
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.trajectories import select

_CHUNK = 1000


def compute(name: str, config: BayesSimConfig, x: np.ndarray) -> np.ndarray:
    """Return the statistic of trajectories (n, time, channel) as (n, features), in float64."""
    function = jax.jit(lambda part: STATISTICS[name](part, config.statistic))
    parts = [
        np.asarray(function(jnp.asarray(x[i : i + _CHUNK], float)))
        for i in range(0, len(x), _CHUNK)
    ]
    return np.concatenate(parts)


def statistics(
    options: dict[str, Any], *, name: str, trajectories: str, training_set: str, output: str
) -> None:
    """Write the statistic of the training set and of the training recordings.

    Args:
        options: ``bayessim`` and ``precision`` of the config.
        name: of the statistic.
    """
    device.configure(options["precision"])
    config = BayesSimConfig.model_validate(options["bayessim"])
    simulated = read_dataset(training_set)
    recorded = select(read_dataset(trajectories), "train")["observed"].values
    result = xr.Dataset(
        {
            "simulated": (
                ("sample", "feature"),
                compute(name, config, simulated["simulated"].values),
            ),
            "recorded": (("trajectory", "feature"), compute(name, config, recorded)),
            "unit": simulated["unit"],
            "held_out": simulated["held_out"],
        },
        attrs={"statistic": name, "lost": simulated.attrs["lost"]},
    )
    write_dataset(output, result)
