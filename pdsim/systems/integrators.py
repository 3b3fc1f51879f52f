"""One step of systems in continuous time, ẋ = f(x, u, t); the input u is held during the step."""

import jax
import jax.numpy as jnp


def semi_implicit_euler(system, state, input, time, prepared, dt):
    """Semi-implicit (symplectic) Euler, first order (Eq. 12).

        v' = v + dt · a(q, v, u, t)        q' = q + dt · v'

    For states (q, v) of positions and their rates.
    """
    half = len(state) // 2
    rates = system.derivative(state, input, time, prepared)[half:]
    velocities = tuple(v + dt * a for v, a in zip(state[half:], rates, strict=True))
    positions = tuple(q + dt * v for q, v in zip(state[:half], velocities, strict=True))
    return positions + velocities


def rk4(system, state, input, time, prepared, dt):
    """The classical Runge–Kutta method, fourth order, four evaluations (Kutta, 1901).

    k1 = f(x, t)                       k2 = f(x + dt/2 · k1, t + dt/2)
    k3 = f(x + dt/2 · k2, t + dt/2)    k4 = f(x + dt · k3, t + dt)
    x' = x + dt/6 · (k1 + 2 k2 + 2 k3 + k4)
    """

    # As a loop, the rates and their derivatives are compiled once and not four times; in a plain
    # roll-out it takes twice the time.
    def stage(carry, shares):
        slope, mean = carry
        ahead, weight = shares
        moved = jax.tree.map(lambda x, k: x + ahead * dt * k, state, slope)
        slope = system.derivative(moved, input, time + ahead * dt, prepared)
        mean = jax.tree.map(lambda m, k: m + weight * k, mean, slope)
        return (slope, mean), None

    nothing = jax.tree.map(jnp.zeros_like, state)
    dtype = jnp.result_type(*jax.tree.leaves(state))
    ahead = jnp.array([0.0, 0.5, 0.5, 1.0], dtype)
    weights = jnp.array([1 / 6, 1 / 3, 1 / 3, 1 / 6], dtype)
    (_, mean), _ = jax.lax.scan(
        stage, (nothing, nothing), (ahead, weights), unroll=not system.looped
    )
    return jax.tree.map(lambda x, m: x + dt * m, state, mean)


def implicit_damping(system, state, input, time, prepared, dt):
    """Semi-implicit Euler with the friction of the step's end, first order.

        M v' + dt φ(v') = M v + dt (τ(q, v) − c(q, v))        q' = q + dt · v'

    φ is all friction, the dry part included. Stays stable where friction is stiff, and joints that
    come to rest do so whatever the step; of systems that have a mass matrix.
    """
    return system.damped_step(state, input, time, prepared, dt)


def leapfrog(system, state, input, time, prepared, dt):
    """Forces half-way, between two halves of the motion; friction is that of the step's end.

        q½ = q + dt/2 · v
        M v' + dt φ(v') = M v + dt (τ(q½, v) − c(q½, v))        q' = q½ + dt/2 · v'

    Of the cost of ``implicit_damping``, and of second order where forces do not depend on the
    velocity: a load does not lag behind the torque that a frame holds on average.
    """
    return system.damped_step(state, input, time, prepared, dt, halves=True)


# Those that need a step of the system's own, ``damped_step``.
DAMPED = ("implicit_damping", "leapfrog")
# How often a step evaluates the motion, where more than once.
EVALUATIONS = {"rk4": 4}
INTEGRATORS = {
    "semi_implicit_euler": semi_implicit_euler,
    "rk4": rk4,
    "implicit_damping": implicit_damping,
    "leapfrog": leapfrog,
}
