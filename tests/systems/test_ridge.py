"""From base parameters back to links: the prior's law, given what the motion determines."""

import numpy as np
import pytest
from reference import CROOKED
from scipy import stats
from tiers import slow

from pdsim.parameters.space import Parameter, ParameterSpace
from pdsim.runtime.errors import PdsimError
from pdsim.systems.double_pendulum import Options
from pdsim.systems.pendulum_links import base_parameters, ridge
from pdsim.systems.ridge import Ridge, recover

FREE = ridge(Options())
GRAVITY = ("gravity", 9.81)
BOX = {
    "mass_1": (0.05, 0.5),
    "inertia_1": (1e-5, 5e-3, "log"),
    "com_x_1": (-0.05, 0.05),
    "com_y_1": (0.0, 0.1),
    "friction_1": (1e-6, 1e-2, "log"),
    "length": (0.05, 0.2),
    "mass_2": (0.02, 0.5),
    "inertia_2": (1e-5, 5e-3, "log"),
    "com_x_2": (-0.05, 0.05),
    "com_y_2": (0.0, 0.1),
    "friction_2": (1e-6, 1e-2, "log"),
}
MOTORS = {
    "rotor_inertia_1": (1e-6, 1e-3, "log"),
    "rotor_inertia_2": (1e-6, 1e-3, "log"),
    "dry_friction_1": (0.0, 0.1),
    "dry_friction_2": (0.0, 0.1),
}
DRY = ("dry_friction_1", "dry_friction_2")
DRAG = {"drag_1": (0.0, 1e-4), "drag_2": (0.0, 1e-4)}
ARM = {"drag_arm": (0.05, 0.2)}


def space(box, **fixed):
    """Flat on each scale; what is fixed is left out of the box."""

    def parameter(name, lower, upper, scale="linear"):
        flat = "log_uniform" if scale == "log" else "uniform"
        return Parameter(name, lower, upper, "SI", scale, flat, sets=(name,))

    estimated = tuple(parameter(name, *box[name]) for name in box if name not in fixed)
    return ParameterSpace(estimated, (*fixed.items(), GRAVITY))


def prior_draws(prior, count, seed):
    """Parameters by name, (count,) each."""
    values = np.asarray(prior.to_physical(prior.sample_prior(count, seed)))
    return dict(zip(prior.names, values.T, strict=True)) | dict(prior.fixed)


def over_scale(base):
    alike = ("length", "gravity", *ARM)
    return {name: value if name in alike else value / base["S1y"] for name, value in base.items()}


@pytest.mark.parametrize(
    ("kind", "fixed"),
    [
        ("free", {}),
        slow("free", {"mass_1": 0.2}),
        slow("free", {"com_x_1": 0.0}),
        slow("air", {}),
        ("motors", {}),
    ],
    ids=["free", "mass_1 known", "symmetric", "dry friction and drag", "motors"],
)
def test_recovered_links_follow_the_prior(kind, fixed):
    """Prior draws pushed to base parameters and recovered from these are prior draws again.

    With the base parameters that were given, and jointly with them: where the parameters left free
    lie with J1 and S2y has the rank correlation of the prior's own draws.
    """
    motors, air = kind == "motors", {name: MOTORS[name] for name in DRY} | DRAG | ARM
    prior = space(BOX | {"free": {}, "air": air, "motors": MOTORS}[kind], **fixed)
    back = ridge(Options(motors=motors, dry_friction=kind == "air", air_drag=kind == "air"))
    links = prior_draws(prior, 500, seed=11)
    base = base_parameters(links) if motors else over_scale(base_parameters(links))
    found = recover(back, base, prior, points=2048, seed=12)
    kept = found.effective > 0
    assert np.all(np.isfinite(found.values[kept]))
    assert np.all(np.isnan(found.values[~kept]))
    # Without a point are the few whose ridge hardly touches the box.
    assert found.missing == np.sum(~kept) < 10
    coordinates = np.asarray(prior.to_coordinates(found.values))[kept]
    assert coordinates.min() >= 0
    assert coordinates.max() <= 1
    for i, name in enumerate(prior.names):
        assert stats.kstest(coordinates[:, i], "uniform").pvalue > 1e-4, name
    recovered = dict(zip(prior.names, found.values[kept].T, strict=True)) | dict(prior.fixed)
    again = base_parameters(recovered)
    for name, value in (again if motors else over_scale(again)).items():
        expected = np.broadcast_to(base[name], kept.shape)[kept]
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-12, err_msg=name)
    for name in set(back.free) & set(prior.names):
        for other in ("J1", "S2y"):
            one = stats.spearmanr(recovered[name], base[other][kept])[0]
            assert one == pytest.approx(stats.spearmanr(links[name], base[other])[0], abs=0.15)


def test_no_links_within_the_limits_is_nan_and_counted():
    prior = space(BOX)
    base = over_scale(base_parameters(CROOKED))
    base["length"] = np.array([0.092, 0.3])  # the second is beyond the box
    found = recover(FREE, base, prior)
    assert found.missing == 1
    assert np.all(np.isfinite(found.values[0]))
    assert np.all(np.isnan(found.values[1]))
    # Nor are there any where a fixed parameter contradicts the base parameters.
    known = space(BOX, com_x_1=0.01)
    assert recover(FREE, base | {"length": 0.092, "S1x": 0.0}, known).missing == 1


def test_the_density_on_a_line_has_its_closed_form():
    """a b = c with a and b flat on [1, 2]: p(a | c) ∝ 1 / a where c / a is within the limits."""
    prior = ParameterSpace(tuple(Parameter(name, 1.0, 2.0, "-", sets=(name,)) for name in "ab"))
    line = Ridge(("a",), {"b": "c"}, lambda base, free: free | {"b": base["c"] / free["a"]})
    found = recover(line, {"c": np.full(2000, 1.5)}, prior, points=256)
    a, b = found.values.T
    np.testing.assert_allclose(a * b, 1.5, rtol=1e-12)
    assert stats.kstest(np.log(a) / np.log(1.5), "uniform").pvalue > 1e-3


def test_a_prior_without_single_parameters_of_the_ridge_is_refused():
    both = ParameterSpace((Parameter("link_1", 0.0, 1.0, "m", sets=("com_y_1", "length")),))
    with pytest.raises(PdsimError, match="com_y_1, length"):
        recover(FREE, {}, both)
    with pytest.raises(PdsimError, match="nothing is left"):
        recover(FREE, {}, space(BOX, mass_1=0.2, mass_2=0.1, com_y_1=0.05))
