import numpy as np
import pytest
import yaml
from posteriors import write_posterior

from pdsim.cli.main import main
from pdsim.earlier import chosen_draw
from pdsim.experiment.earlier import with_earlier
from pdsim.experiment.load import load_experiment
from pdsim.posterior import read_posterior
from pdsim.runtime.errors import PdsimError
from pdsim.systems.simulator import build_simulator

RUN = "least_squares_single"


@pytest.fixture
def phases(root, tmp_path):
    """Two experiments with one oscillator: the second takes the stiffness that the first found."""
    first = yaml.safe_load((root / "config/experiments/calibration_oscillator.yaml").read_text())
    for key in ("reference", "detailed", "landscape", "calibration"):
        first.pop(key, None)
    first["runs"] = [{"method": "least_squares", "shooting": "single"}]
    second = yaml.safe_load(yaml.safe_dump(first))
    del second["simulator"]["parameters"]["stiffness"]
    del first["simulator"]["parameters"]["damping"]
    second["simulator"]["fixed_from"] = {"experiment": "first", "run": RUN}

    def write(stem, values):
        path = tmp_path / f"{stem}.yaml"
        path.write_text(yaml.safe_dump(values))
        return path

    write("first", first)
    return first, second, write


def posterior(path, first, run=RUN, draws=None):
    """Write the posterior of four draws; of the stiffness, if it is not told of what."""
    draws = draws or {"stiffness": [11.0, 12.0, 13.0, 14.0]}
    density = np.array([1.0, 5.0, 9.0, 2.0])
    return write_posterior(
        path,
        draws,
        first.get("simulator"),
        run=run,
        stats={"log_likelihood": density, "diverging": density == 9.0},
        settings={key: first[key] for key in ("exchangeable",) if key in first},
    )


# The draw of the highest density that has not diverged, and the mean of those.
@pytest.mark.parametrize(("draw", "value"), [("best", 12.0), ("mean", 37 / 3)])
def test_the_second_phase_holds_what_the_first_has_found(phases, tmp_path, draw, value):
    first, second, write = phases
    path = tmp_path / "posterior.nc"
    posterior(path, first)
    second["simulator"]["fixed_from"]["draw"] = draw
    experiment = with_earlier(load_experiment(write("second", second)), str(path))
    space = build_simulator(experiment.simulator).space
    assert space.names == ("damping",)
    assert dict(space.fixed)["stiffness"] == pytest.approx(value)
    assert experiment.simulator.fixed_from is None


def test_a_mean_of_alike_bodies_is_not_a_place_between_them(tmp_path):
    """The third draw has diverged, and the fourth names the bodies the other way."""
    places = {
        "a_x": [0.1, 0.12, 9.0, -0.1],
        "a_y": [0.0, 0.0, 9.0, 0.03],
        "b_x": [-0.1, -0.1, 9.0, 0.11],
        "b_y": [0.0, 0.0, 9.0, 0.0],
    }
    pairs = [["a_x", "a_y"], ["b_x", "b_y"]]
    path = tmp_path / "posterior.nc"
    posterior(path, {"exchangeable": pairs}, draws=places)
    expected = {"a_x": 0.11, "a_y": 0.0, "b_x": -0.1, "b_y": 0.01}
    assert chosen_draw(read_posterior(path), list(places), "mean") == pytest.approx(expected)
    assert chosen_draw(read_posterior(path), list(places), "best")["a_x"] == 0.12
    posterior(path, {}, draws=places)
    assert chosen_draw(read_posterior(path), list(places), "mean")["a_x"] == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experiment": "none"}, "fixed_from.experiment: .*none.yaml: no such file"),
        ({"run": "nobody"}, "fixed_from.run: .* has no run 'nobody'"),
        ({"seed": 77}, "fixed_from.seed: .* has seeds"),
    ],
)
def test_mistakes_are_told_when_the_config_is_checked(phases, change, message):
    _, second, write = phases
    second["simulator"]["fixed_from"] |= change
    with pytest.raises(PdsimError, match=message):
        load_experiment(write("second", second))


def test_what_was_found_cannot_be_given_or_sought_again(phases):
    first, second, write = phases
    second["simulator"]["fixed"] = {"stiffness": 20.0}
    with pytest.raises(PdsimError, match=r"but simulator.fixed gives it too"):
        load_experiment(write("second", second))
    second["simulator"]["fixed"] = {}
    second["simulator"]["parameters"] |= first["simulator"]["parameters"]
    with pytest.raises(PdsimError, match=r"but simulator.parameters.stiffness gives it too"):
        load_experiment(write("second", second))


def test_a_posterior_that_is_missing_or_of_another_run_is_refused(phases, tmp_path, capsys):
    first, second, write = phases
    experiment = load_experiment(write("second", second))
    path = tmp_path / "posterior.nc"
    posterior(path, first, "another")
    with pytest.raises(PdsimError, match="is of run another, seed 0, but"):
        with_earlier(experiment, str(path))
    with pytest.raises(PdsimError, match="--fixed-from is missing"):
        with_earlier(experiment, None)
    with pytest.raises(PdsimError, match="--fixed-from is given, but"):
        with_earlier(load_experiment(tmp_path / "first.yaml"), str(path))
    files = ("--trajectories", "t.nc", "--output", str(tmp_path / "out.nc"))
    assert main(["infer", str(tmp_path / "second.yaml"), "--run", RUN, *files]) == 2
    assert "--fixed-from is missing" in capsys.readouterr().err
