"""What a result depends on: hashes of code, config and data.

Snakemake does not see edits of library modules. Each rule therefore carries a hash of its stage's
import closure: the stage's module and every pdsim module it reaches by plain imports. Comments,
docstrings and formatting are left out, so that only edits that can change a result rerun it.
"""

import ast
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = "pdsim"
# What these decide shows in the params of every rule: they are left out of all fingerprints.
LEFT_OUT = ("pdsim.registry", "pdsim.settings", "pdsim.experiment")
ROOT = Path(__file__).parents[1]


def _path(module: str) -> Path | None:
    base = ROOT.joinpath(*module.split(".")[1:])
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _strip_docstrings(tree: ast.AST) -> None:
    """Leave out docstrings, and the descriptions of config keys."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg != "description"]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body
            if (
                body
                and isinstance(body[0], ast.Expr)
                and isinstance(body[0].value, ast.Constant)
                and isinstance(body[0].value.value, str)
            ):
                node.body = body[1:] or [ast.Pass()]


@cache
def _digest_and_imports(module: str) -> tuple[str, tuple[str, ...]]:
    path = _path(module)
    assert path is not None, module
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    _strip_docstrings(tree)
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            imported.add(node.module)
            imported.update(f"{node.module}.{alias.name}" for alias in node.names)
    own = sorted(
        name
        for name in imported
        if (name == PACKAGE or name.startswith(f"{PACKAGE}."))
        and not any(name == out or name.startswith(f"{out}.") for out in LEFT_OUT)
        and _path(name) is not None
    )
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(own)


def import_closure(*modules: str) -> list[str]:
    """Return every pdsim module that importing these reaches, parents' __init__ included."""
    found: set[str] = set()
    pending = list(modules)
    while pending:
        module = pending.pop()
        if module in found:
            continue
        found.add(module)
        parent = module.rpartition(".")[0]
        if parent and parent != PACKAGE:
            pending.append(parent)
        pending.extend(_digest_and_imports(module)[1])
    return sorted(found - {PACKAGE})


def code_fingerprint(*modules: str) -> str:
    """Hash the import closure of some modules, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for module in import_closure(*modules):
        digest.update(f"{module} {_digest_and_imports(module)[0]}\n".encode())
    return digest.hexdigest()[:16]


def fingerprint(*parts: Any) -> str:
    """Hash JSON values and bytes, 64 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(f"{len(data)} ".encode() + data)
    return digest.hexdigest()
