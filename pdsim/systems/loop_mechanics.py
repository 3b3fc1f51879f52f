"""A flexible loop in the hand of an arm: a chain of stiff links with springs, clamped to the table.

The loop is a regular polygon of n links when nothing bends it. The hand H holds its top, where the
tree of bodies branches: n/2 links hang on either side, and both ends are clamped to the table. Each
link hangs on the one before by a hinge about x, angle θ, and then one about y, angle ψ; its axis is
its own z, and the loop lies in the y–z plane of H. With s = ±1 for the left and the right side,
R_0 = R_H and P_0 the grip,

    A_1 = R_H Rx(s (π/2 − π/n))        A_j = R_{j−1} Rx(−s 2π/n)
    R_j = A_j Rx(θ_j) Ry(ψ_j)          P_j = P_{j−1} + l R_j e_z        l = 2 r sin(π/n)

Configuration q (7 + 2n): the arm's angles b, then θ_1, ψ_1, θ_2, … of the left side, then those of
the right one.

Constraints, 6 for each side: with (P_c, R_c) the clamp's pose and E = R_cᵀ R_{n/2},

    h = (P_{n/2} − P_c, ½ vee(E − Eᵀ))

which vanishes at an error of 180° too: a solution with trace E ≤ 0 is refused.

Lagrangian: kinetic energy of arm and links, less gravity's and the springs' energies,
½ κ_θ Σ θ² + ½ κ_ψ Σ ψ². Forces: on the arm, the torque that was measured and a controller that
keeps it near the angles that were measured; on the loop, damping,

    f_b = T − K_p (b − b_ref) − K_v (ḃ − ḃ_ref)        f_loop = −c q̇
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.systems.baxter_arm import GRIP, HAND, LINKS, MOUNT, rotation, symmetric
from pdsim.variational.hinges import Hinges, Masks, Placed, place, rates, turned
from pdsim.variational.mechanics import Mechanics

ARM = len(LINKS)
RADIUS, TUBE = 0.355, 0.02
# The hand's z axis points straight down: s1 + e1 + w1 = π/2.
POSTURE = (0.0, -0.55, 0.0, 0.75, 0.0, np.pi / 2 - 0.20, 0.0)


class Drive(NamedTuple):
    """What acts on the arm during a step, (7,) each.

    Attributes:
        torque: T [N m].
        angle: b_ref [rad].
        rate: ḃ_ref [rad/s].
    """

    torque: jax.Array
    angle: jax.Array
    rate: jax.Array


@dataclass(frozen=True)
class LoopTree(Hinges):
    """The tree of arm and loop, without numbers of its motion.

    Points, after the places of the hinges: the centres of mass, the grip, and the two ends.
    """

    links: int

    @property
    def hinge_count(self) -> int:
        """7 + 2 n."""
        return ARM + 2 * self.links

    @property
    def length(self) -> float:
        """l, of a link [m]."""
        return 2 * RADIUS * np.sin(np.pi / self.links)

    @cached_property
    def masks(self) -> Masks:
        arm = np.tril(np.ones((ARM, ARM)))
        half, count = self.links // 2, self.hinge_count
        axes = np.zeros((count, count))
        axes[:, :ARM] = 1
        axes[:ARM, :ARM] = arm
        for side in range(2):
            own = slice(ARM + side * self.links, ARM + (side + 1) * self.links)
            axes[own, own] = np.tril(np.ones((self.links, self.links)))
        # A link moves as its second hinge, ψ, does; the hand as the last link of the arm.
        seconds = ARM + 1 + 2 * np.arange(2 * half)
        bodies = axes[[*range(ARM), ARM - 1, *seconds]]
        ends = axes[[ARM - 1, ARM + self.links - 1, count - 1]]
        return Masks(axes, bodies, np.concatenate([axes, bodies, ends]))

    def follow(self, q):
        dtype, n = q.dtype, self.links

        def fixed(x):
            return jnp.asarray(x, dtype)

        # Loops, and not lines of their own for each link: they compile in a third of the time.
        def link(carry, one):
            at, R = carry
            place, turn, centre, angle = one
            at = at + R @ place
            before = R @ turn
            R = before @ turned(2, angle)
            return (at, R), (before[:, 2], R, at, at + R @ centre)

        arm = (
            fixed([link.place for link in LINKS]),
            fixed([rotation(link.turn) for link in LINKS]),
            fixed([link.centre for link in LINKS]),
            q[:ARM],
        )
        base = (fixed(MOUNT[0]), fixed(rotation(MOUNT[1])))
        (at, R), (axes, rotations, places, centres) = jax.lax.scan(link, base, arm)
        hand, grip = (at + R @ fixed(x) for x in (np.add(HAND.place, HAND.centre), GRIP))

        # Both sides at once, (side, …).
        sign = np.array([1.0, -1.0])
        bend = fixed(np.stack([rotation((-s * 2 * np.pi / n, 0, 0)) for s in sign]))
        first = np.stack([rotation((s * (np.pi / 2 - np.pi / n), 0, 0)) for s in sign])

        def pair(carry, angles):
            A, P = carry
            B = A @ turned(0, angles[:, 0])
            turn = B @ turned(1, angles[:, 1])
            along = fixed(self.length) * turn[:, :, 2]
            own = (jnp.stack([A[:, :, 0], B[:, :, 1]], axis=1), turn, P, P + 0.5 * along)
            return (turn @ bend, P + along), own

        both = (R @ fixed(first), jnp.broadcast_to(grip, (2, 3)))
        angles = q[ARM:].reshape(2, n // 2, 2).swapaxes(0, 1)
        (_, ends), sides = jax.lax.scan(pair, both, angles)
        # (link, side, …) to (side, link, …).
        side_axes, turns, side_places, side_centres = (x.swapaxes(0, 1) for x in sides)
        hung = jnp.repeat(side_places, 2, axis=1)
        return Placed(
            jnp.concatenate([axes, side_axes.reshape(-1, 3)]),
            jnp.concatenate([rotations, R[None], turns.reshape(-1, 3, 3)]),
            jnp.concatenate(
                [
                    places,
                    hung.reshape(-1, 3),
                    centres,
                    hand[None],
                    side_centres.reshape(-1, 3),
                    grip[None],
                    ends,
                ]
            ),
        )

    def centres(self, points):
        """Of the points, the centres of mass, (body, …)."""
        return points[self.hinge_count : -3]


class Clamp(NamedTuple):
    """Pose of each side's last link where it is clamped: (2, 3) [m], (2, 3, 3)."""

    place: np.ndarray
    rotation: np.ndarray


@lru_cache
def clamp_of(links: int) -> Clamp:
    """Where the loop's ends are while nothing bends it and the arm has its posture."""
    tree = LoopTree(links)
    with jax.ensure_compile_time_eval(), jax.enable_x64(True):
        placed = tree.follow(jnp.asarray([*POSTURE, *[0.0] * (2 * links)], jnp.float64))
        last = [ARM + links // 2, ARM + links]
        return Clamp(np.asarray(placed.points[-2:]), np.asarray(placed.rotations)[last])


@dataclass(frozen=True)
class LoopMechanics(Mechanics):
    """The model at the head of this file.

    ρ is a mapping: kappa_theta, kappa_psi [N m/rad], mass of the loop [kg], damping c [N m s/rad]
    and gravity [m/s²]. u is a ``Drive``.

    Attributes:
        links: n, even.
        position_gain: K_p, (7,) [N m/rad].
        velocity_gain: K_v, (7,) [N m s/rad].
        mass_factors: of each link, relative to an equal share; () for equal ones.
    """

    links: int
    position_gain: tuple[float, ...]
    velocity_gain: tuple[float, ...]
    mass_factors: tuple[float, ...] = ()

    @property
    def tree(self) -> LoopTree:
        """Arm and loop."""
        return LoopTree(self.links)

    @property
    def thetas(self) -> np.ndarray:
        """Where the angles θ are in q; those of ψ come right behind."""
        return ARM + 2 * np.arange(self.links)

    @property
    def start(self) -> np.ndarray:
        """q of the undeformed loop and the arm's posture."""
        return np.array([*POSTURE, *[0.0] * (2 * self.links)])

    def lagrangian(self, q, v, rho):
        tree, dtype = self.tree, q.dtype
        placed = place(tree, q)
        moving = rates(tree, placed, v)
        masses, inertias = self._inertia(rho["mass"], dtype)
        velocities = tree.centres(moving.velocities)
        # Turning rates in the axes of the bodies.
        own = (placed.rotations * moving.turning[:, :, None]).sum(axis=1)
        turning = (own[:, None, :] * inertias * own[:, :, None]).sum()
        kinetic = 0.5 * ((masses[:, None] * velocities**2).sum() + turning)
        height = masses @ tree.centres(placed.points)[:, 2]
        theta, psi = q[self.thetas], q[self.thetas + 1]
        spring = 0.5 * (rho["kappa_theta"] * theta @ theta + rho["kappa_psi"] * psi @ psi)
        return kinetic - rho["gravity"] * height - spring

    def _inertia(self, mass, dtype):
        """Masses (body,) and inertias (body, 3, 3) of all bodies."""
        bodies = (*LINKS, HAND)
        factors = np.array(self.mass_factors or [1.0] * self.links) / self.links
        length = self.tree.length
        shape = np.diag([length**2 / 12, length**2 / 12, TUBE**2])
        arm = jnp.asarray([body.mass for body in bodies], dtype)
        arm_inertia = jnp.asarray(np.stack([symmetric(b.inertia) for b in bodies]), dtype)
        shares = mass * jnp.asarray(factors, dtype)
        loop_inertia = shares[:, None, None] * jnp.asarray(shape, dtype)
        return jnp.concatenate([arm, shares]), jnp.concatenate([arm_inertia, loop_inertia])

    def _errors(self, q):
        """Displacements (2, 3) and rotations E (2, 3, 3) of the ends from the clamp."""
        placed, clamp = place(self.tree, q), clamp_of(self.links)
        last = np.array([ARM + self.links // 2, ARM + self.links])
        away = placed.points[-2:] - jnp.asarray(clamp.place, q.dtype)
        turned_by = jnp.asarray(clamp.rotation.swapaxes(1, 2), q.dtype) @ placed.rotations[last]
        return away, turned_by

    def constraint(self, q, rho):
        away, E = self._errors(q)
        turn = 0.5 * jnp.stack(
            [E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=1
        )
        return jnp.concatenate([away, turn], axis=1).reshape(-1)

    def admissible(self, q, rho):
        _, E = self._errors(q)
        return jnp.all(jnp.trace(E, axis1=1, axis2=2) > 0)

    def force(self, q, v, u, rho):
        Kp = jnp.asarray(self.position_gain, q.dtype)
        Kv = jnp.asarray(self.velocity_gain, q.dtype)
        arm = u.torque - Kp * (q[:ARM] - u.angle) - Kv * (v[:ARM] - u.rate)
        return jnp.concatenate([arm, -rho["damping"] * v[ARM:]])

    def hand(self, q):
        """Where the grip is, (3,) [m]."""
        return place(self.tree, q).points[-3]
