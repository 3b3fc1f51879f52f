"""A robot as MuJoCo renders it off screen, with lines in its scene.

MuJoCo chooses its renderer once a process, and one that does not work may end the process: a
picture is made in a process of its own (``python -m pdsim.figures.rendering REQUEST PICTURE``).
Bodies that the file gives no shape are drawn as capsules between their origins.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pdsim.rigid_body.spec import forget_meshes

# Renderers that need no screen, in the order in which they are tried.
_BACKENDS = ("egl", "osmesa") if sys.platform == "linux" else ("",)
_LIMIT = 120.0
_SIZE = (900, 900)
_GREY = (0.62, 0.64, 0.68, 1.0)
# Radii of arms and lines [m].
_ARM, _LINE = 0.03, 0.0015


def render(
    model: str | Path,
    position: Sequence[float],
    lines: Sequence[tuple[np.ndarray, str]],
    centre: Sequence[float],
    distance: float,
) -> np.ndarray | None:
    """Return a picture (height, width, 3), or None where there is no renderer.

    Args:
        model: path of a MJCF or URDF file.
        position: of the joints, as MuJoCo orders them [m, rad].
        lines: points (n, 3) [m] and colour ``#rrggbb`` of each line.
        centre: what the camera looks at [m].
        distance: from there [m].
    """
    request = {
        "model": str(model),
        "position": [float(x) for x in position],
        "lines": [(np.asarray(points).tolist(), colour) for points, colour in lines],
        "centre": [float(x) for x in centre],
        "distance": float(distance),
    }
    chosen = os.environ.get("MUJOCO_GL")
    with TemporaryDirectory() as folder:
        asked, made = Path(folder) / "request.json", Path(folder) / "picture.npy"
        asked.write_text(json.dumps(request), encoding="utf-8")
        for backend in (chosen,) if chosen else _BACKENDS:
            command = [sys.executable, "-m", "pdsim.figures.rendering", str(asked), str(made)]
            environment = os.environ | ({"MUJOCO_GL": backend} if backend else {})
            try:
                subprocess.run(
                    command, env=environment, check=True, capture_output=True, timeout=_LIMIT
                )
            except (OSError, subprocess.SubprocessError):
                continue
            return np.load(made)
    return None


def _picture(request: dict[str, Any]) -> np.ndarray:
    import mujoco

    spec = mujoco.MjSpec.from_file(request["model"])
    try:
        spec.compile()
    except ValueError:
        # Of a description without its meshes the rest can be seen.
        spec = mujoco.MjSpec.from_file(request["model"])
        forget_meshes(spec)
    for body in spec.bodies[1:]:
        if list(body.geoms):
            continue
        for child in body.bodies:
            if np.linalg.norm(child.pos) > _ARM:
                body.add_geom(
                    type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                    size=[_ARM, 0, 0],
                    fromto=[0, 0, 0, *child.pos],
                    rgba=_GREY,
                    mass=0,
                )
    spec.worldbody.add_light(pos=[1, -1, 3], dir=[-0.3, 0.3, -1], diffuse=[0.7] * 3)
    spec.add_texture(
        name="backdrop",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=[1, 1, 1],
        rgb2=[1, 1, 1],
        width=16,
        height=96,
    )
    spec.visual.global_.offwidth, spec.visual.global_.offheight = _SIZE
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = request["position"]
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance = request["centre"], request["distance"]
    camera.azimuth, camera.elevation = 120, -15
    pieces = sum(len(points) - 1 for points, _ in request["lines"])
    with mujoco.Renderer(model, *_SIZE, max_geom=model.ngeom + pieces + 10) as renderer:
        renderer.update_scene(data, camera)
        scene = renderer.scene
        for points, colour in request["lines"]:
            rgba = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] + [1.0]
            for begin, end in pairwise(points):
                shape = scene.geoms[scene.ngeom]
                kind = mujoco.mjtGeom.mjGEOM_CAPSULE
                mujoco.mjv_initGeom(
                    shape, kind, np.zeros(3), np.zeros(3), np.zeros(9), np.array(rgba, np.float32)
                )
                mujoco.mjv_connector(shape, kind, _LINE, np.array(begin), np.array(end))
                scene.ngeom += 1
        return renderer.render()


if __name__ == "__main__":
    asked, made = sys.argv[1:]
    np.save(made, _picture(json.loads(Path(asked).read_text(encoding="utf-8"))))
