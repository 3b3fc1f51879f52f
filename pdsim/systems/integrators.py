"""One step of systems in continuous time, ẋ = f(x, u, t); the input u is held during the step."""

import jax


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

    def rates(share, slope):
        moved = jax.tree.map(lambda x, k: x + share * dt * k, state, slope)
        return system.derivative(moved, input, time + share * dt, prepared)

    k1 = system.derivative(state, input, time, prepared)
    k2 = rates(0.5, k1)
    k3 = rates(0.5, k2)
    k4 = rates(1.0, k3)
    return jax.tree.map(
        lambda x, a, b, c, d: x + dt / 6 * (a + 2 * (b + c) + d), state, k1, k2, k3, k4
    )


INTEGRATORS = {"semi_implicit_euler": semi_implicit_euler, "rk4": rk4}
