"""The command line as a process of its own."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import gc, sys
from pdsim import __main__ as entry

class Looks:
    count = 0

gc.callbacks.append(lambda phase, _: setattr(Looks, "count", Looks.count + (phase == "start")))

def command():
    Looks.kept = [[] for _ in range(20_000)]
    {outcome}

entry.main = command
try:
    code = entry.run()
finally:
    print(Looks.count, gc.get_freeze_count() > 20_000)
raise SystemExit(code)
"""


@pytest.mark.parametrize(
    ("outcome", "code"), [("return 2", 2), ("return 0", 0), ("raise RuntimeError", 1)]
)
def test_a_job_of_seconds_does_not_look_for_garbage_again_and_again(outcome, code):
    """Python's own limit is 700 to 2,000 new objects; what is there at the end is left alone."""
    script = SCRIPT.format(outcome=outcome)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (code, ["0", "True"]), done.stderr


def test_letters_that_a_terminal_lacks_and_a_reader_that_ends_early_are_no_errors():
    script = """
import sys
from pdsim import __main__ as entry

def command():
    for _ in range(100_000):
        sys.stdout.write("Θ\\n")
    return 0

entry.main = command
raise SystemExit(entry.run())
"""
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "\\u0398\n"
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (141, "")
    process.stderr.close()
