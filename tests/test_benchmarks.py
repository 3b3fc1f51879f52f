"""What the programs in benchmarks/ share."""

import math
import runpy

import pytest


@pytest.fixture
def fits(root, tmp_path, monkeypatch):
    """Names of ``benchmarks/fits.py``, in a folder of its own for what it writes."""
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(root / "benchmarks/fits.py"))


def test_rows_with_other_columns_than_the_first_keep_their_values(fits, capsys):
    fits["write"]("table", {"old": {"error": 1.0, "k": 0.5}, "new": {"error": 2.0, "r_hat": 1.01}})
    found = fits["finished"]("table")
    assert found["new"]["r_hat"] == 1.01
    assert math.isnan(found["new"]["k"]) and math.isnan(found["old"]["r_hat"])
    assert [row["error"] for row in found.values()] == [1.0, 2.0]
    assert "r_hat" in capsys.readouterr().out
