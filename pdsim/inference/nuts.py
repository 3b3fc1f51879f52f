"""The No-U-Turn sampler (Hoffman and Gelman, 2014), chains side by side, in two ways.

- ``pooled``, the default: chains start from fits of least squares, whose cost is counted, with the
  mass matrix of Gauss and Newton; step size and mass matrix are then adapted to all chains together
  (``pooled_nuts``).
- ``separate``: each chain starts from a point of its own and adapts for itself (``separate_nuts``).
  It is what the paper's comparison is run with.
"""

from pdsim.inference.nuts_settings import Settings
from pdsim.inference.pooled_nuts import PooledNuts
from pdsim.inference.separate_nuts import SeparateNuts

_ADAPTATIONS: dict[str, type[PooledNuts] | type[SeparateNuts]] = {
    "pooled": PooledNuts,
    "separate": SeparateNuts,
}


def no_u_turn(
    *, settings: Settings, particle_count: int, iteration_count: int
) -> PooledNuts | SeparateNuts:
    """Return the estimator with the adaptation that is set."""
    return _ADAPTATIONS[settings.adaptation](
        settings=settings, particle_count=particle_count, iteration_count=iteration_count
    )


ESTIMATOR = no_u_turn
