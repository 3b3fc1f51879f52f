"""The command line as a process of its own."""

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
