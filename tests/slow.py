"""Which tests are slow and what each of them guards, as a table for tests/README.md.

    python tests/slow.py

A test is slow if it, its module or one of its cases is marked so; what it guards is the first
paragraph of its docstring.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
MARK = "mark.slow"
BEGIN, END = "<!-- slow tests -->", "<!-- end of slow tests -->"


def _marks(tree: ast.Module) -> set[str]:
    """Names in a module that hold or give the mark, in themselves or by way of others."""
    values: dict[str, ast.AST] = {
        statement.name: statement
        for statement in tree.body
        if isinstance(statement, ast.FunctionDef) and not statement.name.startswith("test_")
    }
    values |= {
        target.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    found = set().union(*map(_imported, tree.body))
    while more := {n for n, value in values.items() if _marked(value, found)} - found:
        found |= more
    return found


def _imported(statement: ast.stmt) -> set[str]:
    """Names of those that a module takes from a file of these tests."""
    if not isinstance(statement, ast.ImportFrom) or statement.module is None:
        return set()
    file = TESTS.joinpath(*statement.module.split(".")).with_suffix(".py")
    if not file.is_file():
        return set()
    marks = _marks(ast.parse(file.read_text(encoding="utf-8")))
    return {alias.asname or alias.name for alias in statement.names if alias.name in marks}


def _marked(node: ast.AST, names: set[str]) -> bool:
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return MARK in ast.unparse(node) or bool(used & names)


def slow_tests() -> Iterator[tuple[str, str, str]]:
    """File, name and what it guards, of every slow test; empty where it does not say."""
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = _marks(tree)
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef) or not function.name.startswith("test_"):
                continue
            marked = any(_marked(one, names) for one in function.decorator_list)
            if marked or "pytestmark" in names:
                words = (ast.get_docstring(function) or "").split("\n\n")[0].split()
                yield path.relative_to(TESTS).as_posix(), function.name, " ".join(words)


def table() -> str:
    """The table, in Markdown."""
    lines = ["| file | test | guards |", "|---|---|---|"]
    lines += [f"| {file} | `{name}` | {guards} |" for file, name, guards in slow_tests()]
    return "\n".join(lines) + "\n"


def write() -> None:
    """Put the table between the marks of tests/README.md."""
    readme = TESTS / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{table()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write()
