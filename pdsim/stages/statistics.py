"""Stage ``statistics``: one input statistic of every simulated and recorded trajectory."""

import numpy as np
import xarray as xr

from pdsim.experiment.slices import Statistics
from pdsim.inference.bayessim.statistics import compute
from pdsim.recordings.trajectories import select
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset, write_dataset


def statistics(
    options: Statistics, *, name: str, trajectories: str, training_set: str, output: str
) -> None:
    """Write the statistic of the training set and of the training recordings.

    Args:
        name: of the statistic.
    """
    device.configure(options.precision)
    config = options.bayessim.statistic
    simulated = read_dataset(training_set)
    recorded = select(read_dataset(trajectories), "train")["observed"].values
    if not np.isfinite(recorded).all():
        raise PdsimError(
            f"{trajectories}: training recordings of unequal length, or with channels or frames "
            "that were not observed, have no statistic; leave out the section bayessim"
        )
    result = xr.Dataset(
        {
            "simulated": (
                ("sample", "feature"),
                compute(name, config, simulated["simulated"].values),
            ),
            "recorded": (("trajectory", "feature"), compute(name, config, recorded)),
            "coordinates": simulated["coordinates"],
            "held_out": simulated["held_out"],
        },
        attrs={"statistic": name, "lost": simulated.attrs["lost"]},
    )
    write_dataset(output, result)
