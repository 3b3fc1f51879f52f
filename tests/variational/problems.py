"""Two small mechanisms to test the integrator on: a pendulum and a planar loop."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from pdsim.variational.mechanics import Mechanics


@dataclass(frozen=True)
class Pendulum(Mechanics):
    """A point mass on a rod; u is a torque, ρ = (m, l, g)."""

    def lagrangian(self, q, v, rho):
        m, length, gravity = rho
        return 0.5 * m * (length * v[0]) ** 2 + m * gravity * length * jnp.cos(q[0])

    def force(self, q, v, u, rho):
        return jnp.stack([u])


@dataclass(frozen=True)
class PlanarLoop(Mechanics):
    """A chain of rods between two points of the ground, closed by h; q are the relative angles.

    ρ are the stiffnesses of the springs in the hinges, by turns; they are relaxed in the start
    shape, a polygon whose hinges all turn by the same angle.
    """

    links: int = 4
    length: float = 0.2
    mass: float = 0.05
    gravity: float = 9.81
    damping: float = 0.0

    @property
    def rest(self):
        turn = 2 * np.pi / (self.links + 2)
        return np.array([0.5 * turn * (self.links - 1)] + [-turn] * (self.links - 1))

    def points(self, q):
        angle = jnp.cumsum(q)
        steps = self.length * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
        return jnp.cumsum(steps, axis=0), steps, angle

    def lagrangian(self, q, v, rho):
        ends, steps, _ = self.points(q)
        rate = jnp.cumsum(v)
        across = rate[:, None] * jnp.stack([-steps[:, 1], steps[:, 0]], axis=1)
        velocity = jnp.cumsum(across, axis=0) - 0.5 * across
        kinetic = 0.5 * self.mass * (velocity**2).sum()
        kinetic += 0.5 * self.mass * self.length**2 / 12 * (rate**2).sum()
        height = (ends - 0.5 * steps)[:, 1].sum()
        stiffness = jnp.asarray(rho)[np.arange(self.links) % 2]
        spring = 0.5 * (stiffness * (q - self.rest) ** 2).sum()
        return kinetic - self.mass * self.gravity * height - spring

    def constraint(self, q, rho):
        shut = np.cumsum(self.rest)
        end = self.length * np.array([np.cos(shut).sum(), np.sin(shut).sum()])
        return self.points(q)[0][-1] - end

    def force(self, q, v, u, rho):
        return -self.damping * v


def energy(mechanics, q, v, rho):
    """v · ∂L/∂v − L."""
    import jax

    value, slope = jax.value_and_grad(mechanics.lagrangian, 1)(q, v, rho)
    return v @ slope - value
