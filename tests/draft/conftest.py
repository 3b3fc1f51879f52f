"""Two swings of a pendulum as tables, and as the project reads them."""

import pytest
from draft.swings import swing, write_csv

from pdsim.draft.stamps import guess_time
from pdsim.draft.tables import Asked, guess_channels, read_tables
from pdsim.recordings import table
from pdsim.systems.double_pendulum import Options, build


@pytest.fixture(scope="session")
def swings():
    """Two swings of four seconds."""
    return [swing((1.2, 0.4), 800, 0), swing((-1.0, 0.8), 800, 1)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory, swings):
    """The swings as tables, ``swing a.csv`` and ``swing b.csv``."""
    place = tmp_path_factory.mktemp("mine")
    for letter, angles in zip("ab", swings, strict=True):
        write_csv(place / f"swing {letter}.csv", angles)
    return place


@pytest.fixture(scope="session")
def runs(folder):
    """The swings as the project reads them once their columns are guessed."""
    tables = read_tables([str(path) for path in sorted(folder.glob("*.csv"))])
    system = build(Options())
    time, step = guess_time(tables, Asked())
    channels = guess_channels(tables, system, Asked(), time, step)
    config = table.Config.model_validate(
        {
            "source": "table",
            "files": {run: str(path) for run, path in tables.files.items()},
            "channels": channels.values,
            **time.values,
        }
    )
    return {run: table.read(config, run, str(path), system) for run, path in tables.files.items()}
