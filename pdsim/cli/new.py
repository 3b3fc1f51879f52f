"""`pdsim new`: tables to an experiment file, with what was guessed on the terminal."""

import argparse
import sys
from pathlib import Path

from pdsim.cli.fit import workflow_of
from pdsim.draft.draft import draft
from pdsim.draft.tables import Asked, Named
from pdsim.experiment.load import load_experiment
from pdsim.experiment.workflow import absolute_path, check_path
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_output, write_atomically


def new(a: argparse.Namespace) -> None:
    """Draft, check and write an experiment file.

    Raises:
        PdsimError: the output is there already, or something cannot be guessed.
    """
    output = Path(a.output)
    _check_output(output, overwrite=a.overwrite)
    for path in a.files:
        check_path(absolute_path(path), "a table")
    for flag, given in (("channel", a.channel), ("input", a.input)):
        _check_once(flag, [name for name, _ in given])
    device.configure()
    made = draft(
        a.files,
        folder=output.parent,
        title=a.title or output.stem,
        system=a.system,
        model=a.model,
        ignore=a.ignore,
        asked=Asked(
            time=Named.of(a.time) if a.time else None,
            rate_hz=a.rate,
            channels={name: Named.of(text) for name, text in a.channel},
            inputs={name: Named.of(text) for name, text in a.input},
            absolute=a.absolute,
            zero=a.zero,
        ),
    )

    def write(path: Path) -> None:
        path.write_text(made.text, encoding="utf-8")
        load_experiment(path)

    write_atomically(output, write)
    lines = "\n".join(f"  {line}" for line in made.told)
    sys.stdout.write(
        f"{output}\n{lines}\nNext: pdsim fit {output} --budget quick, in minutes; without --budget "
        "quick with more draws, and Markov chains too\n"
    )


def _check_once(flag: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PdsimError(f"--{flag} {name}=…: is given {names.count(name)} times; give it once")


def _check_output(path: Path, *, overwrite: bool) -> None:
    # What `pdsim fit` would refuse afterwards.
    workflow_of(str(path))
    if path.suffix not in (".yaml", ".yml"):
        raise PdsimError(f"{path}: an experiment file ends in .yaml; name it {path.stem}.yaml")
    if path.exists() and not overwrite:
        raise PdsimError(f"{path}: is there already; name another file, or add --overwrite")
    check_output(path)
