"""The planar double pendulum: two rigid links, two hinges, friction, and motors if it has some.

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

With ``motors`` a torque τ_i acts in each joint, on the link and back on what holds it. The motor of
joint i adds ½ R_i q̇_i² to the kinetic energy, R_i its rotor's inertia times the square of the
gear's ratio, and dry friction −d_i tanh(q̇_i / ε) to the torque. In the absolute angles

    J1 → J1 + R1 + R2      J2 → J2 + R2      C → C − R2
    right-hand sides: τ1 − τ2 and τ2, with friction of either kind taken off each

With ``parameters: base`` the system's parameters are what its motion determines, in place of
masses, inertias and centres of mass: J1, J2, friction, l and the first moments

    S1x = m1 x1      S1y = m1 y1 + m2 l      S2x = m2 x2      S2y = m2 y2

so that C = l S2 and G = g S. J1 then counts R1, which the motion cannot tell from it; R2 stays a
parameter. Free motion scales: S1y, unless given, is 1 kg m, and J1, J2, S1x, S2x, S2y and friction
are then those over S1y. Links of these values exist if J1 J2 > l² |S2|², since |S2|² ≤ m2 J2 and
m2 l² ≤ J1; elsewhere the mass matrix is not positive at some q1, and every acceleration is NaN.

The adjoint of the accelerations is written out below: reverse-mode differentiation of the same
lines stores and recomputes several times as many numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from pydantic import Field

from pdsim.config.section import Positive, Section
from pdsim.numerics.sincos import sincos
from pdsim.systems.pendulum_links import ridge
from pdsim.systems.system import ContinuousSystem, Quantity, SystemParameter


class Options(Section):
    """Section `simulator.options` of `double_pendulum`."""

    parameters: Literal["links", "base"] = Field(
        "links",
        description="masses, inertias and centres of mass of the links, or what the motion "
        "determines of them: J1, J2 and first moments, over S1y unless `fixed` gives it",
    )
    motors: bool = Field(
        False, description="torques in both joints as inputs, rotor inertia and dry friction"
    )
    friction_velocity: Positive = Field(
        0.1, description="ε, joint rate at which dry friction is 76 % of its full size [rad/s]"
    )


class Motors(NamedTuple):
    """What motors add; scalars.

    Attributes:
        R2: reflected inertia of the second rotor [kg m²]; the first is part of J1.
        d1, d2: dry friction [N m].
        epsilon: ε [rad/s].
    """

    R2: jax.Array
    d1: jax.Array
    d2: jax.Array
    epsilon: jax.Array


class Coefficients(NamedTuple):
    """The numbers the motion depends on; scalars.

    Attributes:
        J1, J2: [kg m²].
        Cy, Cx: m2 l y2 and m2 l x2 [kg m²].
        G1y, G1x, G2y, G2x: [N m].
        f1, f2: viscous friction [N m s].
        motors: None without.
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


def coefficients(parameters, options: Options) -> Coefficients:
    """Combine the model's parameters (by name, SI units)."""
    if options.parameters == "base":
        return _base_coefficients(parameters, options)
    m1, m2 = parameters["mass_1"], parameters["mass_2"]
    x1, y1 = parameters["com_x_1"], parameters["com_y_1"]
    x2, y2 = parameters["com_x_2"], parameters["com_y_2"]
    length, gravity = parameters["length"], parameters["gravity"]
    free = Coefficients(
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
    if not options.motors:
        return free
    R1 = parameters["rotor_inertia_1"]
    return _with_motors(free._replace(J1=free.J1 + R1), parameters, options)


def _with_motors(free: Coefficients, parameters, options: Options) -> Coefficients:
    """Add motors to the coefficients without, whose J1 counts R1 already."""
    R2 = parameters["rotor_inertia_2"]
    d1, d2 = parameters["dry_friction_1"], parameters["dry_friction_2"]
    # Parameters may be whole numbers; ε is none.
    epsilon = jnp.full_like(R2, options.friction_velocity, dtype=jnp.result_type(R2, float))
    return free._replace(J1=free.J1 + R2, J2=free.J2 + R2, motors=Motors(R2, d1, d2, epsilon))


def _base_coefficients(parameters, options: Options) -> Coefficients:
    """``coefficients`` of base parameters; J1 is NaN where no pendulum has them."""
    J1, J2 = parameters["J1"], parameters["J2"]
    S2x, S2y = parameters["S2x"], parameters["S2y"]
    length, gravity = parameters["length"], parameters["gravity"]
    Cx, Cy = length * S2x, length * S2y
    # Both must be positive: the product of two negative ones would be.
    some_pendulum = (J1 > 0) & (J2 > 0) & (Cx * Cx + Cy * Cy < J1 * J2)
    free = Coefficients(
        J1=jnp.where(some_pendulum, J1, jnp.nan),
        J2=J2,
        Cy=Cy,
        Cx=Cx,
        G1y=gravity * parameters["S1y"],
        G1x=gravity * parameters["S1x"],
        G2y=gravity * S2y,
        G2x=gravity * S2x,
        f1=parameters["friction_1"],
        f2=parameters["friction_2"],
    )
    return _with_motors(free, parameters, options) if options.motors else free


def _coupling(k: Coefficients, sw, cw):
    return k.Cy * cw - k.Cx * sw, k.Cy * sw + k.Cx * cw


def _inertia_coupling(k: Coefficients, C):
    return C if k.motors is None else C - k.motors.R2


def _driven(m: Motors, va, vw, torque):
    """Torques of the motors less dry friction, (joint 1, joint 2)."""
    return (
        torque[0] - m.d1 * jnp.tanh(va / m.epsilon),
        torque[1] - m.d2 * jnp.tanh(vw / m.epsilon),
    )


def _solve(k: Coefficients, state, torque):
    """Accelerations (ä, b̈) [rad/s²] and the sines and cosines behind them."""
    a, w, va, vw = state
    (sa, ca), (sw, cw) = trig = (sincos(a), sincos(w))
    sb, cb = sa * cw + ca * sw, ca * cw - sa * sw
    C, D = _coupling(k, sw, cw)
    vb = va + vw
    viscous = k.f2 * vw
    right_1 = D * vb * vb - (k.G1y * sa + k.G1x * ca) - k.f1 * va + viscous
    right_2 = -D * va * va - (k.G2y * sb + k.G2x * cb) - viscous
    if k.motors is not None:
        t1, t2 = _driven(k.motors, va, vw, torque)
        right_1, right_2 = right_1 + (t1 - t2), right_2 + t2
    C = _inertia_coupling(k, C)
    # Division, and not a shared reciprocal: XLA computes a quotient once and a product per user.
    determinant = k.J1 * k.J2 - C * C
    return (
        (k.J2 * right_1 - C * right_2) / determinant,
        (k.J1 * right_2 - C * right_1) / determinant,
    ), trig


def plain_accelerations(state, torque, k: Coefficients):
    """``accelerations`` without the written-out adjoint: for forward mode, and as its oracle."""
    (acceleration_a, acceleration_b), _ = _solve(k, state, torque)
    return acceleration_a, acceleration_b - acceleration_a


@jax.custom_vjp
def accelerations(state, torque, k: Coefficients):
    """Joint accelerations (q̈0, q̈1) [rad/s²].

    Args:
        state: (q0, q1 [rad], dq0, dq1 [rad/s]), scalars.
        torque: of the motors [N m]; () without.
        k: coefficients, scalars.
    """
    return plain_accelerations(state, torque, k)


def _accelerations_forward(state, torque, k):
    # Sines and cosines are kept, the angles are not: the adjoint needs no more of them.
    (acceleration_a, acceleration_b), trig = _solve(k, state, torque)
    shown = acceleration_a, acceleration_b - acceleration_a
    return shown, (state[2:], acceleration_a, acceleration_b, trig, k)


def _accelerations_adjoint(residuals, cotangent):
    """Transpose of the linearised accelerations.

    With μ the cotangent of (ä, b̈) and ν = M⁻¹ μ, every derivative of the right-hand side r enters
    as νᵀ ∂r and that of the mass matrix as −νᵀ ∂M q̈.
    """
    (va, vw), acceleration_a, acceleration_b, ((sa, ca), (sw, cw)), k = residuals
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
        bar_torque = (nu_1, -relative)
        bar_epsilon = (nu_1 * slope_1 * va - relative * slope_2 * vw) / m.epsilon
        bar_motors = Motors(-bar_C, -nu_1 * share_1, relative * share_2, bar_epsilon)
    bar_state = (
        -nu_1 * (k.G1y * ca - k.G1x * sa) - gravity_2,
        -gravity_2 - bar_C * D + bar_D * coupling,
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


def _link(i: int) -> dict[str, SystemParameter]:
    return {
        f"mass_{i}": SystemParameter("kg", 0.1, f"mass of link {i}", f"$m_{i}$", positive=True),
        f"inertia_{i}": SystemParameter(
            "kg m^2",
            1e-4,
            f"inertia of link {i} about its centre of mass",
            f"$I_{i}$",
            positive=True,
        ),
        f"com_x_{i}": SystemParameter(
            "m", 0.0, f"centre of mass of link {i}, across the link", f"$x_{i}$"
        ),
        f"com_y_{i}": SystemParameter(
            "m", 0.05, f"centre of mass of link {i}, along the link", f"$y_{i}$"
        ),
        f"friction_{i}": SystemParameter(
            "N m s", 0.0, f"viscous friction of joint {i}", f"$f_{i}$", positive=True
        ),
    }


def _motor(i: int) -> dict[str, SystemParameter]:
    return {
        f"rotor_inertia_{i}": SystemParameter(
            "kg m^2",
            0.0,
            f"inertia of rotor {i} times the square of its gear's ratio",
            f"$R_{i}$",
            positive=True,
        ),
        f"dry_friction_{i}": SystemParameter(
            "N m", 0.0, f"dry friction of joint {i}", f"$d_{i}$", positive=True
        ),
    }


_FRAME = {
    "length": SystemParameter("m", 0.1, "distance between the joints", "$l$", positive=True),
    "gravity": SystemParameter("m/s^2", 9.81, "gravitational acceleration", "$g$"),
}
_FREE = {**_link(1), "length": _FRAME["length"], **_link(2), "gravity": _FRAME["gravity"]}


def _base_link(i: int, J: float, S: float, of: str) -> dict[str, SystemParameter]:
    return {
        f"J{i}": SystemParameter(
            "kg m^2", J, f"inertia of {of} about joint {i}", f"$J_{i}$", positive=True
        ),
        f"S{i}x": SystemParameter(
            "kg m", 0.0, f"first moment of {of}, across link {i}", f"$S_{{{i}x}}$"
        ),
        f"S{i}y": SystemParameter(
            "kg m", S, f"first moment of {of}, along link {i}", f"$S_{{{i}y}}$"
        ),
        f"friction_{i}": _link(i)[f"friction_{i}"],
    }


# Those of links at their defaults, over S1y.
_BASE = {
    **_base_link(1, 0.09, 1.0, "link 1 with the mass of link 2 in joint 2"),
    "length": _FRAME["length"],
    **_base_link(2, 0.07 / 3, 1 / 3, "link 2"),
    "gravity": _FRAME["gravity"],
}


@dataclass(frozen=True)
class DoublePendulum(ContinuousSystem):
    """The model at the head of this file; all four state variables are observed.

    Attributes:
        options: of the config.
        written_adjoint: whether derivatives are those of reverse mode, written out.
    """

    name: ClassVar[str] = "double_pendulum"
    second_order: ClassVar[bool] = True
    options: Options = field(default_factory=Options)
    written_adjoint: bool = True

    @property
    def state(self) -> tuple[Quantity, ...]:
        return (
            Quantity("q0", "rad", "angle"),
            Quantity("q1", "rad", "angle"),
            Quantity("dq0", "rad/s", "velocity"),
            Quantity("dq1", "rad/s", "velocity"),
        )

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        names = ("torque_1", "torque_2") if self.options.motors else ()
        return tuple(Quantity(name, "N m", "torque") for name in names)

    @property
    def parameters(self) -> Mapping[str, SystemParameter]:
        base = self.options.parameters == "base"
        free = _BASE if base else _FREE
        if not self.options.motors:
            return free
        motors = _motor(1) | _motor(2)
        if base:
            del motors["rotor_inertia_1"]
        return free | motors

    def prepare(self, parameters) -> Coefficients:
        return coefficients(parameters, self.options)

    def derivative(self, state, input, time, prepared):
        del time
        form = accelerations if self.written_adjoint else plain_accelerations
        return (*state[2:], *form(state, input, prepared))

    def single(self):
        if self.options.parameters != "base":
            return None
        links = self.options.model_copy(update={"parameters": "links"})
        return replace(self, options=links), ridge(self.options.motors)

    def combinations(self, parameters):
        """The coefficients; without motors over G1, since free motion has no scale of mass."""
        k = self.prepare(parameters)
        G1, G2, C = jnp.hypot(k.G1y, k.G1x), jnp.hypot(k.G2y, k.G2x), jnp.hypot(k.Cy, k.Cx)
        if k.motors is None:
            return {
                "J1_over_G1": (k.J1 / G1, "s^2"),
                "J2_over_G1": (k.J2 / G1, "s^2"),
                "C_over_G1": (C / G1, "s^2"),
                "G2_over_G1": (G2 / G1, "-"),
                "f1_over_G1": (k.f1 / G1, "s"),
                "f2_over_G1": (k.f2 / G1, "s"),
            }
        return {
            "J1": (k.J1, "kg m^2"),
            "J2": (k.J2, "kg m^2"),
            "C": (C, "kg m^2"),
            "R2": (k.motors.R2, "kg m^2"),
            "G1": (G1, "N m"),
            "G2": (G2, "N m"),
            "f1": (k.f1, "N m s"),
            "f2": (k.f2, "N m s"),
            "d1": (k.motors.d1, "N m"),
            "d2": (k.motors.d2, "N m"),
        }

    def forward_mode(self) -> "DoublePendulum":
        return replace(super().forward_mode(), written_adjoint=False)


def build(options: Options) -> DoublePendulum:
    """Return the system."""
    return DoublePendulum(options=options)
