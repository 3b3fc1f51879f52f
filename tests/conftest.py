"""Shared fixtures. Every test runs in float64; XLA programs are cached across runs."""

import os
from pathlib import Path

import pytest

from pdsim.runtime import device

ROOT = Path(__file__).parents[1]
device.configure("float64")


def pytest_collection_modifyitems(items):
    """Run the longest tests first, so that of two processes none waits for the other at the end."""
    items.sort(key=lambda item: item.path.parent.name != "workflow")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def ibm_dir() -> Path:
    """Folder of the real recordings; the tests that need them are skipped without."""
    for folder in (
        os.environ.get("PDSIM_IBM_DIR"),
        ROOT.parent / "shared/data/ibm_double_pendulum",
    ):
        if folder and (Path(folder) / "0.csv").is_file():
            return Path(folder)
    pytest.skip("the IBM recordings are not at hand; set PDSIM_IBM_DIR")
