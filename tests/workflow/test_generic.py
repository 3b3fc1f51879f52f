"""The profile for other batch systems, with stand-ins for the commands of PBS."""

import os
import re
import shutil
import signal
import stat
import time

import pytest

pytestmark = pytest.mark.slow

# Each job is a number; its files are <number>.asked, .log, .code. The first one is on a node that
# does nothing, and that the scheduler forgets once there is a file of this name.
FORGOTTEN = "forgotten"
QSUB = """\
#!/bin/bash
cd "$(dirname "$0")"
number=$(( $(ls *.asked 2>/dev/null | wc -l) + 1 ))
echo "$*" > $number.asked
if [ $number != 1 ]; then
    ( cd "$OLDPWD" && bash "${@: -1}"; echo $? > "$OLDPWD/$number.code" ) >$number.log 2>&1 &
fi
echo $number.pbs
"""
QSTAT = f"""\
#!/bin/bash
cd "$(dirname "$0")"
number=${{3%.pbs}}
if [ $number = 1 -a -f {FORGOTTEN} ]; then echo "qstat: Unknown Job Id $3" >&2; exit 153; fi
if [ -f $number.code ]; then
    printf 'Job Id: %s\\n    job_state = F\\n    Exit_status = %s\\n' $3 $(cat $number.code)
else
    printf 'Job Id: %s\\n    job_state = R\\n' $3
fi
"""
QDEL = """\
#!/bin/bash
echo "$*" > "$(dirname "$0")/deleted"
"""
TARGET = "results/pbs/long/tiny/trajectories.nc"
OPTIONS = (TARGET, "--config", "budget=long", "results=results/pbs")
OPTIONS += ("--profile", "workflow/profiles/generic", "--seconds-between-status-checks", "1")


@pytest.fixture
def pbs(project, tmp_path, monkeypatch):
    pytest.importorskip("snakemake_executor_plugin_cluster_generic")
    for name, text in (("qsub", QSUB), ("qstat", QSTAT), ("qdel", QDEL)):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    shutil.rmtree(project.folder / "results/pbs", ignore_errors=True)
    monkeypatch.setitem(project.environment, "PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def test_jobs_are_submitted_and_a_lost_one_again_with_more(project, pbs):
    """The profile for any batch system asks for what a rule needs, and twice that on a retry."""
    (pbs / FORGOTTEN).touch()
    result = project.snakemake(*OPTIONS)
    assert (project.folder / TARGET).exists()
    assert "Trying to restart job" in result.stderr
    asked = [path.read_text() for path in sorted(pbs.glob("*.asked"))]
    # Recording, lost with its node; recording again; preprocessing.
    assert len(asked) == 3
    shape = r"-V -l select=1:ncpus=1:mem=(\d+)mb:ngpus=0 -l walltime=(\d+) \S+\n"
    numbers = [tuple(map(int, re.fullmatch(shape, line).groups())) for line in asked]
    assert numbers[1] == tuple(2 * n for n in numbers[0])


def test_ctrl_c_cancels_jobs(project, pbs):
    """Ctrl-C takes submitted jobs off the batch system's queue."""
    # While Snakemake asks after its jobs it would cancel none: it asks at once, and 20 s later.
    with project.running(*OPTIONS, "--seconds-between-status-checks", "20") as process:
        project.wait_until((pbs / "1.asked").exists, process)
        # Snakemake reads the job's number a moment later.
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode != 0, output
    assert (pbs / "deleted").read_text() == "1.pbs\n"
