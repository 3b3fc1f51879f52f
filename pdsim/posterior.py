"""The NetCDF layout of a posterior, as ArviZ reads it.

Groups: ``posterior`` (one variable per parameter, dims ``(chain, draw)``, physical units),
``sample_stats``, ``combinations`` (what the motion can determine), ``single`` (the model's own
parameters, drawn along the ridge that combinations leave, where asked for), ``noise`` (deviations
of sensors, of the process and between recordings, where they are inferred), ``recordings`` (what
varies between them, in each of training, dims ``(chain, draw, trajectory)``), ``prior``,
``shooting`` (start states and defects of the windows), ``history`` (one value per iteration),
``course`` (the draws as they stood after more and more roll-outs) and ``convergence`` (R-hat and
effective sample size of Markov chains; optimum and deviation of least squares). Particles are one
chain; the attribute ``sample_kind`` tells what the draws are, ``ended`` what ended the run: budget,
time or convergence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr

from pdsim.parameters import ParameterSpace
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.ridge import recover
from pdsim.systems.simulator import Simulator, single_prior


def parameter_group(space: ParameterSpace, physical: np.ndarray, dims: Sequence[str]) -> xr.Dataset:
    """Build a group of one variable per parameter.

    Args:
        physical: dims first, M last.
        dims: names of the leading dimensions.
    """
    return xr.Dataset(
        {
            parameter.name: (
                tuple(dims),
                physical[..., i].astype(np.float64),
                {"units": parameter.unit, "lower": parameter.lower, "upper": parameter.upper},
            )
            for i, parameter in enumerate(space.parameters)
        },
        coords={name: np.arange(size) for name, size in zip(dims, physical.shape, strict=False)},
    )


_DRAWS = ("chain", "draw")


def combination_group(simulator: Simulator, physical: np.ndarray) -> xr.Dataset:
    """What the motion can determine, where the system knows it; one variable each.

    Args:
        physical: (chain, draw, M).
    """
    system, space, _ = simulator

    @jax.jit
    @jax.vmap
    def combine(coordinates):
        found = system.combinations(space.system_parameters(coordinates))
        return {name: value for name, (value, _) in found.items()}

    coordinates = space.to_coordinates(physical.reshape(-1, physical.shape[-1]))
    values = combine(coordinates)
    defaults = {name: parameter.default for name, parameter in system.parameters.items()}
    units = {name: unit for name, (_, unit) in system.combinations(defaults).items()}
    return xr.Dataset(
        {
            name: (
                _DRAWS,
                np.asarray(value, np.float64).reshape(physical.shape[:2]),
                {"units": units[name]},
            )
            for name, value in values.items()
        }
    )


def single_group(
    config: SimulatorConfig, simulator: Simulator, physical: np.ndarray, seed: int
) -> xr.Dataset:
    """The model's own parameters of each draw, and ``effective``; empty where not asked for.

    Args:
        physical: (chain, draw, M).
    """
    found = single_prior(config, simulator.system)
    if found is None:
        return xr.Dataset()
    ridge, prior = found
    flat = physical.reshape(-1, physical.shape[-1])
    coordinates = simulator.space.to_coordinates(flat)
    base = jax.vmap(simulator.space.system_parameters)(coordinates)
    recovered = recover(ridge, base, prior, seed=seed)
    shape = physical.shape[:2]
    group = parameter_group(prior, recovered.values.reshape(*shape, -1), _DRAWS)
    effective = recovered.effective.reshape(shape)
    return group.assign(effective=(_DRAWS, effective, {"units": "points"}))


def assemble(
    simulator: Simulator,
    space: ParameterSpace,
    *,
    config: SimulatorConfig,
    draws: np.ndarray,
    chain_count: int,
    prior_draws: np.ndarray,
    recordings: xr.Dataset,
    sample_stats: Mapping[str, np.ndarray],
    shooting: xr.Dataset,
    history: Mapping[str, np.ndarray],
    course: Mapping[str, np.ndarray],
    convergence: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> xr.DataTree:
    """Assemble the file.

    Args:
        simulator: whose parameters were estimated.
        config: that it was built from.
        space: of what was estimated: its parameters and, behind them, those of the noise.
        draws, prior_draws: (draw, M) physical values, chain by chain.
        chain_count: chains the draws come from.
        recordings: what varies between them, dims (chain, draw, trajectory); empty if nothing does.
        sample_stats: name → (draw,).
        shooting: dims (draw, trajectory, window, …).
        history: name → (iteration,).
        course: ``draws`` (snapshot, draw, M), physical; ``rollouts`` and ``seconds`` (snapshot,).
        convergence: name → (M,).
        attributes: config, fingerprint, versions, device, seed, …; no wall-clock times.
    """
    count = simulator.space.dimension
    by_chain = draws.reshape(chain_count, -1, space.dimension)
    posterior = parameter_group(simulator.space, by_chain, _DRAWS)
    snapshots = parameter_group(space, course["draws"], ("snapshot", "draw"))
    noise = replace(space, parameters=space.parameters[count:])
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=dict(attributes)),
            "posterior": posterior,
            "sample_stats": xr.Dataset(
                {
                    name: (_DRAWS, values.reshape(chain_count, -1))
                    for name, values in sample_stats.items()
                },
                coords=posterior.coords,
            ),
            "combinations": combination_group(simulator, by_chain[..., :count]),
            "single": single_group(
                config, simulator, by_chain[..., :count], int(attributes["seed"])
            ),
            "noise": parameter_group(noise, by_chain[..., count:], _DRAWS),
            "recordings": recordings,
            "prior": parameter_group(space, prior_draws[None], _DRAWS),
            "shooting": shooting,
            "history": xr.Dataset(
                {name: ("iteration", values) for name, values in history.items()},
                coords={"iteration": np.arange(len(next(iter(history.values()))))},
            ),
            "course": snapshots.assign(
                {name: ("snapshot", course[name]) for name in ("rollouts", "seconds")}
            ),
            "convergence": xr.Dataset(
                {name: ("parameter", np.asarray(values)) for name, values in convergence.items()},
                coords={"parameter": list(space.names)},
            ),
        }
    )


def read_draws(path: str | Path, space: ParameterSpace, group: str = "posterior") -> np.ndarray:
    """Read the draws of a posterior (or prior) group, (draw, M) physical values."""
    data = read_dataset(path, group)
    missing = [name for name in space.names if name not in data]
    if missing:
        raise PdsimError(
            f"{path}: has no draws of {missing[0]}, which the experiment seeks (its: "
            f"{', '.join(map(str, data.data_vars)) or 'none'}); give a posterior of this experiment"
        )
    columns = [data[name].values.reshape(-1) for name in space.names]
    return np.stack(columns, axis=1)
