"""Options that several verbs share, and how their values are read."""

import argparse
import math
import re

# Written as people write them: no sign, no leading zero (YAML 1.1 reads 010 as 8), and none of the
# underscores and digits of other scripts that Python's int takes.
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
# Counts beyond this are a slip of the keyboard, and some libraries cannot hold them.
_MOST = 2**31 - 1


def path(text: str) -> str:
    """Read a path: any text but an empty one, which Python takes for the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"a path is needed, not {text!r}; name a file or folder")
    return text


def whole_number(text: str, lowest: int = 0, highest: int = _MOST) -> int:
    """Read a whole number from ``lowest`` to ``highest``."""
    if not _WHOLE_NUMBER.fullmatch(text) or not lowest <= int(text) <= highest:
        raise argparse.ArgumentTypeError(
            f"a whole number from {lowest} to {highest} is needed, not {text!r}"
        )
    return int(text)


def seed(text: str) -> int:
    """Read a seed."""
    return whole_number(text, 0, 2**32 - 1)


def positive(text: str) -> int:
    """Read a whole number above 0."""
    return whole_number(text, 1)


def rate(text: str) -> float:
    """Read a rate of recording [Hz]; no machine records more than a million frames a second."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(
            f"a number of hertz above 0, up to 1e6, is needed, not {text!r}"
        )
    return value


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """The experiment file, of every verb that reads one."""
    parser.add_argument(
        "experiment", type=path, help="an experiment file, as config/experiments/<name>.yaml"
    )


def add_simulating(parser: argparse.ArgumentParser) -> None:
    """Of verbs that simulate."""
    add_experiment(parser)
    parser.add_argument(
        "--fixed-from",
        type=path,
        metavar="FILE",
        help="posterior that simulator.fixed_from asks for",
    )


def add_believing(parser: argparse.ArgumentParser) -> None:
    """Of verbs that simulate and look at the prior."""
    add_simulating(parser)
    parser.add_argument(
        "--prior-from",
        type=path,
        metavar="FILE",
        help="posterior that simulator.prior_from asks for",
    )


def add_run(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """A run and a seed."""
    parser.add_argument(
        "--run", required=required, help="name of a run; default names: <method>_<shooting>"
    )
    parser.add_argument("--seed", type=seed, default=0, help="of all random numbers (default 0)")


def add_budget(parser: argparse.ArgumentParser) -> None:
    """The budget."""
    parser.add_argument("--budget", default="paper", help="quick or paper (default)")


def add_cores(parser: argparse.ArgumentParser, rows: str) -> None:
    """Cores of one process, of verbs that split rows of a batch."""
    parser.add_argument(
        "--cores",
        type=positive,
        default=1,
        metavar="N",
        help=f"split {rows} among so many cores (default 1)",
    )


def add_raw(parser: argparse.ArgumentParser) -> None:
    """Where raw runs are."""
    parser.add_argument(
        "--raw",
        type=path,
        metavar="FOLDER",
        help="where the raw runs are (default: beside the experiment)",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """Whether files that do not go with the experiment are used all the same."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="use the files although they were made with other settings, or hold draws that cannot "
        "be right; what is wrong is said as a warning",
    )


def add_files(parser: argparse.ArgumentParser, *names: str) -> None:
    """Files that must be named."""
    for name in names:
        parser.add_argument(f"--{name}", type=path, required=True, metavar="FILE")


def named(text: str) -> tuple[str, str]:
    """Read ``NAME=COLUMN``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"NAME=COLUMN or NAME=COLUMN:UNIT, not {text!r}")
    return name, value
