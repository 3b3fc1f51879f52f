from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from inference.targets import CONVERGING, ESTIMATORS, GaussianProblem, build, cases, gaussian

from pdsim.inference.runner import run
from pdsim.inference.stein import stein_direction
from pdsim.inference.svgd import Svgd
from pdsim.likelihood.problem import Position
from pdsim.runtime.errors import PdsimError

PROBLEM = gaussian([0.5, 0.4], np.diag([0.1**2, 0.05**2]))


# Trees of at most 15 steps: several iterations fit into a small budget.
SMALL = {"nuts": {"chain_count": 10, "doublings": 4}, "sgld": {"chain_count": 10}}
SMALL["nuts_separate"] = SMALL["nuts"]
# Those that compile for longest.
LONG = ("cem", "csvgd_particles", "csvgd_gradient")


def estimator(method="csvgd", iterations=60, particles=20):
    return build(method, particles=particles, iterations=iterations, settings=SMALL.get(method))


class Interruption(BaseException):
    pass


def interrupt_after(monkeypatch, chunks):
    """Let the runner save that many checkpoints, then stop it hard."""
    from pdsim.inference import runner

    saved = []

    def save(*args):
        runner_save(*args)
        saved.append(args)
        if len(saved) == chunks:
            raise Interruption

    runner_save = runner.save
    monkeypatch.setattr(runner, "save", save)


@pytest.mark.parametrize("method", cases(ESTIMATORS, slow=LONG))
def test_resume_continues_bit_by_bit(tmp_path, monkeypatch, method):
    """A run that is stopped goes on as if it had not been."""
    options = {"seed": 3, "chunk_size": 20, "fingerprint": "one"}
    whole = run(estimator(method), PROBLEM, **options)
    checkpoint = tmp_path / "checkpoint.npz"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1)
        with pytest.raises(Interruption):
            run(estimator(method), PROBLEM, checkpoint=checkpoint, **options)
    resumed = run(estimator(method), PROBLEM, checkpoint=checkpoint, resume="require", **options)
    one, other = (estimator(method).draws(PROBLEM, r.state).parameters for r in (whole, resumed))
    np.testing.assert_array_equal(one, other)
    for name in whole.history:
        if name != "seconds":
            np.testing.assert_array_equal(whole.history[name], resumed.history[name], err_msg=name)
    np.testing.assert_array_equal(whole.course["draws"], resumed.course["draws"])
    assert (np.diff(resumed.history["seconds"]) > 0).all()


def test_a_checkpoint_of_another_problem_is_refused(tmp_path, monkeypatch, caplog):
    checkpoint = tmp_path / "checkpoint.npz"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1)
        with pytest.raises(Interruption):
            run(
                estimator(),
                PROBLEM,
                seed=0,
                chunk_size=20,
                fingerprint="one",
                checkpoint=checkpoint,
            )
    options = {"seed": 0, "chunk_size": 20, "fingerprint": "another", "checkpoint": checkpoint}
    with pytest.raises(PdsimError, match="belongs to another problem"):
        run(estimator(), PROBLEM, resume="require", **options)
    fresh = run(estimator(), PROBLEM, resume="auto", **options)
    assert "not resuming" in caplog.text
    assert fresh.history["rollouts"][-1] == 60 * 20


def test_a_truncated_checkpoint_is_not_used(tmp_path, caplog):
    checkpoint = tmp_path / "checkpoint.npz"
    checkpoint.write_bytes(b"PK\x03\x04 half of a file")
    result = run(estimator(), PROBLEM, seed=0, chunk_size=20, checkpoint=checkpoint)
    assert "not a checkpoint" in caplog.text
    assert result.history["rollouts"][-1] == 60 * 20


def test_resume_can_be_required(tmp_path):
    with pytest.raises(PdsimError, match="no checkpoint"):
        run(
            estimator(), PROBLEM, seed=0, chunk_size=20, checkpoint=tmp_path / "c", resume="require"
        )


@pytest.mark.parametrize(
    ("method", "settings", "budget", "message"),
    [
        ("sgld", {"chain_count": 20}, (4, 2), r"up to 20 .* has 8 .* least 5.*chain_count"),
        ("nuts", {"chain_count": 1000}, (20, 10), r"up to 64000 .* has 200 .*chain_count"),
        ("csvgd", {}, (20, 3), r"up to 80 .* has 60 .* at least 4.*descent: gradient"),
        ("emcee", {}, (4, 1), r"up to 6 .* has 4 .*two walkers for each"),
    ],
)
def test_a_budget_below_one_iteration_is_refused(method, settings, budget, message):
    particles, iterations = budget
    e = build(method, particles=particles, iterations=iterations, settings=settings)
    with pytest.raises(PdsimError, match=message):
        run(e, PROBLEM, seed=0, chunk_size=10)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_the_smallest_budget_pays_for_a_first_result(method):
    """The cost that an estimator tells is the one that it has."""
    cost = estimator(method).least_budget(PROBLEM)
    e = estimator(method, iterations=-(-cost // 20))
    result = run(e, PROBLEM, seed=0, chunk_size=10)
    assert result.history["evaluations"].sum() <= 20 * e.iteration_count
    assert np.isfinite(e.draws(PROBLEM, result.state).parameters).all()


def test_draws_that_are_not_finite_fail_the_run():
    class Lossy(Svgd):
        def draws(self, problem, state):
            x, shooting = state.position
            return Position(x.at[:3, 1].set(jnp.nan), shooting)

    sound = estimator("svgd", iterations=2)
    lossy = Lossy(sound.settings, sound.particle_count, sound.iteration_count)
    with pytest.raises(PdsimError, match="3 of 20 draws are not finite"):
        run(lossy, PROBLEM, seed=0, chunk_size=10)


def test_a_method_reports_columns_of_its_own():
    history = run(estimator("csvgd_gradient"), PROBLEM, seed=0, chunk_size=20).history
    sigma = history["defect_deviation"]
    assert sigma[0] == pytest.approx(1.0)
    assert (np.diff(sigma) <= 0).all()
    assert sigma[-1] == pytest.approx(0.01)
    assert {"defect_multiplier", "limit_violation"} <= set(history)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Cliff(GaussianProblem):
    """A Gaussian whose simulator breaks for a first parameter above ``edge``."""

    # To JAX trees of classes with the same fields are equal, and may share programs.
    edge: float = field(default=0.7, metadata={"static": True})

    def evaluate(self, position):
        value, defects = super().evaluate(position)
        return jnp.where(position.parameters[:, 0] > self.edge, jnp.nan, value), defects


@pytest.fixture
def cliff():
    return Cliff(PROBLEM.mean, PROBLEM.precision, PROBLEM.space)


@pytest.mark.parametrize("method", cases(ESTIMATORS, slow=LONG))
def test_diverging_particles_do_not_poison_the_others(cliff, method):
    """Behind a cliff the likelihood is no number."""
    e = estimator(method, iterations=400, particles=50)
    result = run(e, cliff, seed=0, chunk_size=100)
    x = np.asarray(e.draws(cliff, result.state).parameters)
    assert np.isfinite(x).all()
    history = result.history
    walking = {"least_squares": 16, "nuts": 10, "nuts_separate": 10, "crank_nicolson": 12}
    walking |= dict.fromkeys(("csvgd", "csvgd_particles"), 50)
    walking = walking.get(method, history["evaluations"][0])
    # A third of the Sobol points start beyond the cliff: they were counted, and followed the rest,
    # some within the first iteration.
    # The first report of NUTS is of where the chains went, not of where they began.
    if not method.startswith("nuts"):
        starts = {"crank_nicolson": 4}.get(method, walking)
        assert history["diverging"][0] >= 0.15 * starts
    # The cliff is 2 σ from the mean, so some step over it now and then, and come back.
    if method == "csvgd":  # which ends with samples from wider tails than the posterior's
        assert history["diverging"][-50:].mean() < 0.1 * history["evaluations"][-1]
    else:
        # A third of the steps of Crank–Nicolson chains are random walks of 1.7 σ, of which 15 % end
        # there, and the others draw from a t, of which 5 % do: 9 % in all.
        share = 0.12 if method == "crank_nicolson" else 0.06
        assert history["diverging"][-50:].mean() < share * walking
    assert np.isfinite(result.history["log_likelihood"]).all()
    # 0.494: the Gaussian without its upper 2.3 %.
    assert x[:, 0].mean() == pytest.approx(0.494, abs=0.04)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_a_run_in_which_everything_diverges_says_so(method):
    """It ends with an error and not with a posterior."""
    hopeless = gaussian([np.nan, 0.5], np.diag([0.1**2, 0.1**2]))
    with pytest.raises(PdsimError, match="every particle"):
        run(estimator(method), hopeless, seed=0, chunk_size=20)


@pytest.mark.parametrize("method", [m for m in ESTIMATORS if m not in CONVERGING])
def test_a_time_limit_ends_a_run_with_what_it_has(method, caplog):
    """And says that it did."""
    e = estimator(method, iterations=10**6)
    result = run(e, PROBLEM, seed=0, chunk_size=10, seconds=0.5)
    assert result.ended == "time"
    assert "ended after" in caplog.text
    assert result.history["seconds"][-1] < 60
    assert np.isfinite(e.draws(PROBLEM, result.state).parameters).all()


def test_stein_direction_is_the_formula():
    """Eq. 1 by explicit loops, with a particle left out."""
    rng = np.random.default_rng(0)
    x, score = rng.uniform(size=(7, 3)), rng.normal(size=(7, 3))
    active = np.array([True] * 6 + [False])
    phi, h = stein_direction(jnp.asarray(x), jnp.asarray(score), jnp.asarray(active))
    pairs = [np.sum((x[i] - x[j]) ** 2) for i in range(6) for j in range(6) if i != j]
    assert float(h) == pytest.approx(np.median(pairs) / np.log(7))
    for i in range(7):
        expected = np.zeros(3)
        for j in range(6):
            k = np.exp(-np.sum((x[i] - x[j]) ** 2) / float(h))
            expected += k * score[j] + 2 / float(h) * (x[i] - x[j]) * k
        np.testing.assert_allclose(phi[i], expected / 6, rtol=1e-10)
