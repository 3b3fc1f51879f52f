"""Single parameters of a model whose motion determines combinations of them only.

An estimator that seeks the combinations ("base parameters") c leaves out every direction along
which the motion stays the same. What can be said of the model's own parameters θ afterwards is
their prior, given c. With a few of them, u, left free, the others follow, θ = θ(c, u), and

    p(u | c) ∝ π(θ(c, u)) |∂θ/∂c|      within the prior's limits, 0 beyond

with π the prior density of θ and u among θ as it is. For each draw of c it is evaluated at
quasi-random points u, and one of them is drawn in proportion to it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.parameters.space import ParameterSpace
from pdsim.runtime.errors import PdsimError

# About how many points of all draws are evaluated at once.
_TOGETHER = 2**16


class Ridge(NamedTuple):
    """How a system's parameters follow from its base parameters.

    Attributes:
        free: parameters that base parameters do not determine.
        determined: every other parameter → a base parameter of its own, on which it depends.
        split: (base parameters, free ones), scalars by name → all parameters by name.
    """

    free: tuple[str, ...]
    determined: Mapping[str, str]
    split: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]


class Recovered(NamedTuple):
    """Parameters along the ridge.

    Attributes:
        values: (draw, M) in the order of the prior's space, physical units; NaN where no point lay
            within the limits.
        effective: (draw,) effective number of points, (Σ w)² / Σ w²; 0 where there was none.
    """

    values: np.ndarray
    effective: np.ndarray

    @property
    def missing(self) -> int:
        """Number of draws without parameters."""
        return int(np.sum(self.effective == 0))


def recover(
    ridge: Ridge,
    base: Mapping[str, Any],
    prior: ParameterSpace,
    *,
    points: int = 4096,
    seed: int = 0,
) -> Recovered:
    """Draw parameters from their prior given base parameters, one set for each draw of these.

    Args:
        base: every base parameter by name, (draw,) or one number for all draws.
        prior: of the system's parameters. What it fixes of ``ridge.determined`` has to come out of
            ``split`` to nine digits, or no point counts.
        points: tried for each draw.

    Raises:
        PdsimError: the prior leaves nothing free, or one of its parameters is not one of the
            ridge's.
    """
    names = single_names(ridge, prior)
    free = [name for name in names if name in ridge.free]
    bound = [name for name in names if name not in ridge.free]
    at = np.array([names.index(name) for name in bound], int)
    fixed = dict(prior.fixed)
    cloud = ParameterSpace(tuple(prior.parameters[names.index(name)] for name in free))
    sobol = cloud.sobol(points)

    def parameters(c, others, u):
        """Every parameter by name, from c (bound,), other base parameters and u (free,)."""
        conditions = dict(zip((ridge.determined[name] for name in bound), c, strict=True))
        held = {name: fixed[name] for name in ridge.free if name not in free}
        return ridge.split(others | conditions, held | dict(zip(free, u, strict=True)))

    def coordinates(c, others, u):
        found = parameters(c, others, u)
        x = prior.to_coordinates(jnp.stack([jnp.asarray(found[name]) for name in names]))
        return x[at], (x, found)

    def log_weight(c, others, u):
        # In unit coordinates, over which the prior's density is given.
        slopes, (x, found) = jax.jacfwd(coordinates, has_aux=True)(c, others, u)
        value = prior.log_prior(x) + jnp.linalg.slogdet(slopes)[1]
        possible = jnp.all((x >= 0) & (x <= 1)) & jnp.isfinite(value)
        for name in set(ridge.determined) & set(fixed) & set(found):
            possible &= jnp.isclose(found[name], fixed[name], rtol=1e-9, atol=1e-9)
        return jnp.where(possible, value, -jnp.inf)

    def draw(arguments):
        c, others, shift, key = arguments
        # Each draw has the points elsewhere: those of all draws together stay free of a pattern.
        u = cloud.to_physical((sobol + shift) % 1.0)
        weight = jax.vmap(log_weight, (None, None, 0))(c, others, u)
        highest = weight.max()
        relative = jnp.exp(weight - jnp.where(jnp.isfinite(highest), highest, 0.0))
        effective = relative.sum() ** 2 / jnp.maximum((relative**2).sum(), 1e-300)
        found = parameters(c, others, u[jax.random.categorical(key, weight)])
        values = jnp.stack([jnp.asarray(found[name]) for name in names])
        return jnp.where(effective > 0, values, jnp.nan), effective

    count = max(np.size(value) for value in base.values())
    columns = {k: np.broadcast_to(np.asarray(v, float), count) for k, v in base.items()}
    conditions = [ridge.determined[name] for name in bound]
    c = np.stack([columns[name] for name in conditions], axis=1)
    others = {name: column for name, column in columns.items() if name not in conditions}
    shifts = np.random.default_rng(seed).uniform(size=(count, len(free)))
    keys = jax.random.split(jax.random.key(seed), count)
    every = jax.jit(
        lambda arguments: jax.lax.map(draw, arguments, batch_size=max(_TOGETHER // points, 1))
    )
    values, effective = every((c, others, shifts, keys))
    return Recovered(np.asarray(values), np.asarray(effective))


def single_names(ridge: Ridge, prior: ParameterSpace) -> list[str]:
    """The system's parameter behind each of the prior's.

    Raises:
        PdsimError: as ``recover``.
    """
    names = []
    for parameter in prior.parameters:
        sets = parameter.sets or (parameter.name,)
        if len(sets) > 1 or sets[0] not in {*ridge.free, *ridge.determined}:
            raise PdsimError(
                f"{parameter.name}: a prior along the ridge is one of single parameters among "
                f"{', '.join((*ridge.free, *ridge.determined))}; it sets {', '.join(sets)}"
            )
        names.append(sets[0])
    if not any(name in ridge.free for name in names):
        raise PdsimError(f"the prior fixes {', '.join(ridge.free)}: nothing is left to draw")
    return names
