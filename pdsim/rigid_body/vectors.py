"""Vectors (3, n) and matrices (3, 3, n) of all links, or degrees of freedom, at once.

Each operation is one of whole arrays, since XLA's compiler for CPUs starts a kernel for each, and a
step of a few dozen particles takes as long as its kernels are many. Products sum over an axis, and
do not add up slices: the transpose of a slice is an array full of zeros.

The compiler repeats cheap arithmetic in every kernel that uses its result, which multiplies along a
chain of products. What is put together of several arrays (``jnp.stack``, ``jnp.concatenate``) it
computes once.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

Vector = Any
# Rows first.
Matrix = Any

IDENTITY = np.eye(3)[:, :, None]


def known(*scalars: Any) -> bool:
    """Whether all scalars are Python's or NumPy's numbers, known while a program is traced."""
    return all(isinstance(x, (float, int, np.number, np.bool_, np.ndarray)) for x in scalars)


def is_zero(x: Any) -> bool:
    """Whether something is known to be 0 everywhere."""
    return known(x) and not np.any(x)


def stack(entries) -> Any:
    """Arrays as rows of one, which is a constant if they are."""
    return np.stack(entries) if known(*entries) else jnp.stack([jnp.asarray(x) for x in entries])


def dot(a: Vector, b: Vector) -> Any:
    """Inner product along the first axis."""
    return (a * b).sum(axis=0)


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def apply(matrix: Matrix, vector: Vector) -> Vector:
    """Matrix times vector."""
    return (matrix * vector[None]).sum(axis=1)


def transpose(matrix: Matrix) -> Matrix:
    """Rows for columns."""
    return matrix.swapaxes(0, 1)


def multiply(a: Matrix, b: Matrix) -> Matrix:
    """Matrix times matrix; the second may have any number of columns."""
    return (a[:, :, None] * b[None]).sum(axis=1)


def outer(a: Vector, b: Vector) -> Matrix:
    """Product of a column and a row."""
    return a[:, None] * b[None, :]


def symmetric(entries) -> Matrix:
    """Matrix of (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz, xy, xz, yz = entries
    return stack([stack([xx, xy, xz]), stack([xy, yy, yz]), stack([xz, yz, zz])])


def turn_about(axis: Vector, sine: Any, cosine: Any) -> Matrix:
    """Rotation about a unit axis k (Rodrigues): k kᵀ + c (1 − k kᵀ) + s [k]×."""
    own = outer(axis, axis)
    identity = np.eye(3).reshape(own.shape[:2] + (1,) * (own.ndim - 2))
    return own + cosine * (identity.astype(own.dtype) - own) + sine * _skew(axis)


def _skew(vector) -> Matrix:
    x, y, z = vector
    zero = 0.0 * x
    return stack([stack([zero, -z, y]), stack([z, zero, -x]), stack([-y, x, zero])])


def from_rotation_vector(vector: Vector) -> Matrix:
    """Rotation by |v| about v/|v|, (3, 3)."""
    if known(*vector):
        angle = float(np.sqrt(sum(x * x for x in vector)))
        if angle == 0.0:
            return np.eye(3)
        return turn_about(np.array([x / angle for x in vector]), np.sin(angle), np.cos(angle))
    # Rodrigues' formula in v itself, whose factors sin|v|/|v| and (1 − cos|v|)/|v|² are smooth in
    # |v|², so that there is a derivative at 0 too.
    square = dot(vector, vector)
    small = square < 1e-8
    safe = jnp.where(small, 1.0, square)
    length = jnp.sqrt(safe)
    first = jnp.where(small, 1.0 - square / 6.0, jnp.sin(length) / length)
    second = jnp.where(small, 0.5 - square / 24.0, (1.0 - jnp.cos(length)) / safe)
    v = stack(vector)
    return (1.0 - second * square) * np.eye(3) + second * jnp.outer(v, v) + _skew(list(first * v))


def from_quaternion(quaternion) -> Matrix:
    """Rotation of unit quaternions (w, x, y, z)."""
    w, x, y, z = quaternion
    own = symmetric(
        [
            1.0 - 2.0 * (y * y + z * z),
            1.0 - 2.0 * (x * x + z * z),
            1.0 - 2.0 * (x * x + y * y),
            2.0 * x * y,
            2.0 * x * z,
            2.0 * y * z,
        ]
    )
    return own + _skew([2.0 * w * x, 2.0 * w * y, 2.0 * w * z])
