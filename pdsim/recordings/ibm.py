"""The IBM "Double Pendulum Chaotic" recordings (Asseman, Kornuta, Ozcan, 2018).

21 runs of one physical double pendulum before a high-speed camera, licence CDLA-Sharing-1.0. The
publisher's own server is gone; a public copy is downloaded when no local folder is named.
"""

import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from pdsim.recordings.markers import check_markers, read_markers
from pdsim.recordings.recording import Recording
from pdsim.recordings.segments import NumberedRuns
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular, sha256, write_atomically
from pdsim.systems.system import System

PUBLIC_COPY = (
    "https://raw.githubusercontent.com/erwincoumans/tiny-differentiable-simulator/"
    "8381b8c9ad7f0a959548e4982eb8a63431a842d2/data/ibm-double-pendulum/original/dpc_dataset_csv"
)
FOLDER_VARIABLE = "PDSIM_IBM_DIR"
SHA256 = {
    0: "0c02780291f4d19c1e92ad45c0f8e958ae15413def5834b98dd4c6935ad3adbd",
    1: "11bc145e34c0745a71881ec48089cda43da2171ee3e4081ba24d335acbfa1f2e",
    2: "94d326951762fd133a549a4c8b2de81c97d330e6dbe997407b8b367d7a73c3bd",
    3: "3d8e91f8e52cee26de41ae32081aabd9e2463ad423a59e9714d78bb402f48547",
    4: "8c20addd10d5ab78df894927ec4ae1a278eaf56d96b1ed3ed49dcbea076217ae",
    5: "dbd310a7e512d46b7e9e0d16b932d965746ef46685055fb5031f6ecfa094c465",
    6: "79e0a9b415fa6e4e59ce016f2f6fcee759a9a9491d58ffde6e73303eab3f506e",
    7: "c16496123e485c4d29d8c62a761e7d889d89a38acb638ee43f087e6ff300df3e",
    8: "2ef747e2ba1cf8f31af766a3905632e6efd0e65dd95aca08fdfb546ce8ce38d0",
    9: "a32078daa3b914f510dfd5645ad7ca655ac4a736f2423a41606e6030e623427b",
    10: "a7042a4efde78b017fcab37defa73624efd92f8bacf1a87085044ccd9b3fdcde",
    11: "3e33ed1cc0cd81afd90e4738c51f1801ce4885439b138febf7909578a30b858c",
    12: "ccdde6af4e65200389a85480b3a34c183cef5affff4a11f43d81cc565d64fded",
    13: "a16d1fbb7da0c8a13a154d75da78f2863ea7aeb32408804537a1f36bf7e8cc44",
    14: "bdaaad2e81d70b2cfe9759f4a934153cfd0ac2e8c7d59572e4558c6c80f5840d",
    15: "fd93d1a5bf03b9fd3876c3dcf7cda45f3faefd1b7d1e5fa3f1a5ad103915f891",
    16: "8698d6df71114b8b15ff2c90b501167baf77072347bd716dbe7f1b472161f4a6",
    17: "90347861a2e574935c1cab0ed377cea1196645901aec0484ebdc6e60b13660c8",
    18: "980201de83bc13ea932b996e0151060131dbe964aabe4dc7d71fc9dfabb84a72",
    19: "5615a0ef2371527a9275986488c30dc180f30ea4011b7d2e6085c07d4d8a849f",
    20: "a89ead7ed464e28c04370de80d2011e78c4f213154d37c928cd8a9b4184a6101",
}


class Config(NumberedRuns):
    """The IBM "Double Pendulum Chaotic" recordings: `source: ibm`."""

    source: Literal["ibm"] = Field(description="the data source")
    marker_offsets: bool = Field(
        False,
        description="whether markers sit beside the axes of the joints: by how much is found in "
        "each run, over all of its frames, from the lengths of its links, which do not change",
    )

    @model_validator(mode="after")
    def _check_runs(self) -> "Config":
        unknown = [run for run in self.run_numbers() if run not in SHA256]
        if unknown:
            raise ValueError(f"run {unknown[0]} does not exist: there are 0 to {max(SHA256)}")
        return self


def check(config: Config, system: System) -> None:
    """Refuse a system that does not go with this source."""
    del config
    check_markers(system)


def channels(config: Config, system: System) -> list[str]:
    """Return the channels that hold values."""
    del config
    return [channel.name for channel in system.channels]


def truths(config: Config, defaults: dict[str, float]) -> list[dict[str, float]]:
    """Nobody knows."""
    del config, defaults
    return []


def files(config: Config, folder: str) -> dict[str, str]:
    """Return the raw file of each run; the workflow downloads those that are not there."""
    return {str(run): f"{folder}/{run}.csv" for run in config.run_numbers()}


def read(config: Config, run: str, path: str, system: System) -> Recording:
    """Read a run, checked against its published SHA-256."""
    check_file(path, int(run))
    return read_markers(path, run, 1 / config.rate_hz, system, offsets=config.marker_offsets)


def local_folder(configured: str | None) -> str | None:
    """Return the folder the user named: the config's, else the environment's."""
    return configured or os.environ.get(FOLDER_VARIABLE) or None


def check_file(path: str | Path, run: int) -> str:
    """Return the file's SHA-256, or refuse a file that is not the published run."""
    if run not in SHA256:
        raise PdsimError(f"the IBM recordings have runs 0 to {max(SHA256)}, not {run}")
    check_regular(path, f"run {run} of the IBM recordings")
    if not Path(path).is_file():
        raise PdsimError(
            f"{path}: no such file; name a folder that holds the IBM recordings as config key "
            f"ibm_dir or environment variable {FOLDER_VARIABLE}, or unset both to download them"
        )
    found = sha256(path)
    if found != SHA256[run]:
        raise PdsimError(
            f"{path}: SHA-256 {found} is not that of run {run} ({SHA256[run]}); "
            "the file is damaged or another one: replace it"
        )
    return found


def download(run: int, path: str | Path, timeout: float = 30.0) -> None:
    """Fetch one run from the public copy and check it before it gets its name."""
    if run not in SHA256:
        raise PdsimError(f"the IBM recordings have runs 0 to {max(SHA256)}, not {run}")
    url = f"{PUBLIC_COPY}/{run}.csv"
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            content = response.read()
    except (urllib.error.URLError, OSError) as error:
        raise PdsimError(
            f"run {run} of the IBM recordings is not at hand. Either name a folder that holds "
            f"{run}.csv, as config key ibm_dir or environment variable {FOLDER_VARIABLE}; or let "
            f"this machine reach {url} (tried: {error})"
        ) from error

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)
        check_file(temporary, run)

    write_atomically(path, write)
