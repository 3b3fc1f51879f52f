"""Imports point one way: a folder imports from those before it in the list, and no files in a circle."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1] / "pdsim"
# From the ground up. What a config chooses by name (`registry`) is told apart by names alone.
ORDER = (
    "registry",
    "xla",
    "runtime",
    "settings",
    "units",
    "numerics",
    "parameters",
    "rigid_body",
    "variational",
    "systems",
    "recordings",
    "likelihood",
    "inference",
    "posterior",
    "earlier",
    "metrics",
    "calibration",
    "preflight",
    "control",
    "experiment",
    "draft",
    "tables",
    "figures",
    "report",
    "stages",
    "doctor",
    "cli",
    "__main__",
)


def modules():
    """Module → file, of the whole package."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(known):
    """Module → modules of the package that it imports, for type checkers' sake too."""
    graph = {}
    for module, path in known.items():
        named = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        graph[module] = {name for name in named if name in known and name != module}
    return graph


def folder(module):
    return module.partition(".")[2].partition(".")[0]


def test_imports_point_one_way():
    graph = imports(modules())
    back = [
        f"{module} imports {other}"
        for module, others in graph.items()
        for other in others
        if folder(module)
        and folder(other)
        and ORDER.index(folder(other)) > ORDER.index(folder(module))
    ]
    assert back == []


def test_no_files_import_each_other():
    graph = imports(modules())
    done, open_ = set(), []

    def visit(module):
        if module in open_:
            raise AssertionError(f"a circle: {' → '.join([*open_[open_.index(module) :], module])}")
        if module not in done:
            open_.append(module)
            for other in sorted(graph[module]):
                visit(other)
            done.add(open_.pop())

    for module in sorted(graph):
        visit(module)


def test_every_folder_has_its_place():
    assert {folder(module) for module in modules()} - {""} == set(ORDER)
