import logging
import re
import sys

import pytest

from pdsim.runtime import progress as module
from pdsim.runtime.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that is put forward by hand: ``clock[0] += seconds``."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, "pdsim")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_log_gets_plain_lines_with_rate_and_remaining_time(clock, lines):
    with Progress(100, 40, "iterations", interval=0.0) as progress:
        for seconds, objective in ((50, -12.34567), (2, -2.0), (8, -1.0)):
            clock[0] += seconds
            progress.advance(20, objective=objective)
    assert lines() == [
        "40/100 iterations, compiling",
        # Fifty seconds of compilation are no rate.
        "60/100 iterations, remaining time not known yet, objective -12.35",
        "80/100 iterations, 10/s, 2 s left, objective -2",
        "100/100 iterations, 4/s, 0 s left, objective -1",
    ]


def test_the_rate_is_the_recent_one(clock, lines):
    """Fast for ten minutes, then slow: the remaining time is that of the slow pace."""
    with Progress(10_000, 0, "steps", interval=0.0) as progress:
        for seconds in [1.0] * 600 + [10.0] * 20:
            clock[0] += seconds
            progress.advance(10)
    assert lines()[-1] == "6200/10000 steps, 1/s, 3800 s left"


def test_work_of_one_step_ends_without_a_rate(clock, lines):
    with Progress(5, 0, "steps") as progress:
        clock[0] += 3.0
        progress.advance(5)
    assert lines()[-1] == "5/5 steps, 0 s left"


def test_lines_are_rare_but_the_last_is_always_there(clock, lines):
    with Progress(50, 0, "iterations", interval=60.0) as progress:
        for _ in range(50):
            clock[0] += 2.0
            progress.advance(1)
    assert [line.split()[0] for line in lines()] == ["0/50", "30/50", "50/50"]


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress(10, 0, "iterations") as progress:
        progress.advance(4, objective=3.5)
        progress.advance(6, objective=3.0)
    shown = re.split(r"\r", capsys.readouterr().err)
    assert "compiling" in shown[1] and "0/10" in shown[1]
    # The first step compiled: the clock starts behind it, without a rate.
    first = next(text for text in shown if "4/10" in text)
    assert "compiling" not in first and "00:00<?" in first
    assert "10/10" in shown[-1] and "objective=3" in shown[-1]
