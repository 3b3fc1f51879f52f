"""The numbers of a model as arrays over links and degrees of freedom, made once for each roll-out.

What no estimator moves stays constant: it is part of the compiled program, and where it is the same
for all links (an axis along z, no offset) it costs nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.model import AXES, INERTIA, JOINT_SIZES, Joint, Model
from pdsim.rigid_body.tree import tree_of
from pdsim.rigid_body.vectors import (
    IDENTITY,
    ZERO,
    Vector,
    dot,
    from_quaternion,
    from_rotation_vector,
    known,
    multiply,
    root,
    scale,
)

_ROTATION = tuple(f"{a}{b}" for a in AXES for b in AXES)


@jax.tree_util.register_pytree_node_class
class Links(Mapping[str, Any]):
    """Arrays by name: traced ones are its leaves, constants (a float or a tuple) are not."""

    def __init__(self, values: Mapping[str, Any]):
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def tree_flatten(self):
        leaves = {k: v for k, v in self._values.items() if not isinstance(v, (float, tuple))}
        constants = tuple((k, v) for k, v in self._values.items() if k not in leaves)
        return tuple(leaves.values()), (tuple(leaves), constants)

    @classmethod
    def tree_unflatten(cls, auxiliary, leaves):
        names, constants = auxiliary
        return cls(dict(constants) | dict(zip(names, leaves, strict=True)))

    def cast(self, dtype) -> "Links":
        """The same with constant arrays of that type."""
        return Links(
            {k: np.array(v, dtype) if isinstance(v, tuple) else v for k, v in self.items()}
        )

    def vector(self, prefix: str) -> Vector:
        """Three arrays."""
        x, y, z = (self[f"{prefix}/{axis}"] for axis in AXES)
        return x, y, z

    def rotation(self, prefix: str):
        """Nine arrays, by rows."""
        entries = [self[f"{prefix}/{entry}"] for entry in _ROTATION]
        return tuple(entries[0:3]), tuple(entries[3:6]), tuple(entries[6:9])


def _gathered(column: Sequence[Any]) -> Any:
    """A float, a tuple or a traced array of one entry a link."""
    if known(*column):
        values = tuple(float(x) for x in column)
        return values[0] if len(set(values)) == 1 else values
    return jnp.stack([jnp.asarray(x) for x in column])


def unit(axis: Vector) -> Vector:
    """The axis at length 1."""
    length = root(dot(axis, axis))
    # The model's file gives units; do not spoil their zeros and ones.
    if known(length) and abs(length - 1) < 1e-12:
        return axis
    return scale(1 / length, axis)


def links_of(model: Model, numbers: Mapping[str, Any]) -> Links:
    """Arrange the numbers of a model.

    Args:
        numbers: every one of the model's by name, scalars; Python floats are constants.
    """
    tree = tree_of(model)
    columns: dict[str, list[Any]] = {}

    def put(prefix: str, entries: Sequence[str], values: Sequence[Any]) -> None:
        for entry, value in zip(entries, values, strict=True):
            columns.setdefault(f"{prefix}/{entry}", []).append(value)

    for link in tree.links:
        body = model.bodies[link.body]
        prefix = f"body/{body.name}"
        turn, position = IDENTITY, ZERO
        if link.first:
            turned = from_rotation_vector(_vector(numbers, f"{prefix}/turn"))
            turn = multiply(from_quaternion(body.orientation), turned)
            position = _vector(numbers, f"{prefix}/pos")
        put("rotation", _ROTATION, [entry for row in turn for entry in row])
        put("position", AXES, position)
        joint = model.joints[link.joint] if link.joint >= 0 else None
        put("anchor", AXES, _anchor(numbers, joint))
        put("axis", AXES, _axis(numbers, joint))
        shift = numbers[f"joint/{joint.name}/offset"] if joint and joint.scalar else 0.0
        put("link", ("offset",), [shift])
        carries = link.last
        put("com", AXES, _vector(numbers, f"{prefix}/com") if carries else ZERO)
        put("link", ("mass",), [numbers[f"{prefix}/mass"] if carries else 0.0])
        values = [numbers[f"{prefix}/inertia/{e}"] for e in INERTIA] if carries else [0.0] * 6
        put("inertia", INERTIA, values)
    for joint in model.joints:
        name = f"joint/{joint.name}"
        for _ in range(JOINT_SIZES[joint.kind][1]):
            for entry in ("armature", "damping", "friction"):
                put("velocity", (entry,), [numbers[f"{name}/{entry}"]])
            for entry in ("stiffness", "rest", "lower", "upper"):
                put("velocity", (entry,), [numbers[f"{name}/{entry}"] if joint.scalar else 0.0])
    found = {name: _gathered(column) for name, column in columns.items()}
    found |= {name: value for name, value in numbers.items() if name.startswith("option/")}
    return Links(found)


def _vector(numbers: Mapping[str, Any], prefix: str) -> Vector:
    x, y, z = (numbers[f"{prefix}/{axis}"] for axis in AXES)
    return x, y, z


def _anchor(numbers: Mapping[str, Any], joint: Joint | None) -> Vector:
    if joint is None or joint.kind == "free":
        return ZERO
    return _vector(numbers, f"joint/{joint.name}/pos")


def _axis(numbers: Mapping[str, Any], joint: Joint | None) -> Vector:
    # Where there is none, any will do: the most frequent in robots.
    if joint is None or not joint.scalar:
        return (0.0, 0.0, 1.0)
    return unit(_vector(numbers, f"joint/{joint.name}/axis"))
