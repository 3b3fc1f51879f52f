"""The numbers of a model as arrays over links and degrees of freedom, made once for each roll-out.

What no estimator moves stays constant: it is part of the compiled program.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pdsim.rigid_body.model import AXES, INERTIA, JOINT_SIZES, Joint, Model
from pdsim.rigid_body.tree import tree_of
from pdsim.rigid_body.vectors import (
    Vector,
    dot,
    from_quaternion,
    from_rotation_vector,
    known,
    stack,
    symmetric,
)

# Numbers of a joint that each of its degrees of freedom has.
_OF_FREEDOM = ("armature", "damping", "friction", "friction_velocity")


@jax.tree_util.register_pytree_node_class
class Links(Mapping[str, Any]):
    """Arrays by name: traced ones are its leaves, constants (a float or a tuple) are not.

    Of links ``rotation`` (3, 3, L), ``position``, ``anchor``, ``axis``, ``com`` (3, L), ``inertia``
    (3, 3, L), ``mass`` and ``offset`` (L,), of degrees of freedom ``velocity/…`` (V,); an array of
    equal constants is a float. Other numbers are scalars, by their names in the model.
    """

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
        """Three scalars as (3,)."""
        return stack([self[f"{prefix}/{axis}"] for axis in AXES])


def _gathered(column: Sequence[Any], dtype) -> Any:
    """A nested tuple or a traced array of that type with what there is of each link behind."""
    if not known(*column):
        return jnp.stack([jnp.asarray(x, dtype) for x in column], axis=-1)
    return _nested(np.stack(column, axis=-1).astype(float).tolist())


def _nested(values: Any) -> Any:
    return tuple(_nested(x) for x in values) if isinstance(values, list) else values


def _equal(values: Any) -> Any:
    """A float for a tuple of equal floats."""
    plain = isinstance(values, tuple) and isinstance(values[0], float)
    return values[0] if plain and len(set(values)) == 1 else values


def unit(axis: Vector) -> Vector:
    """The axis at length 1."""
    square = dot(axis, axis)
    # The model's file gives units; do not spoil their zeros and ones.
    if known(square) and abs(np.sqrt(square) - 1) < 1e-12:
        return axis
    return axis / (np.sqrt(square) if known(square) else jnp.sqrt(square))


def links_of(model: Model, numbers: Mapping[str, Any]) -> Links:
    """Arrange the numbers of a model.

    Args:
        numbers: every one of the model's by name, scalars; Python floats are constants.
    """
    tree = tree_of(model)
    columns: dict[str, list[Any]] = {}

    def put(**values: Any) -> None:
        for name, value in values.items():
            columns.setdefault(name, []).append(value)

    for link in tree.links:
        body = model.bodies[link.body]
        prefix = f"body/{body.name}"
        turn, position = np.eye(3), np.zeros(3)
        if link.first:
            turned = from_rotation_vector(_vector(numbers, f"{prefix}/turn"))
            turn = from_quaternion(body.orientation) @ turned
            position = _vector(numbers, f"{prefix}/pos")
        joint = model.joints[link.joint] if link.joint >= 0 else None
        put(
            rotation=turn,
            position=position,
            anchor=_anchor(numbers, joint),
            axis=_axis(numbers, joint),
            offset=numbers[f"joint/{joint.name}/offset"] if joint and joint.scalar else 0.0,
            com=_vector(numbers, f"{prefix}/com") if link.last else np.zeros(3),
            mass=numbers[f"{prefix}/mass"] if link.last else 0.0,
            inertia=symmetric([numbers[f"{prefix}/inertia/{e}"] for e in INERTIA])
            if link.last
            else np.zeros((3, 3)),
        )
    for joint in model.joints:
        name = f"joint/{joint.name}"
        own = {f"velocity/{entry}": numbers[f"{name}/{entry}"] for entry in _OF_FREEDOM}
        for entry in ("stiffness", "rest", "lower", "upper"):
            own[f"velocity/{entry}"] = numbers[f"{name}/{entry}"] if joint.scalar else 0.0
        for _ in range(JOINT_SIZES[joint.kind][1]):
            put(**own)
    # Of what moves; what is known, such as the turn of a body, has no type of its own.
    dtype = jnp.result_type(float, *(x for x in numbers.values() if not known(x)))
    found = {name: _equal(_gathered(column, dtype)) for name, column in columns.items()}
    found |= {name: value for name, value in numbers.items() if name.startswith("option/")}
    return Links(found)


def _vector(numbers: Mapping[str, Any], prefix: str) -> Vector:
    return stack([numbers[f"{prefix}/{axis}"] for axis in AXES])


def _anchor(numbers: Mapping[str, Any], joint: Joint | None) -> Vector:
    if joint is None or joint.kind == "free":
        return np.zeros(3)
    return _vector(numbers, f"joint/{joint.name}/pos")


def _axis(numbers: Mapping[str, Any], joint: Joint | None) -> Vector:
    # Where there is none, any will do: the most frequent in robots.
    if joint is None or not joint.scalar:
        return np.array([0.0, 0.0, 1.0])
    return unit(_vector(numbers, f"joint/{joint.name}/axis"))
