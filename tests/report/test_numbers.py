"""Numbers of a posterior file as sentences and tables show them."""

import xarray as xr

from pdsim.report.numbers import quantile_lines
from pdsim.runtime.files import write_dataset


def test_what_all_draws_have_alike_was_not_found(tmp_path):
    """Where friction is held at 0, so is its ratio to gravity's moment."""
    draws = {"ratio": [0.1, 0.2, 0.3, float("nan")], "held": [0.0, 0.0, 0.0, 0.0]}
    data = {x: ("draw", values, {"units": "s"}) for x, values in draws.items()}
    path = tmp_path / "posterior.nc"
    write_dataset(path, xr.DataTree.from_dict({"combinations": xr.Dataset(data)}))
    (line,) = quantile_lines(str(path), "combinations")
    assert (line.name, line.unit, line.median) == ("ratio", "s", "0.2")
    assert quantile_lines(str(path), "single") == []
