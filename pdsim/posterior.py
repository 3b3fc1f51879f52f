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

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr
from pydantic import ValidationError

from pdsim.parameters.space import ParameterSpace
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import read_dataset
from pdsim.runtime.kinds import check_kind
from pdsim.settings.messages import explain
from pdsim.systems.config import ParameterConfig, PosteriorOf, SimulatorConfig
from pdsim.systems.ridge import recover
from pdsim.systems.simulator import Simulator, single_prior

log = logging.getLogger(__name__)


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
    return _columns(path, read_dataset(path, group), space)


def _columns(path: str | Path, data: xr.Dataset, space: ParameterSpace) -> np.ndarray:
    """One column for each parameter of a space, (draw, M)."""
    missing = [name for name in space.names if name not in data]
    if missing:
        raise PdsimError(
            f"{path}: has no draws of {missing[0]}, which the experiment seeks (its: "
            f"{', '.join(map(str, data.data_vars)) or 'none'}); give a posterior of this experiment"
        )
    columns = [data[name].values.reshape(-1) for name in space.names]
    return np.stack(columns, axis=1)


class PosteriorFile(NamedTuple):
    """A posterior file that was checked.

    Attributes:
        attributes: of the file's root: run, method, shooting, seed, sample_kind, ….
        settings: what the job that wrote it was given: sections ``simulator``, ``likelihood``, ….
        draws: the group ``posterior``, dims (chain, draw).
        stats: the group ``sample_stats``, the same dims.
    """

    path: Path
    attributes: dict[str, Any]
    settings: dict[str, Any]
    draws: xr.Dataset
    stats: xr.Dataset

    @property
    def run(self) -> str:
        """Name of its run."""
        return str(self.attributes["run"])

    @property
    def seed(self) -> int:
        """Seed of its run."""
        return int(self.attributes["seed"])

    @property
    def identity(self) -> dict[str, Any]:
        """Whose draws they are: attributes that a file made from them carries on."""
        return {name: self.attributes[name] for name in _IDENTITY if name in self.attributes}

    def check_made_from(self, path: str | Path, data: xr.Dataset) -> None:
        """Refuse roll-outs or predictions that were made from the draws of another posterior.

        Args:
            path: of the file that holds ``data``.

        Raises:
            PdsimError: names both.
        """
        for name, value in self.identity.items():
            other = data.attrs.get(name, value)
            if other != value:
                raise PdsimError(
                    f"{path}: was made from another posterior than {self.path} ({name} {other}, "
                    f"and {value} here); make it from this one, or name the posterior it is of"
                )

    @property
    def parameters(self) -> dict[str, ParameterConfig]:
        """The estimated parameters, as its own experiment had them."""
        entries = self.settings["simulator"]["parameters"]
        return {name: ParameterConfig.model_validate(entry) for name, entry in entries.items()}

    def table(self, names: Iterable[str]) -> np.ndarray:
        """Draws of some parameters, (draw, n) physical values."""
        return np.stack([self.draws[name].values.ravel() for name in names], axis=1)

    def of(self, space: ParameterSpace) -> np.ndarray:
        """Draws of an experiment's parameters, (draw, M) physical values.

        Raises:
            PdsimError: one of them was not estimated.
        """
        return _columns(self.path, self.draws, space)

    @property
    def log_density(self) -> np.ndarray:
        """Log likelihood and log prior of each draw, added, (draw,)."""
        return (self.stats["log_likelihood"] + self.stats["log_prior"]).values.ravel()

    @property
    def diverging(self) -> np.ndarray:
        """Which draws the estimator marked as diverging, (draw,)."""
        return self.stats["diverging"].values.ravel().astype(bool)

    @property
    def usable(self) -> np.ndarray:
        """Which draws have a finite roll-out, (draw,)."""
        return np.isfinite(self.log_density) & ~self.diverging


SAMPLE_KINDS = ("particles", "mcmc", "iid", "point")
# Attributes that a file made from a posterior carries on.
_IDENTITY = ("run", "fingerprint")
_ATTRIBUTES = ("run", "method", "shooting", "seed", "sample_kind", "config")
_STATISTICS = ("log_likelihood", "log_prior", "diverging")
_WANTED = "give a posterior.nc that pdsim infer or pdsim condition wrote"
# Share of a parameter's bounds by which single precision may miss them.
_ROUNDING = 1e-5


def open_posterior(path: str | Path) -> PosteriorFile:
    """Read a posterior's parameters and their statistics, or refuse the file.

    Raises:
        PdsimError: the file is something else or incomplete, or no draw is finite.
    """
    root = read_dataset(path)
    missing = [name for name in _ATTRIBUTES if name not in root.attrs]
    if missing:
        check_kind(path, "posterior")
        raise PdsimError(f"{path}: is no posterior (it has no {missing[0]}); {_WANTED}")
    found = PosteriorFile(
        Path(path),
        dict(root.attrs),
        _settings(path, root.attrs["config"]),
        read_dataset(path, "posterior"),
        read_dataset(path, "sample_stats"),
    )
    _check_layout(found)
    return found


def read_posterior(path: str | Path, *, force: bool | None = None) -> PosteriorFile:
    """Read a posterior as ``open_posterior`` does, and refuse draws that cannot be right.

    Args:
        force: tell of such draws, and go on with them; None: the caller has no such option.

    Raises:
        PdsimError: as ``open_posterior``; or a draw is not finite or beyond its bounds, and its own
            statistics do not say so.
    """
    found = open_posterior(path)
    for doubt in _doubts(found):
        if not force:
            remedy = "" if force is None else ", or add --force to take it as it is"
            raise PdsimError(f"{path}: {doubt}; infer it again{remedy}")
        log.warning("%s: %s; taken as it is", path, doubt)
    return found


def read_run(path: str, earlier: PosteriorOf, where: str) -> PosteriorFile:
    """Read a posterior file, and refuse one of another run or seed than the one asked for."""
    found = read_posterior(path)
    if (found.run, found.seed) != (earlier.run, earlier.seed):
        raise PdsimError(
            f"{path}: is of run {found.run}, seed {found.seed}, but {where} asks for run "
            f"{earlier.run}, seed {earlier.seed}"
        )
    return found


def _settings(path: str | Path, text: Any) -> dict[str, Any]:
    """What the job that wrote the file was given, or say what the attribute holds instead."""
    try:
        settings = json.loads(text)
        SimulatorConfig.model_validate(settings["simulator"])
    except ValidationError as error:
        raise explain(error, f"{path}: config.simulator", SimulatorConfig) from None
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        words = " ".join(str(error).split())[:120]
        raise PdsimError(
            f"{path}: its attribute config is not the settings of a job ({words}); {_WANTED}"
        ) from None
    return dict(settings)


def _check_layout(found: PosteriorFile) -> None:
    """Refuse a file whose variables are not those of its own settings."""
    path, sizes = found.path, found.draws.sizes
    if not all(sizes.get(dim, 0) for dim in _DRAWS):
        raise PdsimError(f"{path}: holds no draws; {_WANTED}")
    for name, parameter in found.parameters.items():
        if name not in found.draws:
            raise PdsimError(f"{path}: has no draws of {name}, which its run estimates; {_WANTED}")
        values = found.draws[name]
        if values.dims != _DRAWS or values.dtype.kind != "f":
            raise PdsimError(
                f"{path}: {name} has dimensions {values.dims} of {values.dtype}, and draws are "
                f"real numbers over {_DRAWS}; {_WANTED}"
            )
        unit = values.attrs.get("units", parameter.unit)
        if unit != parameter.unit:
            raise PdsimError(
                f"{path}: {name} is in {unit}, and its run has it in {parameter.unit}; {_WANTED}"
            )
    for name in _STATISTICS:
        shape = found.stats[name].sizes if name in found.stats else {}
        if dict(shape) != {dim: sizes[dim] for dim in _DRAWS}:
            what = "another number of draws" if shape else "is missing"
            raise PdsimError(f"{path}: sample_stats.{name}: {what}; {_WANTED}")
    if not np.isfinite(found.table(found.parameters)).all(axis=1).any():
        raise PdsimError(f"{path}: no draw is finite; infer it again")


def _doubts(found: PosteriorFile) -> Iterator[str]:
    """What cannot be right, in words."""
    kind = str(found.attributes["sample_kind"])
    if kind not in SAMPLE_KINDS:
        yield f"sample_kind {kind!r} is unknown; known: {', '.join(SAMPLE_KINDS)}"
    draws = found.table(found.parameters)
    lost = ~np.isfinite(draws).all(axis=1)
    silent = lost & ~found.diverging
    if silent.any():
        yield f"{silent.sum():,} of {len(draws):,} draws are not finite and not marked as diverging"
    told = found.stats.get("limit_violation")
    allowed = _ROUNDING + (0.0 if told is None else told.values.ravel())
    for (name, entry), values in zip(found.parameters.items(), draws.T, strict=True):
        lower, upper = entry.lower, entry.upper
        if entry.scale == "log":
            with np.errstate(all="ignore"):
                lower, upper, values = np.log(lower), np.log(upper), np.log(values)
            values = np.where(np.isnan(values) & ~lost, -np.inf, values)
        beyond = np.maximum(lower - values, values - upper) / (upper - lower) > allowed
        beyond &= ~found.diverging
        if beyond.any():
            yield (
                f"{beyond.sum():,} of {len(draws):,} draws of {name} are outside its bounds "
                f"{entry.lower:g} to {entry.upper:g} {entry.unit}"
            )
