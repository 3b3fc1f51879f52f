"""Cases of a test that wait for the slow tier."""

import pytest


def slow(*values):
    """A case that `make slow` runs and `make test` does not; the others guard the same."""
    return pytest.param(*values, marks=pytest.mark.slow)
