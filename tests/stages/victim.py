"""Runs the command line in processes that are killed: loads it once, then forks for each run.

Reads one JSON object a line: ``arguments``, ``log``, ``signal`` and ``delay`` [s] (null: no kill),
counted from the start or, with ``after``, from when that file is new. Answers each with ``code``
(exit code, or minus the signal) and ``seconds``.
"""

import json
import os
import sys
import time
from pathlib import Path

import pdsim.inference.csvgd
import pdsim.stages.infer
import pdsim.stages.train
import pdsim.systems.double_pendulum  # noqa: F401
from pdsim.cli.main import main


def become(arguments, log):
    """Be the command, in a forked process."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    code = 1
    try:
        code = main(arguments)
    finally:
        sys.stderr.flush()
        os._exit(code)


def is_new(path, began):
    """Whether a file was written since."""
    try:
        return Path(path).stat().st_mtime > began
    except FileNotFoundError:
        return False


for line in sys.stdin:
    job = json.loads(line)
    began = time.time()
    armed = None if job["after"] else began
    child = os.fork()
    if child == 0:
        become(job["arguments"], Path(job["log"]))
    ended, status = 0, 0
    while not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
        if armed is None and is_new(job["after"], began):
            armed = time.time()
        due = armed is not None and job["delay"] is not None and time.time() > armed + job["delay"]
        if due and not ended:
            os.kill(child, job["signal"])
            ended, status = os.waitpid(child, 0)
        time.sleep(0.001)
    answer = {"code": os.waitstatus_to_exitcode(status), "seconds": time.time() - began}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
