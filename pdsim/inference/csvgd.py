"""Constrained SVGD: Stein variational gradient descent under equality constraints (Algorithm 1).

Each particle carries its shooting variables and Lagrange multipliers. Parameters follow the Stein
direction; shooting variables descend the Lagrangian (Eq. 8); multipliers ascend it, λ̇ = g. The
defects' scale σ_def tightens on the way, so that the last particles are continuous.

It is composed of a direction (``stein``), the handling of constraints (``mdmm``, ``profile``) and a
step (``particles.move``, ``gauss_newton``), in two ways, by the setting ``descent``:

- ``gradient`` is the paper's own: kernel of positions, multipliers for limits and defects, Adam.
- ``gauss_newton``, the default, takes steps on the linearised residuals and defects, in a kernel of
  what the particles predict. Motion that amplifies its start many-fold makes the Lagrangian
  ill-conditioned, so that a gradient step right for one direction is far too long for another;
  these steps see the curvature. They also let the windows weigh equally in the posterior, which
  gradients do not (``gradient_descent``).

Both are runs of the real experiments; what each predicts stands in their tables.
"""

from typing import Any

from pdsim.inference.csvgd_settings import Settings
from pdsim.inference.gradient_descent import GradientDescent
from pdsim.inference.particle_newton import GaussNewton
from pdsim.inference.reweighted import Reweighted


def constrained_svgd(
    *, settings: Settings, particle_count: int, iteration_count: int
) -> GaussNewton | GradientDescent | Reweighted:
    """Return the estimator with the descent that is set."""
    if settings.descent == "gradient":
        chosen: Any = GradientDescent
    else:
        chosen = Reweighted if settings.reweighting else GaussNewton
    return chosen(settings=settings, particle_count=particle_count, iteration_count=iteration_count)


ESTIMATOR = constrained_svgd
