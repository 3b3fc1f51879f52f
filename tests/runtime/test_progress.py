import logging
import sys

from pdsim.runtime.progress import Progress


def test_a_log_gets_plain_lines_with_rate_and_remaining_time(caplog):
    with (
        caplog.at_level(logging.INFO, "pdsim"),
        Progress(100, 40, "iterations", interval=0.0) as progress,
    ):
        progress.advance(30, objective=-12.34567)
        progress.advance(30, objective=-1.0)
    first, last = (record.getMessage() for record in caplog.records)
    assert first.startswith("70/100 iterations, ")
    assert "/s, " in first
    assert " s left, objective -12.35" in first
    assert last.startswith("100/100 iterations, ")
    assert " 0 s left" in last


def test_lines_are_rare_but_the_last_is_always_there(caplog):
    with (
        caplog.at_level(logging.INFO, "pdsim"),
        Progress(50, 0, "iterations", interval=60.0) as progress,
    ):
        for _ in range(50):
            progress.advance(1)
    assert [record.getMessage().split()[0] for record in caplog.records] == ["50/50"]


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress(10, 0, "iterations") as progress:
        progress.advance(10, objective=3.0)
    shown = capsys.readouterr().err
    assert "10/10" in shown
    assert "objective=3" in shown
