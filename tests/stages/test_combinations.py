"""What the motion can determine is part of every system's posterior file."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pdsim import registry
from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.posterior import combination_group
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.systems.simulator import Simulator

ARM = Path(__file__).parents[1] / "rigid_body" / "arm.xml"
NEEDED = {"articulated": {"model": str(ARM)}}
SYSTEMS = [(name, NEEDED.get(name, {})) for name in registry.NAMES["systems"]] + [
    ("double_pendulum", {"motors": True}),
    ("double_pendulum", {"parameters": "base"}),
]


@pytest.mark.parametrize(("name", "options"), SYSTEMS)
def test_combinations_of_every_system_go_through_files(tmp_path, name, options):
    module = registry.load("systems", name)
    system = module.build(module.Options.model_validate(options))
    first, *others = system.parameters
    space = ParameterSpace(
        (Parameter(first, 0.5, 1.5, system.parameters[first].unit, sets=(first,)),),
        tuple((other, system.parameters[other].default) for other in others),
    )
    draws = np.linspace(0.6, 1.4, 12).reshape(3, 4, 1)
    group = combination_group(Simulator(system, space, 1), draws)
    path = tmp_path / "posterior.nc"
    write_dataset(path, xr.DataTree.from_dict({"/": xr.Dataset(), "combinations": group}))
    found = read_dataset(path, "combinations")
    assert set(found.data_vars) == set(group.data_vars)
    for number in np.ndindex(3, 4):
        parameters = {other: system.parameters[other].default for other in others}
        expected = system.combinations(parameters | {first: draws[number][0]})
        for key, (value, unit) in expected.items():
            assert float(found[key][number]) == pytest.approx(float(value), rel=1e-12)
            assert found[key].attrs["units"] == unit
