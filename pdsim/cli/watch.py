"""What a run of Snakemake tells while it works: its jobs, and of each that runs how far it is.

Snakemake writes to a file, which stays as its log. Jobs write to logs of their own, rate and
remaining time among the rest (``pdsim.runtime.progress``): the last such line of every job that
runs is shown every ten seconds. A job's message may end in ``; log: <path>``. What Snakemake says
of itself is left out.
"""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pdsim.runtime.files import says_full

# Between two looks at the output, and at the jobs' logs [s].
_LOOK, _TELL = 0.2, 10.0
_BEGAN = re.compile(r"(?:localrule |Job )(\d+): (.*?)(?:; log: (.*))?$")
_ENDED = re.compile(r"Finished jobid: (\d+)\b")
_COUNTED = re.compile(r"(\d+) of (\d+) steps")
_PROGRESS = re.compile(r"^INFO pdsim\.runtime\.progress: (.*)$", re.MULTILINE)
# Of a log, what is read of its end [byte].
_TAIL = 4096
# What Snakemake says of itself, and of jobs that are told in other words.
_NOISE = re.compile(
    r"Using (profile|shell)|Config file .* is extended|Assuming unrestricted|Building DAG|"
    r"Provided (cores|resources)|Rules claiming|Singularity containers|Select jobs|Execute \d+ job|"
    r"SNAKEMAKE$|=+$|  (Date|Workflow ID|Platform|Host|User|\w+ version|Command|Snakefile|"
    r"\w+ directory|Config file\(s\)|Config MD5): |"
    r"\[\w{3} \w{3} .*\]$|Reason: |Job stats:$|job +count$|-+  -+$|\w+ +\d+$|Complete log|"
    r"Elapsed time|\s*$"
)


class _Job(NamedTuple):
    message: str
    log: Path | None
    began: float


class Watch:
    """Tell the jobs of one run of Snakemake.

    Args:
        folder: the one that Snakemake works in, where logs are named from.
        write: of a line, without its end.
        clock: seconds that pass.

    Attributes:
        locked: whether Snakemake found a lock of another run.
        full: whether a job or Snakemake said that a disk is full.
    """

    def __init__(
        self,
        folder: Path,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ):
        self._folder, self._write, self._clock = folder, write, clock
        self._running: dict[str, _Job] = {}
        self._told: dict[str, str] = {}
        self.locked = False
        self.full = False

    def follow(self, output: Path, running: Callable[[], bool]) -> None:
        """Tell what Snakemake writes to a file, and how far jobs are, until it has ended."""
        told = self._clock()
        rest = ""
        with output.open(encoding="utf-8", errors="replace") as file:
            while True:
                alive = running()
                *lines, rest = (rest + file.read()).split("\n")
                for line in lines:
                    self.read(line)
                if not alive:
                    return
                if self._clock() - told >= _TELL:
                    told = self._clock()
                    self.tell()
                time.sleep(_LOOK)

    def read(self, line: str) -> None:
        """Take a line of Snakemake's output."""
        self.full = self.full or says_full(line)
        if began := _BEGAN.match(line):
            number, message, log = began.groups()
            place = self._folder / log if log else None
            self._running[number] = _Job(message, place, self._clock())
            self._write(f"{message}; log: {place}" if place else message)
        elif ended := _ENDED.search(line):
            job = self._running.pop(ended[1], None)
            if job is not None and self._clock() - job.began > _TELL:
                self._write(f"  {job.message}: done in {_duration(self._clock() - job.began)}")
        elif counted := _COUNTED.match(line):
            self._write(f"{counted[1]} of {counted[2]} jobs are done")
        elif line.startswith("LockException"):
            self.locked = True
        elif not self.locked and not _NOISE.match(line):
            self._write(line)

    def tell(self) -> None:
        """Tell how far each running job is, where it has said anything new."""
        for number, job in self._running.items():
            far = job.log and progress(job.log)
            if far and self._told.get(number) != far:
                self._told[number] = far
                self._write(f"  {job.message}: {far}")


def progress(log: Path) -> str | None:
    """The last line of progress in a log, or None."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL))
            text = file.read().decode(errors="replace")
    except OSError:
        return None
    found = _PROGRESS.findall(text)
    return found[-1] if found else None


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
