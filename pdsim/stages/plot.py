"""Stage ``plot``: result files to a figure."""

from pdsim import registry
from pdsim.figures.figure import Figure, Request
from pdsim.runtime.errors import PdsimError


def plot(figure: str, request: Request) -> None:
    """Draw a figure.

    Args:
        figure: a name from the registry.

    Raises:
        PdsimError: a file, or the run, that this figure needs is not given.
    """
    entry: Figure = registry.load("figures", figure).FIGURE
    missing = [kind for kind in entry.needs if not request.files.get(kind)]
    missing += ["run"] * (entry.of_each_run and request.identity is None)
    if missing:
        options = " ".join(f"--{name}" for name in missing)
        raise PdsimError(f"pdsim plot {figure} needs {options}")
    entry.draw(request)
