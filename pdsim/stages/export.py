"""Stage ``export``: draws of a posterior for domain randomisation, a table and robots' files.

``draws.csv`` has one row per draw and one column per parameter, in the units of the experiment. Of
a robot from a model file there is a file in MJCF for each draw besides, ``robot_000.xml`` and so
on, with the numbers of that draw.
"""

import logging
from pathlib import Path
from typing import cast

import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr

from pdsim.posterior import PosteriorFile, read_posterior
from pdsim.runtime import device
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import check_regular, read_dataset, write_folder_atomically
from pdsim.runtime.memory import physical_memory
from pdsim.systems.config import SimulatorConfig
from pdsim.systems.simulator import Simulator, build_simulator

log = logging.getLogger(__name__)

# Of a table: its numbers, its text, and what pandas holds between them.
_COPIES = 8
# Files of one folder, above which file systems and those who list it become slow.
_MOST_ROBOTS = 100_000


def export(posterior: str, *, count: int, seed: int, output: str, force: bool = False) -> None:
    """Write a folder of draws.

    Args:
        posterior: file of any run.
        count: draws, chosen at random; each once, unless there are fewer.
        seed: of the choice.
        output: a folder that is not there yet.
        force: as in ``pdsim.posterior.read_posterior``.

    Raises:
        PdsimError: the folder is there already, the file is no posterior or has no draw that can be
            simulated, or the model's file has changed since.
    """
    device.configure()
    found = read_posterior(posterior, force=force)
    simulator_config = SimulatorConfig.model_validate(found.settings["simulator"])
    simulator = build_simulator(simulator_config)
    if _has_file(simulator_config) and count > _MOST_ROBOTS:
        raise PdsimError(
            f"--count {count:,}: each draw is a robot's file, and a folder takes {_MOST_ROBOTS:,}; "
            "lower --count, or export in parts, each with its --seed"
        )
    single = None if simulator_config.single is None else read_dataset(posterior, "single")
    table = _draws(found, single, count, seed)
    robots = _robots(simulator_config, simulator, table) if _has_file(simulator_config) else []

    def write(folder: Path) -> None:
        table.to_csv(folder / "draws.csv", index_label="draw")
        for number, text in enumerate(robots):
            (folder / f"robot_{number:03d}.xml").write_text(text)

    write_folder_atomically(output, write, own=lambda folder: False)
    log.info("%s: %d draws, %d robots", output, len(table), len(robots))


def _has_file(config: SimulatorConfig) -> bool:
    return config.system == "articulated"


def _draws(
    posterior: PosteriorFile, single: xr.Dataset | None, count: int, seed: int
) -> pd.DataFrame:
    """Some draws by the parameters' names; a name that comes twice has its group before it."""
    path = posterior.path
    columns = {name: posterior.draws[name].values.ravel() for name in posterior.parameters}
    for name, values in ({} if single is None else single.data_vars).items():
        if name != "effective":
            own = f"single_{name}" if name in columns else str(name)
            columns[own] = values.values.ravel()
    table = pd.DataFrame(columns)
    table = table[np.isfinite(table.to_numpy()).all(axis=1) & ~posterior.diverging]
    if table.empty:
        raise PdsimError(f"{path}: no draw has a finite roll-out, so there is none to export")
    memory = physical_memory()
    if memory is not None and count > (most := memory // (_COPIES * 8 * (1 + len(columns)))):
        raise PdsimError(
            f"--count {count:,}: this machine's memory holds {most:,} rows of {len(columns)} "
            "parameters; lower --count"
        )
    random = np.random.default_rng(seed)
    chosen = random.choice(len(table), count, replace=count > len(table))
    if count > len(table):
        log.warning("%s: has %d draws, so some come more than once", path, len(table))
    return table.iloc[chosen].reset_index(drop=True)


def _robots(config: SimulatorConfig, simulator: Simulator, table: pd.DataFrame) -> list[str]:
    """The robot's file with the numbers of each draw."""
    from pdsim.rigid_body.fingerprint import fingerprint
    from pdsim.rigid_body.inertia import is_coordinate
    from pdsim.rigid_body.load import load_model
    from pdsim.rigid_body.model_text import WANTED
    from pdsim.rigid_body.write import to_mjcf, writable
    from pdsim.systems.articulated import Articulated

    system = cast(Articulated, simulator.system)
    path, space = Path(config.options["model"]), simulator.space
    check_regular(path, WANTED)
    if not path.is_file():
        raise PdsimError(f"{path}: no such file, and the draws are numbers of it")
    if fingerprint(path) != config.options["sha256"]:
        raise PdsimError(
            f"{path}: it or a file that it reads has changed since the posterior was made; infer "
            "it again"
        )
    model = load_model(path, tuple(config.options.get("ignore", ())))
    physical = jnp.asarray(table[list(space.names)].to_numpy())
    defaults = {name: one.default for name, one in system.parameters.items()}
    texts, left_out = [], set()
    for coordinates in space.to_coordinates(physical):
        numbers = {k: float(v) for k, v in space.system_parameters(coordinates).items()}
        changed = {name: value for name, value in numbers.items() if value != defaults[name]}
        changed |= system.bodies(numbers)
        left_out |= {name for name in changed if not writable(name) and not is_coordinate(name)}
        kept = {name: value for name, value in changed.items() if writable(name)}
        texts.append(to_mjcf(path, model, kept))
    if left_out:
        log.warning("no part of MJCF, in draws.csv alone: %s", ", ".join(sorted(left_out)))
    return texts
