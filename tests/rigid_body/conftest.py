"""Random robots, in MuJoCo and in ours."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from pdsim.rigid_body.links import Links, links_of
from pdsim.rigid_body.load import load_model
from pdsim.rigid_body.model import Model

mujoco = pytest.importorskip("mujoco")
KINDS = ("hinge", "slide", "ball", "free", "two", "fixed")


def numbers(values) -> str:
    return " ".join(repr(float(value)) for value in values)


def random_tree(random: np.random.Generator, size: int, kinds=KINDS) -> str:
    """MJCF of a tree of bodies joined anyhow; those that float are at the root."""
    parents = [random.integers(0, i) for i in range(1, size + 1)]

    def body(i: int) -> str:
        half = random.normal(size=(3, 3))
        second = half @ half.T + 0.1 * np.eye(3)
        inertia = np.trace(second) * np.eye(3) - second
        six = [inertia[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        at, turn, anchor, axis, other = (random.normal(size=k) for k in (3, 4, 3, 3, 3))
        place = f'pos="{numbers(anchor)}" axis="{numbers(axis)}"'
        armature = f'armature="{random.uniform(0, 1)!r}"'
        joint = {
            "hinge": f'<joint name="j{i}" {place} {armature}/>',
            "slide": f'<joint name="j{i}" type="slide" {place} ref="0.2" {armature}/>',
            "ball": f'<joint name="j{i}" type="ball" pos="{numbers(anchor)}" {armature}/>',
            "two": f'<joint name="j{i}" {place}/>'
            f'<joint name="k{i}" type="slide" axis="{numbers(other)}"/>',
            "free": f'<freejoint name="j{i}"/>' if parents[i - 1] == 0 else "",
            "fixed": "",
        }[random.choice(kinds)]
        return (
            f'<body name="b{i}" pos="{numbers(at)}" quat="{numbers(turn)}">'
            f'<inertial pos="{numbers(random.normal(size=3))}" mass="{random.uniform(0.5, 3)!r}" '
            f'fullinertia="{numbers(six)}"/>{joint}<site name="s{i}" pos="{numbers(other)}"/>'
            + "".join(body(k + 1) for k, parent in enumerate(parents) if parent == i)
            + "</body>"
        )

    roots = "".join(body(k + 1) for k, parent in enumerate(parents) if parent == 0)
    return f"<mujoco><worldbody>{roots}</worldbody></mujoco>"


class Robot(NamedTuple):
    """The same robot twice."""

    ours: Model
    links: Links
    theirs: Any

    @classmethod
    def of(cls, path, ignore=()) -> "Robot":
        model = load_model(path, ignore)
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = False
        for geom in list(spec.geoms):
            spec.delete(geom)
        for loop in list(spec.equalities):
            spec.delete(loop)
        for mesh in list(spec.meshes):
            spec.delete(mesh)
        return cls(model, links_of(model, model.values), spec.compile())

    def state(self, random: np.random.Generator):
        """Data of MuJoCo somewhere, moving."""
        data = mujoco.MjData(self.theirs)
        data.qpos[:] = random.normal(size=self.theirs.nq)
        mujoco.mj_normalizeQuat(self.theirs, data.qpos)
        data.qvel[:] = random.normal(size=self.theirs.nv)
        return data
