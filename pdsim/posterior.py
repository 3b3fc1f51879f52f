"""The NetCDF layout of a posterior, as ArviZ reads it.

Groups: ``posterior`` (one variable per parameter, dims ``(chain, draw)``, physical units),
``sample_stats``, ``prior``, ``shooting`` (start states and defects of the windows) and
``history`` (one value per iteration). Particles are one chain; the attribute ``sample_kind``
tells what the draws are.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdsim.files import read_dataset
from pdsim.parameters import ParameterSpace


def parameter_group(space: ParameterSpace, physical: np.ndarray) -> xr.Dataset:
    """Build a group of one variable per parameter.

    Args:
        physical: (draw, M).
    """
    return xr.Dataset(
        {
            parameter.name: (
                ("chain", "draw"),
                physical[None, :, i].astype(np.float64),
                {"units": parameter.unit, "lower": parameter.lower, "upper": parameter.upper},
            )
            for i, parameter in enumerate(space.parameters)
        },
        coords={"chain": [0], "draw": np.arange(len(physical))},
    )


def assemble(
    space: ParameterSpace,
    *,
    draws: np.ndarray,
    prior_draws: np.ndarray,
    sample_stats: Mapping[str, np.ndarray],
    shooting: xr.Dataset,
    history: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
) -> xr.DataTree:
    """Assemble the file.

    Args:
        draws, prior_draws: (draw, M) physical values.
        sample_stats: name → (draw,).
        shooting: dims (draw, trajectory, window, …).
        history: name → (iteration,).
        attributes: config, fingerprint, versions, device, seed, …; no wall-clock times.
    """
    posterior = parameter_group(space, draws)
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=dict(attributes)),
            "posterior": posterior,
            "sample_stats": xr.Dataset(
                {name: (("chain", "draw"), values[None]) for name, values in sample_stats.items()},
                coords=posterior.coords,
            ),
            "prior": parameter_group(space, prior_draws),
            "shooting": shooting,
            "history": xr.Dataset(
                {name: ("iteration", values) for name, values in history.items()},
                coords={"iteration": np.arange(len(next(iter(history.values()))))},
            ),
        }
    )


def read_draws(path: str | Path, space: ParameterSpace, group: str = "posterior") -> np.ndarray:
    """Read the draws of a posterior (or prior) group, (draw, M) physical values."""
    data = read_dataset(path, group)
    columns = [data[name].values.reshape(-1) for name in space.names]
    return np.stack(columns, axis=1)
