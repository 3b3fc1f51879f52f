"""The planar double pendulum: two rigid links, two hinges, viscous friction.

Conventions. ``q0`` is the absolute angle a of link 1 (0 = hanging), ``q1`` the angle of link 2
relative to link 1, so b = q0 + q1 is the absolute angle of link 2. Each link carries a frame at
its proximal joint, y along the link (down when it hangs) and x across it (a quarter turn ahead,
in the direction of growing angle). A centre of mass (x, y) then stands at x·e_x + y·e_y with
e_y(a) = (sin a, −cos a) and e_x(a) = (cos a, sin a) in horizontal and upward coordinates.

With ȧ, ḃ the absolute rates, l the distance between the joints and

    J1 = I1 + m1 |c1|² + m2 l²        J2 = I2 + m2 |c2|²
    C(q1) =  m2 l (y2 cos q1 − x2 sin q1)
    D(q1) = −dC/dq1 = m2 l (y2 sin q1 + x2 cos q1)

the kinetic energy is ½ J1 ȧ² + ½ J2 ḃ² + C ȧ ḃ, the potential energy
−(G1y cos a − G1x sin a) − (G2y cos b − G2x sin b), and Euler–Lagrange gives

    J1 ä + C b̈ =  D ḃ² − (G1y sin a + G1x cos a) − f1 ȧ + f2 q̇1
    C ä + J2 b̈ = −D ȧ² − (G2y sin b + G2x cos b) − f2 q̇1

with G1y = g (m1 y1 + m2 l), G1x = g m1 x1, G2y = g m2 y2, G2x = g m2 x2. Free motion determines
these coefficients up to one common factor only.

The step is semi-implicit Euler (Eq. 12). Its adjoint is written out below: reverse-mode
differentiation of the same lines stores and recomputes several times as many numbers.
"""

from typing import NamedTuple

import jax

from pdsim.rigid_body.sincos import sincos
from pdsim.systems.system import Channel, System, SystemParameter


class Coefficients(NamedTuple):
    """The numbers the motion depends on; each scalar or of the batch shape."""

    J1: jax.Array  # [kg m²]
    J2: jax.Array  # [kg m²]
    Cy: jax.Array  # m2 l y2 [kg m²]
    Cx: jax.Array  # m2 l x2 [kg m²]
    G1y: jax.Array  # [N m]
    G1x: jax.Array  # [N m]
    G2y: jax.Array  # [N m]
    G2x: jax.Array  # [N m]
    f1: jax.Array  # [N m s]
    f2: jax.Array  # [N m s]


def coefficients(parameters) -> Coefficients:
    """Combine the model's parameters (by name, SI units, any batch shape)."""
    m1, m2 = parameters["mass_1"], parameters["mass_2"]
    x1, y1 = parameters["com_x_1"], parameters["com_y_1"]
    x2, y2 = parameters["com_x_2"], parameters["com_y_2"]
    length, gravity = parameters["length"], parameters["gravity"]
    return Coefficients(
        J1=parameters["inertia_1"] + m1 * (x1 * x1 + y1 * y1) + m2 * length * length,
        J2=parameters["inertia_2"] + m2 * (x2 * x2 + y2 * y2),
        Cy=m2 * length * y2,
        Cx=m2 * length * x2,
        G1y=gravity * (m1 * y1 + m2 * length),
        G1x=gravity * m1 * x1,
        G2y=gravity * m2 * y2,
        G2x=gravity * m2 * x2,
        f1=parameters["friction_1"],
        f2=parameters["friction_2"],
    )


def _coupling(k: Coefficients, sw, cw):
    return k.Cy * cw - k.Cx * sw, k.Cy * sw + k.Cx * cw


def _accelerations(k: Coefficients, va, vw, trig):
    """Absolute accelerations (ä, b̈) [rad/s²]."""
    sa, ca, sw, cw = trig
    sb, cb = sa * cw + ca * sw, ca * cw - sa * sw
    C, D = _coupling(k, sw, cw)
    vb = va + vw
    torque = k.f2 * vw
    right_1 = D * vb * vb - (k.G1y * sa + k.G1x * ca) - k.f1 * va + torque
    right_2 = -D * va * va - (k.G2y * sb + k.G2x * cb) - torque
    # Division, and not a shared reciprocal: XLA computes a quotient once and a product per user.
    determinant = k.J1 * k.J2 - C * C
    return (
        (k.J2 * right_1 - C * right_2) / determinant,
        (k.J1 * right_2 - C * right_1) / determinant,
    )


def _advance(state, k, dt):
    a, w, va, vw = state
    trig = (*sincos(a), *sincos(w))
    acceleration_a, acceleration_b = _accelerations(k, va, vw, trig)
    va = va + dt * acceleration_a
    vw = vw + dt * (acceleration_b - acceleration_a)
    return (a + dt * va, w + dt * vw, va, vw), trig


def tangent_step(state, k: Coefficients, dt):
    """``step`` without the written-out adjoint: for forward-mode derivatives and as its oracle."""
    return _advance(state, k, dt)[0]


@jax.custom_vjp
def step(state, k: Coefficients, dt):
    """One step of semi-implicit Euler (Eq. 12).

    Args:
        state: (q0, q1 [rad], dq0, dq1 [rad/s]).
        k: coefficients of the same batch shape, or scalars.
        dt: time step [s].

    Returns:
        The state ``dt`` later. Differentiable in reverse mode in ``state`` and ``k``.
    """
    return tangent_step(state, k, dt)


def _step_forward(state, k, dt):
    # Sines and cosines are kept, the angles are not: the adjoint needs no more of them.
    after, trig = _advance(state, k, dt)
    return after, (state[2:], after[2:], trig, k, dt)


def _step_adjoint(residuals, cotangent):
    """Transpose of the linearised step.

    With μ the cotangent of the new rates and ν = M⁻¹ (dt μ), every derivative of the right-hand
    side r enters as νᵀ ∂r and that of the mass matrix as −νᵀ ∂M q̈.
    """
    (va, vw), (va_after, vw_after), (sa, ca, sw, cw), k, dt = residuals
    bar_a, bar_w, bar_va, bar_vw = cotangent
    sb, cb = sa * cw + ca * sw, ca * cw - sa * sw
    C, D = _coupling(k, sw, cw)
    vb = va + vw
    acceleration_a = (va_after - va) / dt
    acceleration_b = acceleration_a + (vw_after - vw) / dt

    mu_a = bar_va + dt * bar_a
    mu_w = bar_vw + dt * bar_w
    determinant = k.J1 * k.J2 - C * C
    nu_1 = (k.J2 * (dt * (mu_a - mu_w)) - C * (dt * mu_w)) / determinant
    nu_2 = (k.J1 * (dt * mu_w) - C * (dt * (mu_a - mu_w))) / determinant

    bar_C = -(nu_1 * acceleration_b + nu_2 * acceleration_a)
    bar_D = nu_1 * vb * vb - nu_2 * va * va
    gravity_2 = nu_2 * (k.G2y * cb - k.G2x * sb)
    centrifugal = 2 * D * vb * nu_1
    bar_state = (
        bar_a - nu_1 * (k.G1y * ca - k.G1x * sa) - gravity_2,
        bar_w - gravity_2 - bar_C * D + bar_D * C,
        mu_a + centrifugal - nu_1 * k.f1 - 2 * D * va * nu_2,
        mu_w + centrifugal + (nu_1 - nu_2) * k.f2,
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
        f2=(nu_1 - nu_2) * vw,
    )
    return bar_state, bar_k, None


step.defvjp(_step_forward, _step_adjoint)


def observe(state):
    """The state itself is what the camera's angles and their differences show."""
    return state


def energy(state, k: Coefficients):
    """Total mechanical energy [J], zero for both links level and at rest."""
    a, w, va, vw = state
    (sa, ca), (sw, cw) = sincos(a), sincos(w)
    sb, cb = sa * cw + ca * sw, ca * cw - sa * sw
    C, _ = _coupling(k, sw, cw)
    vb = va + vw
    kinetic = 0.5 * k.J1 * va * va + 0.5 * k.J2 * vb * vb + C * va * vb
    return kinetic - (k.G1y * ca - k.G1x * sa) - (k.G2y * cb - k.G2x * sb)


def _link(i: int) -> dict[str, SystemParameter]:
    return {
        f"mass_{i}": SystemParameter("kg", 0.1, f"mass of link {i}", f"$m_{i}$"),
        f"inertia_{i}": SystemParameter(
            "kg m^2", 1e-4, f"inertia of link {i} about its centre of mass", f"$I_{i}$"
        ),
        f"com_x_{i}": SystemParameter(
            "m", 0.0, f"centre of mass of link {i}, across the link", f"$x_{i}$"
        ),
        f"com_y_{i}": SystemParameter(
            "m", 0.05, f"centre of mass of link {i}, along the link", f"$y_{i}$"
        ),
        f"friction_{i}": SystemParameter(
            "N m s", 0.0, f"viscous friction of joint {i}", f"$f_{i}$"
        ),
    }


SYSTEM = System(
    name="double_pendulum",
    state=("q0", "q1", "dq0", "dq1"),
    channels=(
        Channel("q0", "rad", "position", "$q_0$"),
        Channel("q1", "rad", "position", "$q_1$"),
        Channel("dq0", "rad/s", "velocity", r"$\dot q_0$"),
        Channel("dq1", "rad/s", "velocity", r"$\dot q_1$"),
    ),
    parameters={
        **_link(1),
        "length": SystemParameter("m", 0.1, "distance between the joints", "$l$"),
        **_link(2),
        "gravity": SystemParameter("m/s^2", 9.81, "gravitational acceleration", "$g$"),
    },
    coefficients=coefficients,
    step=step,
    tangent_step=tangent_step,
    observe=observe,
    energy=energy,
)
