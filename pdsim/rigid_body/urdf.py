"""What MuJoCo leaves out of a URDF in silence: joints that follow others, and links without parent.

MuJoCo fixes every link that is no joint's child to the world, also where a joint is missing or its
name is misspelt. Some of its versions let a joint that follows another (``<mimic>``) move freely.
"""

from pathlib import Path

from pdsim.rigid_body.model_text import read_model_text, tags
from pdsim.runtime.errors import PdsimError


def check_urdf(path: str | Path) -> tuple[str, ...]:
    """Refuse a URDF of several robots, and return the joints that follow others.

    MJCF passes.

    Raises:
        PdsimError: more than one link that matters has no parent.
    """
    heavy: dict[str, bool] = {}
    children: dict[str, list[str]] = {}
    moved: set[str] = set()
    mimics: list[str] = []
    within: list[str] = []
    # The link or joint that is being read, and of a joint its two links.
    name, kind, ends = "", "", {"parent": "", "child": ""}
    for tag in tags(read_model_text(path)):
        if tag.begins:
            if not within and tag.name != "robot":
                return ()
            within.append(tag.name)
            values = tag.attributes
            if within[1:] == ["link"]:
                name = values.get("name", "")
                heavy[name] = False
            elif within[1:] == ["joint"]:
                name, kind = values.get("name", ""), values.get("type", "")
            elif within[1:] == ["link", "inertial", "mass"]:
                heavy[name] = values.get("value", "").strip(" +0.") != ""
            elif within[1:] in (["joint", "parent"], ["joint", "child"]):
                ends[tag.name] = values.get("link", "")
            elif within[1:] == ["joint", "mimic"]:
                mimics.append(name)
        if tag.ends and within:
            if within[1:] == ["joint"]:
                children.setdefault(ends["parent"], []).append(ends["child"])
                moved |= {ends["child"]} if kind != "fixed" else set()
            within.pop()
    _check_roots(path, heavy, children, moved)
    return tuple(mimics)


def _check_roots(
    path: str | Path, heavy: dict[str, bool], children: dict[str, list[str]], moved: set[str]
) -> None:
    """Refuse a second link without parent, unless it is an empty frame.

    Args:
        heavy: link → whether it has mass.
        children: link → links that joints join to it.
        moved: links that a joint moves.
    """
    parented = {child for some in children.values() for child in some}
    roots = []
    for root in (link for link in heavy if link not in parented):
        tree = [root]
        for link in tree:
            tree += [child for child in children.get(link, []) if child not in tree]
        if any(link in moved or heavy.get(link) for link in tree):
            roots.append(root)
    if len(roots) > 1:
        raise PdsimError(
            f"{path}: links {', '.join(map(repr, roots[:4]))} are no joint's child, and each would "
            "be fixed to the world; join all but one to the robot (check the names in <child>), or "
            "remove them"
        )
