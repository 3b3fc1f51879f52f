"""Vectors and matrices of three as tuples of arrays; what is known at tracing costs nothing.

A robot's model is full of zeros: axes along z, offsets along x. Python numbers are combined while a
program is traced, and products with 0 and 1 leave nothing behind. All else is arrays of one entry
for each link or degree of freedom, treated alike.
"""

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

Scalar = Any
Vector = tuple[Scalar, Scalar, Scalar]
# By rows.
Matrix = tuple[Vector, Vector, Vector]

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def known(*scalars: Scalar) -> bool:
    """Whether all scalars are Python numbers."""
    return all(isinstance(x, (float, int)) for x in scalars)


def plus(*terms: Scalar) -> Scalar:
    """Sum of scalars; known zeros are left out."""
    total: Scalar = 0.0
    for term in terms:
        if known(total) and total == 0.0:
            total = term
        elif not (known(term) and term == 0.0):
            total = total + term
    return total


def times(a: Scalar, b: Scalar) -> Scalar:
    """Product of scalars; known zeros and ones cost nothing."""
    for x, y in ((a, b), (b, a)):
        if known(x):
            if x == 0.0:
                return 0.0
            if x == 1.0:
                return y
            if x == -1.0:
                return -y
    return a * b


def minus(a: Scalar, b: Scalar) -> Scalar:
    """Difference of scalars."""
    return plus(a, times(-1.0, b))


def add(*vectors: Vector) -> Vector:
    """Sum of vectors."""
    x, y, z = (plus(*entries) for entries in zip(*vectors, strict=True))
    return x, y, z


def subtract(a: Vector, b: Vector) -> Vector:
    """Difference of vectors."""
    return minus(a[0], b[0]), minus(a[1], b[1]), minus(a[2], b[2])


def scale(factor: Scalar, vector: Vector) -> Vector:
    """Multiple of a vector."""
    return times(factor, vector[0]), times(factor, vector[1]), times(factor, vector[2])


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Inner product."""
    return plus(*(times(x, y) for x, y in zip(a, b, strict=True)))


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return (
        minus(times(a[1], b[2]), times(a[2], b[1])),
        minus(times(a[2], b[0]), times(a[0], b[2])),
        minus(times(a[0], b[1]), times(a[1], b[0])),
    )


def apply(matrix: Matrix, vector: Vector) -> Vector:
    """Matrix times vector."""
    return dot(matrix[0], vector), dot(matrix[1], vector), dot(matrix[2], vector)


def transpose(matrix: Matrix) -> Matrix:
    """Rows for columns."""
    return tuple(zip(*matrix, strict=True))  # type: ignore[return-value]


def multiply(a: Matrix, b: Matrix) -> Matrix:
    """Matrix times matrix."""
    columns = transpose(b)
    return tuple(tuple(dot(row, column) for column in columns) for row in a)  # type: ignore[return-value]


def root(x: Scalar) -> Scalar:
    """Square root."""
    return math.sqrt(x) if known(x) else jnp.sqrt(x)


def turn_about(axis: Vector, sine: Scalar, cosine: Scalar) -> Matrix:
    """Rotation about a unit axis k (Rodrigues): c 1 + s [k]× + (1 − c) k kᵀ."""
    x, y, z = axis
    rest = minus(1.0, cosine)

    def entry(a, b):
        return times(times(a, b), rest)

    def turned(a):
        # An axis along a coordinate leaves it alone exactly.
        return 1.0 if known(a) and abs(a) == 1.0 else plus(cosine, entry(a, a))

    sx, sy, sz = times(sine, x), times(sine, y), times(sine, z)
    return (
        (turned(x), minus(entry(x, y), sz), plus(entry(x, z), sy)),
        (plus(entry(x, y), sz), turned(y), minus(entry(y, z), sx)),
        (minus(entry(x, z), sy), plus(entry(y, z), sx), turned(z)),
    )


def from_rotation_vector(vector: Vector) -> Matrix:
    """Rotation by |v| about v/|v|."""
    if known(*vector):
        angle = math.sqrt(sum(x * x for x in vector))
        if angle == 0.0:
            return IDENTITY
        axis = tuple(x / angle for x in vector)
        return turn_about(axis, math.sin(angle), math.cos(angle))
    # Rodrigues' formula in v itself, whose factors sin|v|/|v| and (1 − cos|v|)/|v|² are smooth in
    # |v|², so that there is a derivative at 0 too.
    square = dot(vector, vector)
    small = square < 1e-8
    safe = jnp.where(small, 1.0, square)
    length = jnp.sqrt(safe)
    first = jnp.where(small, 1.0 - square / 6.0, jnp.sin(length) / length)
    second = jnp.where(small, 0.5 - square / 24.0, (1.0 - jnp.cos(length)) / safe)
    x, y, z = vector
    cosine = 1.0 - second * square
    sx, sy, sz = first * x, first * y, first * z

    def entry(a, b):
        return second * a * b

    return (
        (cosine + entry(x, x), entry(x, y) - sz, entry(x, z) + sy),
        (entry(x, y) + sz, cosine + entry(y, y), entry(y, z) - sx),
        (entry(x, z) - sy, entry(y, z) + sx, cosine + entry(z, z)),
    )


def from_quaternion(quaternion: Sequence[Scalar]) -> Matrix:
    """Rotation of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion

    def twice(*terms):
        return times(2.0, plus(*terms))

    def product(a, b, sign=1.0):
        return times(sign, times(a, b))

    return (
        (
            minus(1.0, twice(product(y, y), product(z, z))),
            twice(product(x, y), product(w, z, -1.0)),
            twice(product(x, z), product(w, y)),
        ),
        (
            twice(product(x, y), product(w, z)),
            minus(1.0, twice(product(x, x), product(z, z))),
            twice(product(y, z), product(w, x, -1.0)),
        ),
        (
            twice(product(x, z), product(w, y, -1.0)),
            twice(product(y, z), product(w, x)),
            minus(1.0, twice(product(x, x), product(y, y))),
        ),
    )
