"""Stage ``train``: one density model on one input statistic."""

import json
import logging

import numpy as np
import xarray as xr

from pdsim.experiment.slices import Statistics
from pdsim.inference.bayessim.config import split_variant
from pdsim.inference.bayessim.density import as_arrays, network
from pdsim.inference.bayessim.kept import kept_halves
from pdsim.inference.bayessim.scaling import scaling
from pdsim.inference.bayessim.training import train as fit
from pdsim.runtime import device
from pdsim.runtime.files import checkpoint_of, read_dataset, write_dataset
from pdsim.runtime.provenance import code_fingerprint, fingerprint
from pdsim.stages import modules

log = logging.getLogger(__name__)


def train(options: Statistics, *, variant: str, seed: int, statistics: str, output: str) -> None:
    """Train a variant, and write its network with its losses.

    Args:
        variant: ``<statistic>_<density>``.
        seed: of weights and mini-batches.
    """
    device.configure(options.precision)
    config = options.model_dump(mode="json")
    density = options.bayessim.density
    data = read_dataset(statistics)
    held_out = data["held_out"].values
    ending, _ = kept_halves(held_out)
    raw, coordinates = data["simulated"].values, data["coordinates"].values
    scale = scaling(raw[~held_out])
    inputs = scale(raw)
    _, name = split_variant(variant)
    net = network(name, density, inputs[~held_out], coordinates.shape[1], seed)
    identity = fingerprint(
        config,
        {"variant": variant, "seed": seed},
        np.ascontiguousarray(raw).tobytes(),
        np.ascontiguousarray(coordinates).tobytes(),
        code_fingerprint(*modules("train")),
    )
    checkpoint = checkpoint_of(output)
    trained = fit(
        net,
        (inputs[~held_out], coordinates[~held_out]),
        (inputs[ending], coordinates[ending]),
        density,
        seed=seed,
        fingerprint=identity,
        checkpoint=checkpoint,
    )
    arrays = {
        name: ([f"{name}_{axis}" for axis in range(values.ndim)], values)
        for name, values in as_arrays(trained.network).items()
    }
    result = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(
                attrs={
                    "variant": variant,
                    "seed": seed,
                    "lost": data.attrs["lost"],
                    "simulation_count": len(held_out),
                    "fingerprint": identity,
                    "config": json.dumps(config, sort_keys=True),
                    **device.describe(),
                }
            ),
            "network": xr.Dataset(arrays),
            "scaling": xr.Dataset(
                {"centre": ("feature", scale.centre), "width": ("feature", scale.width)}
            ),
            "history": xr.Dataset(
                {name: ("epoch", values) for name, values in trained.history.items()}
            ),
        }
    )
    write_dataset(output, result)
    checkpoint.unlink(missing_ok=True)
    log.info(
        "%s: %d epochs, best held-out loss %.4g",
        output,
        len(trained.history["loss"]),
        trained.history["held_out_loss"].min(),
    )
