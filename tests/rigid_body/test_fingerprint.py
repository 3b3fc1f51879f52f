"""The fingerprint of a robot changes with every file that its numbers come from."""

import shutil
import struct

import pytest

from pdsim.rigid_body.fingerprint import fingerprint
from pdsim.runtime.files import sha256

ARM = """<body name="arm"><joint/><inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/>
<geom type="mesh" mesh="m" contype="0" conaffinity="0"/></body>"""
SOLID = '<body name="arm"><joint/><geom type="mesh" mesh="m"/></body>'
MESH = '<asset><mesh name="m" file="m.stl"/></asset>'
# Lower corners of a solid's four faces.
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def write(folder, **files):
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<mujoco>{text}</mujoco>")


def write_mesh(path, size):
    """A tetrahedron."""
    corners = ((0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size))
    triangles = [[0, 0, 0, *(x for i in face for x in corners[i]), 0] for face in FACES]
    rows = b"".join(struct.pack("<12fH", *triangle) for triangle in triangles)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(80) + struct.pack("<I", len(FACES)) + rows)


def changes(path, change):
    """Whether a change of files changes the fingerprint."""
    before = fingerprint(path)
    change()
    return fingerprint(path) != before


@pytest.mark.parametrize("name", ["panda.xml", "quadruped.xml", "pendubot.urdf"])
def test_a_single_file_has_its_own_digest(root, name):
    path = root / "data/models" / name
    assert fingerprint(path) == sha256(path)


def test_what_is_included_counts_however_deep(tmp_path):
    inner = "<worldbody>" + ARM.split("<geom")[0] + "</body></worldbody>"
    write(
        tmp_path,
        robot='<include file="parts/outer.xml"/>',
        parts__outer='<include file="inner.xml"/><option timestep="0.01"/>',
        parts__inner=inner.format(mass=1),
    )
    path = tmp_path / "robot.xml"
    assert changes(path, lambda: write(tmp_path, parts__inner=inner.format(mass=2)))
    assert changes(path, lambda: write(tmp_path, parts__outer='<include file="inner.xml"/>'))
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(path, copy)
    shutil.copytree(tmp_path / "parts", copy / "parts")
    assert fingerprint(copy / "robot.xml") == fingerprint(path)


def test_what_is_attached_counts_with_its_meshes(tmp_path):
    write(
        tmp_path,
        robot='<asset><model name="x" file="parts/arm.xml"/></asset><worldbody>'
        '<attach model="x" body="arm" prefix="l_"/></worldbody>',
        parts__arm=f'<compiler meshdir="meshes"/>{MESH}<worldbody>{SOLID}</worldbody>',
    )
    (tmp_path / "parts/meshes").mkdir()
    mesh, path = tmp_path / "parts/meshes/m.stl", tmp_path / "robot.xml"
    write_mesh(mesh, 1.0)
    assert changes(path, lambda: write_mesh(mesh, 2.0))


def test_a_mesh_counts_where_it_gives_an_inertia(tmp_path):
    path, mesh = tmp_path / "robot.xml", tmp_path / "m.stl"
    write_mesh(mesh, 1.0)
    write(tmp_path, robot=f"{MESH}<worldbody>{ARM.format(mass=1)}</worldbody>")
    assert fingerprint(path) == sha256(path)
    assert not changes(path, lambda: write_mesh(mesh, 2.0))
    always = '<compiler inertiafromgeom="true"/>'
    write(tmp_path, robot=f"{always}{MESH}<worldbody>{ARM.format(mass=1)}</worldbody>")
    assert changes(path, lambda: write_mesh(mesh, 3.0))
    write(tmp_path, robot=f"{MESH}<worldbody>{SOLID}</worldbody>")
    assert changes(path, lambda: write_mesh(mesh, 4.0))


def test_every_shape_counts_where_bodies_touch(tmp_path):
    path, mesh = tmp_path / "robot.xml", tmp_path / "m.stl"
    write_mesh(mesh, 1.0)
    write(tmp_path, robot=f"{MESH}<worldbody>{ARM.format(mass=1)}</worldbody>")
    before = fingerprint(path, shapes=True)
    write_mesh(mesh, 2.0)
    assert fingerprint(path, shapes=True) != before
