"""A copy of the project with a tiny experiment, on which real Snakemake runs."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import yaml


class Project:
    """A checkout that tests may change; its pdsim, not the installed one, is what runs."""

    def __init__(self, folder: Path):
        self.folder = folder
        # Where jobs could write besides, empty at first; caches stay where they are.
        self.elsewhere = [folder.with_name(f"{folder.name}-{name}") for name in ("home", "tmp")]
        for path in self.elsewhere:
            path.mkdir()
        self.environment = os.environ | {
            "PYTHONPATH": str(folder),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
            "HOME": str(self.elsewhere[0]),
            "TMPDIR": str(self.elsewhere[1]),
        }
        self.environment.pop("PDSIM_IBM_DIR", None)

    def command(self, *arguments):
        """On this machine, unless a profile says where."""
        where = [] if "--profile" in arguments else ["--cores", "2"]
        return [sys.executable, "-m", "snakemake", *where, "--nocolor", *arguments]

    def snakemake(self, *arguments, check=True):
        result = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        if check:
            assert result.returncode == 0, result.stderr[-3000:] + result.stdout[-3000:]
        return result

    def planned(self, *arguments, target="tiny"):
        """Return what a run would do, rule → number of jobs."""
        output = self.snakemake(target, "--dry-run", *arguments).stdout
        table = output.split("Job stats:")[-1] if "Job stats:" in output else ""
        jobs = dict(re.findall(r"^(\w+) +(\d+)$", table, flags=re.MULTILINE))
        return {rule: int(n) for rule, n in jobs.items() if rule not in ("total", target)}

    def change(self, path, old, new):
        """Replace text in a file; return a function that puts it back with its old times."""
        file = self.folder / path
        text, times = file.read_text(), file.stat()
        assert old in text, (path, old)
        file.write_text(text.replace(old, new, 1))

        def restore():
            file.write_text(text)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

        return restore

    @contextmanager
    def running(self, *arguments):
        """A run beside the test; what is left of it at the end is killed, with its children."""
        # Tests that run in the background ignore Ctrl-C, and so would their children.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            process = subprocess.Popen(
                self.command(*arguments),
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        finally:
            signal.signal(signal.SIGINT, before)
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()

    @staticmethod
    def wait_until(condition, process, seconds=180):
        """Wait while the run goes on."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert process.poll() is None, process.stdout.read()[-3000:]
            assert time.monotonic() < deadline, f"nothing happened in {seconds} s"
            time.sleep(0.02)

    def kill_when(self, condition, *arguments):
        """Start a run and kill it with SIGKILL, with all its children, once ``condition()``."""
        with self.running(*arguments) as process:
            self.wait_until(condition, process)

    def tracked(self):
        """Content of every file that is not a result."""
        ours = [
            path
            for path in self.folder.rglob("*")
            if path.is_file()
            and path.relative_to(self.folder).parts[0] not in ("results", ".snakemake")
            and "__pycache__" not in path.parts
        ]
        return {path: path.read_bytes() for path in ours}


@pytest.fixture(scope="session")
def project(root, tmp_path_factory, made_once):
    """A project whose tiny experiment was run once; every worker has a copy, times and all."""
    first = made_once("finished", lambda folder: tiny_project(root, folder).snakemake("tiny"))
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(first, folder, dirs_exist_ok=True, symlinks=True)
    project = Project(folder)
    # What the run left elsewhere is the copy's too.
    for place, name in zip(project.elsewhere, ("home", "tmp"), strict=True):
        shutil.copytree(first.with_name(f"{first.name}-{name}"), place, dirs_exist_ok=True)
    return project


@pytest.fixture
def fresh_project(root, tmp_path):
    """A project in which nothing was run."""
    return copied_project(root, tmp_path / "project")


def copied_project(root, folder):
    """Copy the project's code to a folder."""
    for name in ("pdsim", "workflow", "config"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "Snakefile", folder)
    return Project(folder)


def tiny_project(root, folder):
    """Copy the project's code to a folder, with a tiny experiment."""
    project = copied_project(root, folder)
    values = yaml.safe_load((root / "config/experiments/demo.yaml").read_text())
    values["recording"]["test"] = values["recording"]["test"][:4]
    values["runs"], values["reference"] = values["runs"][:2], "svgd_single"
    del values["detailed"]
    values["budgets"] = {
        "quick": {"particle_count": 10, "iteration_count": 20, "chunk_size": 10},
        "long": {"particle_count": 10, "iteration_count": 1500, "chunk_size": 10},
    }
    (folder / "config/experiments/tiny.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    settings = {"groups": {"tiny": ["tiny"]}, "budget": "quick"}
    (folder / "config/config.yaml").write_text(yaml.safe_dump(settings))
    return project
