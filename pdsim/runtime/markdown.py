"""A table as Markdown."""

from collections.abc import Sequence


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], align: str = "---") -> str:
    """Return a table as Markdown.

    Args:
        align: of all columns but the first, ``---`` or, to the right, ``---:``.
    """
    lines = [head, ["---"] + [align] * (len(head) - 1), *rows]
    cells = ([cell.replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines)
    return "".join("| " + " | ".join(line) + " |\n" for line in cells)
