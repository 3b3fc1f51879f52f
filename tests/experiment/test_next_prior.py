"""A posterior file as the prior of another experiment."""

import copy
import logging

import jax.numpy as jnp
import numpy as np
import pytest
import yaml
from posteriors import write_posterior

from pdsim.cli.main import main
from pdsim.experiment.load import load_experiment
from pdsim.experiment.next_prior import with_next_prior
from pdsim.experiment.slices import slice_of
from pdsim.likelihood.noise import NoiseModel
from pdsim.parameters.space import Parameter
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import build_simulator

RUN = "least_squares_single"
# Of stiffness [N/m], and of the logarithm of the damping.
MEAN, DEVIATION, CORRELATION = np.array([20.0, np.log(0.6)]), np.array([0.4, 0.1]), 0.8
COVARIANCE = np.array([[1, CORRELATION], [CORRELATION, 1]]) * np.outer(DEVIATION, DEVIATION)


@pytest.fixture
def phases(root, tmp_path):
    """Two experiments with one oscillator; the second also seeks its gain, and no mass."""
    first = yaml.safe_load((root / "config/experiments/calibration_oscillator.yaml").read_text())
    for key in ("reference", "detailed", "landscape", "calibration"):
        first.pop(key, None)
    first["runs"] = [{"method": "least_squares", "shooting": "single"}]
    second = copy.deepcopy(first)
    first["simulator"]["parameters"]["mass"] = {"lower": 0.5, "upper": 2.0, "unit": "kg"}
    second["simulator"]["parameters"] = {
        "gain": {"lower": 0.5, "upper": 1.5, "unit": "-"},
        # Nothing is changed by other limits.
        "damping": {"lower": 0.1, "upper": 3.0, "unit": "N s/m", "scale": "log"},
        "stiffness": {"lower": 15.0, "upper": 30.0, "unit": "N/m"},
    }
    second["simulator"]["prior_from"] = {"experiment": "first", "run": RUN}

    def write(stem, values):
        path = tmp_path / f"{stem}.yaml"
        path.write_text(yaml.safe_dump(values, sort_keys=False))
        return path

    write("first", first)
    return first, second, write


def drawn(count=400, mean=MEAN, covariance=COVARIANCE):
    """Draws with exactly these moments, by name."""
    random = np.random.default_rng(5)
    noise = random.normal(size=(count, 2))
    noise = (noise - noise.mean(axis=0)) @ np.linalg.inv(
        np.linalg.cholesky(np.cov(noise, rowvar=False))
    ).T
    values = mean + noise @ np.linalg.cholesky(covariance).T
    mass = random.uniform(0.5, 2.0, count)
    return {"stiffness": values[:, 0], "damping": np.exp(values[:, 1]), "mass": mass}


def written(path, first, draws, kind="iid", run=RUN, diverging=()):
    """Write a posterior file of some draws."""
    lost = np.isin(np.arange(len(draws["mass"])), diverging)
    return write_posterior(
        path, draws, first["simulator"], stats={"diverging": lost}, sample_kind=kind, run=run
    )


def resolved(phases, path):
    _, second, write = phases
    return with_next_prior(load_experiment(write("second", second)), path)


def test_what_is_sought_in_both_has_the_gaussian_of_the_draws(phases, tmp_path):
    path = written(tmp_path / "posterior.nc", phases[0], drawn())
    simulator = resolved(phases, path).simulator
    joint = simulator.joint_prior
    # In the order of the second experiment; the mass is sought in the first alone.
    assert joint.parameters == ("damping", "stiffness")
    np.testing.assert_allclose(joint.mean, MEAN[::-1], rtol=1e-12)
    # The factor for 400 draws of two parameters.
    expected = COVARIANCE[::-1, ::-1] * 399 / 396
    np.testing.assert_allclose(joint.covariance, expected, rtol=1e-9)
    assert simulator.prior_from is None
    space = build_simulator(simulator).space
    draws = np.asarray(space.to_physical(jnp.asarray(space.sample_prior(4000, seed=1))))
    seen = np.stack([draws[:, 2], np.log(draws[:, 1])], axis=1)
    assert np.abs((seen.mean(axis=0) - MEAN) / DEVIATION).max() < 0.07
    assert np.corrcoef(seen, rowvar=False)[0, 1] == pytest.approx(CORRELATION, abs=0.03)
    # The gain keeps its own.
    assert draws[:, 0].std() == pytest.approx(1 / np.sqrt(12), rel=0.05)


def test_the_noise_of_a_likelihood_keeps_its_own_priors(phases, tmp_path):
    path = written(tmp_path / "posterior.nc", phases[0], drawn())
    space = build_simulator(resolved(phases, path).simulator).space
    noise = Parameter("sensor_x", 0.01, 1.0, "m", "log", "half_cauchy", median=0.1)
    whole = NoiseModel((0,), (noise,), (0.0, 0.0)).extend(space)
    u = jnp.asarray([[0.3, 0.6, 0.4, 0.7]])
    expected = space.log_prior(u[:, :3]) + noise.log_prior(u[:, 3])
    np.testing.assert_allclose(whole.log_prior(u), expected, rtol=1e-12)


def test_draws_that_did_not_roll_out_do_not_count(phases, tmp_path):
    draws = drawn()
    for name in ("stiffness", "damping"):
        draws[name] = np.append(draws[name], 9.0)
    draws["mass"] = np.append(draws["mass"], 1.0)
    path = written(tmp_path / "posterior.nc", phases[0], draws, diverging=(400,))
    np.testing.assert_allclose(resolved(phases, path).simulator.joint_prior.mean, MEAN[::-1])


def test_a_limit_that_cut_the_draws_is_taken_into_account(phases, tmp_path):
    """Half of a Gaussian about the first experiment's lower limit: its own moments are 10.4, 0.3."""
    first, second, _ = phases
    second["simulator"]["parameters"]["stiffness"]["lower"] = 5.0
    random, draws = np.random.default_rng(0), drawn(4000)
    draws["stiffness"] = 10.0 + 0.5 * np.abs(random.normal(size=4000))
    path = written(tmp_path / "posterior.nc", first, draws)
    joint = resolved(phases, path).simulator.joint_prior
    assert joint.mean[1] == pytest.approx(10.0, abs=0.15)
    assert np.sqrt(joint.covariance[1][1]) == pytest.approx(0.5, rel=0.15)


def test_what_the_posterior_says_is_part_of_every_fingerprint(phases, tmp_path):
    first, second, write = phases
    experiment = load_experiment(write("second", second))
    said = {
        slice_of("infer", with_next_prior(experiment, path), run=RUN, budget="quick")
        .model_dump_json()
        for path in (
            written(tmp_path / "one.nc", first, drawn()),
            written(tmp_path / "same.nc", first, drawn()),
            written(tmp_path / "other.nc", first, drawn(mean=MEAN + np.array([0.1, 0.0]))),
        )
    }  # fmt: skip
    assert len(said) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experiment": "none"}, "prior_from.experiment: .*none.yaml: no such file"),
        ({"run": "nobody"}, "prior_from.run: .* has no run 'nobody'"),
        ({"seed": 77}, "prior_from.seed: .* has seeds"),
    ],
)
def test_mistakes_are_told_when_the_config_is_checked(phases, change, message):
    _, second, write = phases
    second["simulator"]["prior_from"] |= change
    with pytest.raises(PdsimError, match=message):
        load_experiment(write("second", second))


NORMAL = {"prior": "normal", "mean": 20.0, "standard_deviation": 1.0}
JOINT = {"parameters": ["gain"], "mean": [1.0], "covariance": [[0.01]]}
MISMATCHES = {
    "nothing in common": (
        {"parameters": {"gain": {"lower": 0.5, "upper": 1.5, "unit": "-"}}},
        "no parameter is sought in both experiments: there stiffness, damping, mass, here gain",
    ),
    "another thing of one name": (
        {"parameters": {"stiffness": {"lower": 0.5, "upper": 1.5, "unit": "-", "sets": ["gain"]}}},
        "stiffness is in N/m there, and in - here",
    ),
    "another number of one unit": (
        {"parameters": {"mass": {"lower": 15, "upper": 30, "unit": "N/m", "sets": ["stiffness"]}}},
        "mass is in kg there, and in N/m here",
    ),
    "a prior of its own": (
        {"parameters": {"stiffness": {"lower": 15, "upper": 30, "unit": "N/m"} | NORMAL}},
        r"parameters.stiffness.prior: simulator.prior_from takes its place \(got 'normal'\)",
    ),
    "two joint priors": ({"joint_prior": JOINT}, "joint_prior and prior_from are both given"),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_parameters_that_do_not_go_together_are_refused(phases, case):
    change, message = MISMATCHES[case]
    _, second, write = phases
    second["simulator"] |= change
    with pytest.raises(PdsimError, match=message):
        load_experiment(write("second", second))


def test_one_name_for_two_numbers_of_one_unit_is_refused(phases):
    first, second, write = phases
    first["simulator"]["parameters"]["stiffness"]["sets"] = ["stiffness", "gain"]
    write("first", first)
    with pytest.raises(
        PdsimError, match="stiffness sets stiffness, gain there, and stiffness here"
    ):
        load_experiment(write("second", second))


def test_places_of_alike_bodies_are_refused(phases):
    """Their posterior has a mode for each naming; the second experiment still may seek others."""
    first, second, write = phases
    first["simulator"]["parameters"]["gain"] = {"lower": 0.5, "upper": 1.5, "unit": "-"}
    first["exchangeable"] = [["mass", "gain"], ["stiffness", "damping"]]
    write("first", first)
    with pytest.raises(PdsimError, match="prior_from: gain is exchangeable in first, so its"):
        load_experiment(write("second", second))


WITHOUT = {"kind": "point"}, "is a point, which has no width; name a run"
FEW = {"count": 8}, "has 8 different draws, and a covariance of 2 parameters needs 9"


@pytest.mark.parametrize(("options", "message"), [WITHOUT, FEW])
def test_a_posterior_that_tells_no_covariance_is_refused(phases, tmp_path, options, message):
    draws = drawn(options.pop("count", 400))
    path = written(tmp_path / "posterior.nc", phases[0], draws, **options)
    with pytest.raises(PdsimError, match=message):
        resolved(phases, path)


def test_draws_that_do_not_spread_are_refused(phases, tmp_path):
    constant = drawn() | {"damping": np.full(400, 0.6)}
    path = written(tmp_path / "posterior.nc", phases[0], constant)
    with pytest.raises(PdsimError, match="damping is the same in all draws; hold it in"):
        resolved(phases, path)
    draws = drawn()
    path = written(
        tmp_path / "posterior.nc", phases[0], draws | {"damping": draws["stiffness"] / 20}
    )
    with pytest.raises(PdsimError, match=r"draws of .* determine each other"):
        resolved(phases, path)


def test_draws_beyond_the_limits_are_told_and_many_are_refused(phases, tmp_path, caplog):
    _, second, _ = phases
    path = written(tmp_path / "posterior.nc", phases[0], drawn())
    limits = second["simulator"]["parameters"]["stiffness"]
    limits["upper"] = 20.9
    with caplog.at_level(logging.WARNING):
        joint = resolved(phases, path).simulator.joint_prior
    assert "of the draws of stiffness are beyond its limits 15 … 20.9 N/m" in caplog.text
    assert joint.mean[1] == pytest.approx(20.0)
    limits["upper"] = 20.4
    with pytest.raises(
        PdsimError, match=r"beyond its limits.*widen simulator.parameters.stiffness"
    ):
        resolved(phases, path)


def test_draws_on_a_limit_but_for_rounding_are_within(phases, tmp_path, caplog):
    draws = drawn()
    draws["stiffness"] = np.minimum(draws["stiffness"] + 9.8, 30.0) * (1 + 1e-9)
    assert (draws["stiffness"] > 30.0).mean() > 0.2
    path = written(tmp_path / "posterior.nc", phases[0], draws)
    with caplog.at_level(logging.WARNING):
        resolved(phases, path)
    assert "beyond its limits" not in caplog.text


def test_a_log_scale_needs_positive_draws(phases, tmp_path):
    draws = drawn()
    draws["damping"][3] = 0.0
    phases[0]["simulator"]["parameters"]["damping"] = {"lower": 0, "upper": 2, "unit": "N s/m"}
    path = written(tmp_path / "posterior.nc", phases[0], draws)
    with pytest.raises(PdsimError, match=r"damping has draws that are not positive.*scale: linear"):
        resolved(phases, path)


def test_a_posterior_that_is_missing_or_of_another_run_is_refused(phases, tmp_path, capsys):
    first, second, write = phases
    experiment = load_experiment(write("second", second))
    path = written(tmp_path / "posterior.nc", first, drawn(), run="another")
    with pytest.raises(PdsimError, match="is of run another, seed 0, but"):
        with_next_prior(experiment, path)
    with pytest.raises(PdsimError, match="--prior-from is given, but"):
        with_next_prior(load_experiment(tmp_path / "first.yaml"), path)
    files = ("--trajectories", "t.nc", "--output", str(tmp_path / "out.nc"))
    assert main(["infer", str(tmp_path / "second.yaml"), "--run", RUN, *files]) == 2
    assert "--prior-from is missing: simulator.prior_from asks for" in capsys.readouterr().err


WRONG = {
    "parameters: one is there twice": {"parameters": ["gain", "gain"], "mean": [1, 1]},
    "mean needs 1 values and covariance 1 rows of 1": {"mean": [1.0, 2.0]},
    "joint_prior.parameters: 'gian' is not estimated; did you mean 'gain'": {
        "parameters": ["gian"]
    },
    "is not symmetric": {
        "parameters": ["gain", "damping"],
        "mean": [1.0, 0.0],
        "covariance": [[0.01, 0.001], [0.0, 0.01]],
    },
    "is not positive definite": {"covariance": [[0.0]]},
}


@pytest.mark.parametrize("message", WRONG)
def test_a_joint_prior_by_hand_is_checked(phases, message):
    _, second, write = phases
    del second["simulator"]["prior_from"]
    second["simulator"]["joint_prior"] = JOINT
    path = write("second", second)
    assert build_simulator(load_experiment(path).simulator).space.joint.mean == (0.5,)
    second["simulator"]["joint_prior"] = JOINT | WRONG[message]
    with pytest.raises(PdsimError, match=message):
        load_experiment(write("second", second))
    second["simulator"]["joint_prior"] = JOINT
    second["simulator"]["parameters"]["gain"] |= NORMAL | {"mean": 1.0}
    with pytest.raises(PdsimError, match=r"parameters.gain.prior: joint_prior takes its place"):
        load_experiment(write("second", second))
