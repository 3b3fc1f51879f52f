"""Every bad input is refused with a message that says what to mend, and without a stack trace."""

import os
from collections import Counter
from pathlib import Path

import pytest
from bad_input import commands, control, drafts, experiments, recordings, results, robots
from bad_input.case import Edited

from pdsim.cli.main import main

PARTS = (experiments, recordings, robots, control, drafts, results, commands)
CASES = [case for part in PARTS for case in part.CASES]


def test_there_are_many_and_each_is_there_once():
    assert len(CASES) >= 400
    assert [name for name, n in Counter(case.name for case in CASES).items() if n > 1] == []
    inputs = [repr((case.command, case.files)) for case in CASES]
    assert len(set(inputs)) == len(inputs)


def written(folder):
    """Every file below, but those behind links."""
    return {Path(place, name) for place, _, names in os.walk(folder) for name in names}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_said(root, good, tmp_path, monkeypatch, capsys, case):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "data").symlink_to(root / "data")
    (folder / "good").symlink_to(good)
    for name, content in case.files.items():
        content = content.text(root) if isinstance(content, Edited) else content
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PDSIM_DATA_DIR", raising=False)
    before = written(folder)
    demo = str(root / "config/experiments/demo.yaml")
    try:
        ended = main([word.format(demo=demo) for word in case.command])
    except SystemExit as stop:  # of the argument parser
        ended = stop.code
    error = capsys.readouterr().err
    assert ended == 2, error
    assert written(folder) == before
    assert "Traceback" not in error
    for word in case.words:
        assert word in error, error
