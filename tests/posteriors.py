"""Posterior files as an estimator's job writes them, with draws that a test chooses."""

import json

import numpy as np
import xarray as xr

from pdsim.runtime.files import write_dataset

DIMS = ("chain", "draw")


def section(draws, *, system="oscillator", unit="kg", lower=-100.0, upper=100.0):
    """A section ``simulator`` that estimates what there are draws of."""
    entry = {"lower": lower, "upper": upper, "unit": unit}
    return {"system": system, "parameters": dict.fromkeys(draws, entry)}


def write_posterior(
    path, draws, simulator=None, *, stats=None, settings=None, groups=None, **attributes
):
    """Write a posterior file.

    Args:
        draws: name → values (draw,).
        simulator: section of the experiment; default: ``section(draws)``.
        stats: name → values (draw,), in place of zeros.
        settings: more sections of the job.
        groups: name → dataset, beside the others.
        attributes: in place of those of an SVGD run; None takes one away.
    """
    simulator = simulator or section(draws)
    count = len(next(iter(draws.values())))
    root = {
        "run": "svgd_single", "method": "svgd", "shooting": "single", "seed": 0,
        "sample_kind": "particles", "fingerprint": "0" * 64,
        "config": json.dumps({"simulator": simulator} | (settings or {})),
    } | attributes  # fmt: skip
    posterior = {}
    for name, values in draws.items():
        entry = simulator["parameters"].get(name, {})
        attrs = {"units": entry["unit"]} if "unit" in entry else {}
        attrs |= {key: entry[key] for key in ("lower", "upper") if key in entry}
        posterior[name] = (DIMS, np.asarray(values, float)[None], attrs)
    found = {name: np.zeros(count) for name in ("log_likelihood", "log_prior")}
    found |= {"diverging": np.zeros(count, bool)} | (stats or {})
    groups = (groups or {}) | {
        "/": xr.Dataset(attrs={k: v for k, v in root.items() if v is not None}),
        "posterior": xr.Dataset(posterior),
        "sample_stats": xr.Dataset(
            {name: (DIMS, np.asarray(v)[None]) for name, v in found.items() if v is not None}
        ),
    }
    write_dataset(path, xr.DataTree.from_dict(groups))
    return str(path)
