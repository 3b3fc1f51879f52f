"""Options that several verbs share, and how their values are read."""

import argparse


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """The experiment file, of every verb that reads one."""
    parser.add_argument("experiment", help="an experiment file, as config/experiments/<name>.yaml")


def add_simulating(parser: argparse.ArgumentParser) -> None:
    """Of verbs that simulate."""
    add_experiment(parser)
    parser.add_argument(
        "--fixed-from", metavar="FILE", help="posterior that simulator.fixed_from asks for"
    )


def add_believing(parser: argparse.ArgumentParser) -> None:
    """Of verbs that simulate and look at the prior."""
    add_simulating(parser)
    parser.add_argument(
        "--prior-from", metavar="FILE", help="posterior that simulator.prior_from asks for"
    )


def add_run(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """A run and a seed."""
    parser.add_argument(
        "--run", required=required, help="name of a run; default names: <method>_<shooting>"
    )
    parser.add_argument("--seed", type=seed, default=0, help="of all random numbers (default 0)")


def seed(text: str) -> int:
    """Read a seed."""
    if not text.isdigit() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"a whole number from 0 to {2**32 - 1}, not {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number above 0."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1, not {text!r}")
    return int(text)


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
        "--raw", metavar="FOLDER", help="where the raw runs are (default: beside the experiment)"
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
        parser.add_argument(f"--{name}", required=True, metavar="FILE")


def named(text: str) -> tuple[str, str]:
    """Read ``NAME=COLUMN``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"NAME=COLUMN or NAME=COLUMN:UNIT, not {text!r}")
    return name, value
