"""The motion of the planar double pendulum: accelerations, their adjoint, and energy.

Angles and frames are those of ``pdsim.systems.double_pendulum``. With ȧ, ḃ the absolute rates, l
the distance between the joints and

    J1 = I1 + m1 |c1|² + m2 l²        J2 = I2 + m2 |c2|²
    C(q1) =  m2 l (y2 cos q1 − x2 sin q1)
    D(q1) = −dC/dq1 = m2 l (y2 sin q1 + x2 cos q1)

the kinetic energy is ½ J1 ȧ² + ½ J2 ḃ² + C ȧ ḃ, the potential energy
−(G1y cos a − G1x sin a) − (G2y cos b − G2x sin b), and Euler–Lagrange gives

    J1 ä + C b̈ =  D ḃ² − (G1y sin a + G1x cos a) − f1 ȧ + f2 q̇1
    C ä + J2 b̈ = −D ȧ² − (G2y sin b + G2x cos b) − f2 q̇1

with G1y = g (m1 y1 + m2 l), G1x = g m1 x1, G2y = g m2 y2, G2x = g m2 x2. Free motion determines
these coefficients up to one common factor only.

With ``motors`` a torque τ_i acts in each joint, on the link and back on what holds it. The motor of
joint i adds ½ R_i q̇_i² to the kinetic energy, R_i its rotor's inertia times the square of the
gear's ratio, and dry friction −d_i tanh(q̇_i / ε) to the torque. In the absolute angles

    J1 → J1 + R1 + R2      J2 → J2 + R2      C → C − R2
    right-hand sides: τ1 − τ2 and τ2, with friction of either kind taken off each

Dry friction there is without motors too, where it is asked for. So is the drag of air, by the
square of the speed of a point of each link. About joint 1, which is at rest, it is −c1 ȧ |ȧ|. The
point of link 2 is at y = r and moves with the joint: over r its velocity has, with λ = l / r, the
components λ ȧ along e_x(a) and ḃ along e_x(b), and the size

    N = √(λ² ȧ² + 2 λ ȧ ḃ cos q1 + ḃ²)

Of the dissipation c2 N³ / 3 the right-hand sides get −c2 N λ (λ ȧ + ḃ cos q1) and
−c2 N (λ ȧ cos q1 + ḃ), which is −c2 ḃ |ḃ| where joint 2 is at rest.

The adjoint of the accelerations is written out below: reverse-mode differentiation of the same
lines stores and recomputes several times as many numbers.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.xla.pairs import once, parts
from pdsim.xla.sincos import inlined_sincos, sincos


class Motors(NamedTuple):
    """What motors add, or dry friction alone; scalars.

    Attributes:
        R2: reflected inertia of the second rotor [kg m²]; the first is part of J1. None: joints
            have dry friction and no motors.
        d1, d2: dry friction [N m].
        epsilon: ε [rad/s].
    """

    R2: jax.Array | None
    d1: jax.Array
    d2: jax.Array
    epsilon: jax.Array


class Drag(NamedTuple):
    """Of air on both links; scalars.

    Attributes:
        c1, c2: torque over the square of the link's rate, the joint at rest [N m s²].
        reach: λ [-].
    """

    c1: jax.Array
    c2: jax.Array
    reach: jax.Array


# Added to N² [rad²/s²]: at rest N has no slope else.
_AT_REST = 1e-20


def _drag_of_second(drag: Drag, va, vb, cw):
    """N, and the components of its velocity along e_x(a) and e_x(b) [rad/s]."""
    carried = drag.reach * va
    along_a, along_b = carried + cw * vb, cw * carried + vb
    return jnp.sqrt(carried * along_a + vb * along_b + _AT_REST), along_a, along_b


class Coefficients(NamedTuple):
    """The numbers the motion depends on; scalars.

    Attributes:
        J1, J2: [kg m²].
        Cy, Cx: m2 l y2 and m2 l x2 [kg m²].
        G1y, G1x, G2y, G2x: [N m].
        f1, f2: viscous friction [N m s].
        motors: None without them and without dry friction.
        drag: None without.
    """

    J1: jax.Array
    J2: jax.Array
    Cy: jax.Array
    Cx: jax.Array
    G1y: jax.Array
    G1x: jax.Array
    G2y: jax.Array
    G2x: jax.Array
    f1: jax.Array
    f2: jax.Array
    motors: Motors | None = None
    drag: Drag | None = None


def _coupling(k: Coefficients, sw, cw):
    return k.Cy * cw - k.Cx * sw, k.Cy * sw + k.Cx * cw


def _inertia_coupling(k: Coefficients, C):
    return C if k.motors is None or k.motors.R2 is None else C - k.motors.R2


def mass_matrix(w, k: Coefficients):
    """Of the joints' rates at q1 = w, (2, 2) [kg m²]."""
    C = _inertia_coupling(k, _coupling(k, jnp.sin(w), jnp.cos(w))[0])
    both = C + k.J2
    return jnp.array([[k.J1 + C + both, both], [both, k.J2]])


def _driven(m: Motors, va, vw, torque):
    """Torques of the motors, if any, less dry friction, (joint 1, joint 2)."""
    t1, t2 = (0.0, 0.0) if m.R2 is None else torque
    return t1 - m.d1 * jnp.tanh(va / m.epsilon), t2 - m.d2 * jnp.tanh(vw / m.epsilon)


def _solve(k: Coefficients, state, torque, sines):
    """Accelerations (ä, b̈) [rad/s²], given sine and cosine of both angles."""
    _, _, va, vw = state
    (sa, ca), (sw, cw) = sines
    sb, cb = sa * cw + ca * sw, ca * cw - sa * sw
    C, D = _coupling(k, sw, cw)
    vb = va + vw
    viscous = k.f2 * vw
    right_1 = D * vb * vb - (k.G1y * sa + k.G1x * ca) - k.f1 * va + viscous
    right_2 = -D * va * va - (k.G2y * sb + k.G2x * cb) - viscous
    if k.motors is not None:
        t1, t2 = _driven(k.motors, va, vw, torque)
        right_1, right_2 = right_1 + (t1 - t2), right_2 + t2
    if k.drag is not None:
        speed, along_a, along_b = _drag_of_second(k.drag, va, vb, cw)
        each = k.drag.c2 * speed
        right_1 = right_1 - k.drag.c1 * va * jnp.abs(va) - each * k.drag.reach * along_a
        right_2 = right_2 - each * along_b
    C = _inertia_coupling(k, C)
    # Division, and not a shared reciprocal: XLA computes a quotient once and a product per user.
    determinant = k.J1 * k.J2 - C * C
    return (
        (k.J2 * right_1 - C * right_2) / determinant,
        (k.J1 * right_2 - C * right_1) / determinant,
    )


def plain_accelerations(state, torque, k: Coefficients):
    """``accelerations`` without the written-out adjoint: for forward mode, and as its oracle."""
    sines = sincos(state[0]), sincos(state[1])
    acceleration_a, acceleration_b = _solve(k, state, torque, sines)
    return acceleration_a, acceleration_b - acceleration_a


@jax.custom_vjp
def accelerations(state, torque, k: Coefficients):
    """Joint accelerations (q̈0, q̈1) [rad/s²].

    Args:
        state: (q0, q1 [rad], dq0, dq1 [rad/s]), scalars.
        torque: of the motors [N m]; () without.
        k: coefficients, scalars.
    """
    acceleration_a, acceleration_b = _both(state, torque, k)
    return acceleration_a, acceleration_b - acceleration_a


@once
def _both(state, torque, k: Coefficients):
    return _solve(k, state, torque, (inlined_sincos(state[0]), inlined_sincos(state[1])))


@once
def _both_of(pairs, state, torque, k: Coefficients):
    return _solve(k, state, torque, [parts(pair) for pair in pairs])


def _accelerations_forward(state, torque, k):
    # Sines and cosines are kept, the angles are not: the adjoint needs no more of them. Kept as
    # pairs they are half as many arrays.
    pairs = [jax.lax.complex(*sincos(angle)) for angle in state[:2]]
    acceleration_a, acceleration_b = _both_of(pairs, state, torque, k)
    both = jax.lax.complex(acceleration_a, acceleration_b)
    return (acceleration_a, acceleration_b - acceleration_a), (state[2:], both, pairs, k)


def _drag_adjoint(drag: Drag, of, nu_1, nu_2):
    """Cotangents of ȧ, ḃ, cos q1 and the drag's numbers under those of the right-hand sides.

    With n = (λ ν1, ν2) the second link gives −c2 N B, where B = n_a (λ ȧ + ḃ cos q1) + n_b (…).
    """
    va, vb, cw = of
    speed, along_a, along_b = _drag_of_second(drag, va, vb, cw)
    carried, speed_a = drag.reach * va, jnp.abs(va)
    nu_a = drag.reach * nu_1
    together = nu_a * along_a + nu_2 * along_b
    share = together / speed
    of_carried = -drag.c2 * (share * along_a + speed * (nu_a + cw * nu_2))
    of_vb = -drag.c2 * (share * along_b + speed * (cw * nu_a + nu_2))
    of_cw = -drag.c2 * (share * carried * vb + speed * (nu_a * vb + nu_2 * carried))
    of_reach = of_carried * va - drag.c2 * speed * along_a * nu_1
    bar_drag = Drag(-nu_1 * va * speed_a, -speed * together, of_reach)
    return drag.reach * of_carried - 2 * drag.c1 * speed_a * nu_1, of_vb, of_cw, bar_drag


def _accelerations_adjoint(residuals, cotangent):
    """Transpose of the linearised accelerations.

    With μ the cotangent of (ä, b̈) and ν = M⁻¹ μ, every derivative of the right-hand side r enters
    as νᵀ ∂r and that of the mass matrix as −νᵀ ∂M q̈.
    """
    (va, vw), both, pairs, k = residuals
    acceleration_a, acceleration_b = parts(both)
    (sa, ca), (sw, cw) = (parts(pair) for pair in pairs)
    bar_a, mu_b = cotangent
    mu_a = bar_a - mu_b
    sb, cb = sa * cw + ca * sw, ca * cw - sa * sw
    coupling, D = _coupling(k, sw, cw)
    vb = va + vw
    C = _inertia_coupling(k, coupling)
    determinant = k.J1 * k.J2 - C * C
    nu_1 = (k.J2 * mu_a - C * mu_b) / determinant
    nu_2 = (k.J1 * mu_b - C * mu_a) / determinant

    bar_C = -(nu_1 * acceleration_b + nu_2 * acceleration_a)
    bar_D = nu_1 * vb * vb - nu_2 * va * va
    gravity_2 = nu_2 * (k.G2y * cb - k.G2x * sb)
    centrifugal = 2 * D * vb * nu_1
    relative = nu_1 - nu_2
    bar_va = centrifugal - nu_1 * k.f1 - 2 * D * va * nu_2
    bar_vw = centrifugal + relative * k.f2
    bar_motors: Motors | None = None
    bar_torque: tuple = ()
    if k.motors is not None:
        m = k.motors
        share_1, share_2 = jnp.tanh(va / m.epsilon), jnp.tanh(vw / m.epsilon)
        slope_1 = m.d1 * (1 - share_1 * share_1) / m.epsilon
        slope_2 = m.d2 * (1 - share_2 * share_2) / m.epsilon
        bar_va = bar_va - nu_1 * slope_1
        bar_vw = bar_vw + relative * slope_2
        bar_torque = () if m.R2 is None else (nu_1, -relative)
        bar_epsilon = (nu_1 * slope_1 * va - relative * slope_2 * vw) / m.epsilon
        bar_R2 = None if m.R2 is None else -bar_C
        bar_motors = Motors(bar_R2, -nu_1 * share_1, relative * share_2, bar_epsilon)
    bar_drag: Drag | None = None
    bar_w = -gravity_2 - bar_C * D + bar_D * coupling
    if k.drag is not None:
        of_va, of_vb, of_cw, bar_drag = _drag_adjoint(k.drag, (va, vb, cw), nu_1, nu_2)
        bar_va = bar_va + of_va + of_vb
        bar_vw = bar_vw + of_vb
        bar_w = bar_w - of_cw * sw
    bar_state = (
        -nu_1 * (k.G1y * ca - k.G1x * sa) - gravity_2,
        bar_w,
        bar_va,
        bar_vw,
    )
    bar_k = Coefficients(
        J1=-nu_1 * acceleration_a,
        J2=-nu_2 * acceleration_b,
        Cy=bar_C * cw + bar_D * sw,
        Cx=bar_D * cw - bar_C * sw,
        G1y=-nu_1 * sa,
        G1x=-nu_1 * ca,
        G2y=-nu_2 * sb,
        G2x=-nu_2 * cb,
        f1=-nu_1 * va,
        f2=relative * vw,
        motors=bar_motors,
        drag=bar_drag,
    )
    return bar_state, bar_torque, bar_k


accelerations.defvjp(_accelerations_forward, _accelerations_adjoint)


def energy(state, k: Coefficients):
    """Total mechanical energy [J] without motors, zero for both links level and at rest."""
    a, w, va, vw = state
    (sa, ca), (sw, cw) = sincos(a), sincos(w)
    sb, cb = sa * cw + ca * sw, ca * cw - sa * sw
    C, _ = _coupling(k, sw, cw)
    vb = va + vw
    kinetic = 0.5 * k.J1 * va * va + 0.5 * k.J2 * vb * vb + C * va * vb
    return kinetic - (k.G1y * ca - k.G1x * sa) - (k.G2y * cb - k.G2x * sb)
