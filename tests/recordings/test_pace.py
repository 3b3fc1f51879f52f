"""Frames seconds apart are doubted: in the reader's warning, and where they make a run fail."""

import logging

import numpy as np
import pytest
from recordings.tables import read

from pdsim.preflight.findings import Findings
from pdsim.recordings.pace import doubt, suspicion
from pdsim.runtime.errors import PdsimError

STEPS = np.arange(300)


@pytest.mark.parametrize(
    ("step", "changes", "words"),
    [
        (2.0, {}, ["'t'", "steps of 2 s", "are the stamps in ms? Then write unit: ms"]),
        (2000.0, {"time": {"column": "t", "unit": "ms"}}, ["steps of 2 s", "write unit: us"]),
        (1.0, {}, ["steps of 1 s", "does the column count rows?", "write rate_hz"]),
        (0.002, {"time": {"column": "t", "unit": "us"}}, ["steps of 2e-09 s", "write unit: s"]),
        (0.0, {"time": None, "rate_hz": 0.5}, ["recording.rate_hz: steps of 2 s"]),
        (0.02, {}, []),
        (0.5, {}, []),
        (0.01, {"time": {"column": "t", "unit": "ms"}}, []),
    ],
)
def test_stamps_in_another_unit_are_doubted(tmp_path, caplog, step, changes, words):
    path = tmp_path / "run.csv"
    columns = np.stack([step * STEPS, np.sin(STEPS / 9), np.cos(STEPS / 9)], axis=1)
    np.savetxt(path, columns, delimiter=",", header="t,a,b", comments="")
    with caplog.at_level(logging.WARNING):
        read(str(path), **changes)
    assert ("between frames" in caplog.text) == bool(words)
    for word in words:
        assert word in caplog.text


def test_later_failures_name_it_first():
    assert doubt(0.01) == suspicion(0.01) == ""
    found = Findings(3.0, {}, (), 0.0, doubt=suspicion(2.0))
    words = (
        r"mine\.yaml: recording: steps of 2 s between frames, .* unit right\? If it is, simulator"
    )
    with pytest.raises(PdsimError, match=words):
        found.check("mine.yaml")
