import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.control.conformal import rank, sample_count, score


@pytest.mark.parametrize("risk, count", [(0.2, 4), (0.1, 9), (0.05, 19), (0.01, 99)])
def test_the_fewest_samples_of_a_bound_are_those_of_the_document(risk, count):
    assert sample_count(risk) == count
    assert rank(count, risk) == count
    assert rank(count - 1, risk) is None


@pytest.mark.parametrize("risk, count", [(0.2, 5), (0.1, 10), (0.05, 20), (0.01, 100)])
def test_with_the_tables_counts_too_the_bound_is_the_worst_sample(risk, count):
    assert rank(count, risk) == count


@pytest.mark.parametrize("risk", [0.1, 1 - 0.9, 0.3 - 0.2])
def test_rounding_of_the_risk_decides_nothing(risk):
    """In floating point (1 − δ)/δ of 1 − 0.9 is above 9, so that ten samples would be asked for."""
    assert sample_count(risk) == 9
    assert [rank(count, risk) for count in (8, 9, 19, 39)] == [None, 9, 18, 36]


def test_too_few_samples_bound_nothing():
    assert float(score(jnp.array([1.0, 2.0]), 0.1)) == -np.inf


def test_more_samples_give_a_quantile():
    values = np.random.default_rng(0).permutation(np.arange(39.0))
    # Rank 36 of ρ = −h from below is the fourth smallest h.
    assert float(score(jnp.asarray(values), 0.1)) == 3.0


@pytest.mark.parametrize("count, risk", [(9, 0.1), (10, 0.1), (39, 0.1), (20, 0.2)])
def test_a_fresh_draw_is_covered_as_often_as_the_rank_says(count, risk):
    """Of exchangeable draws, exactly r/(P + 1) of the further ones are within the bound."""
    trials = 20000
    draws = jax.random.normal(jax.random.key(count), (trials, count + 1)) ** 3
    covered = np.asarray(draws[:, -1] >= score(draws[:, :-1], risk))
    expected = rank(count, risk) / (count + 1)
    assert expected >= 1 - risk
    error = np.sqrt(expected * (1 - expected) / trials)
    assert abs(covered.mean() - expected) < 4 * error


def test_a_winner_chosen_with_its_own_test_s_draws_is_covered_less_often():
    """Why there is ``verify_fresh``: the best of many sequences owes it to the draws."""
    trials, sequences, count = 4000, 30, 9
    noise = jax.random.normal(jax.random.key(0), (trials, sequences, 2 * count + 1))
    chosen, fresh, further = noise[..., :count], noise[..., count:-1], noise[..., -1]
    best = jnp.argmax(score(chosen, 0.1), axis=1)[:, None]
    later = jnp.take_along_axis(further, best, axis=1)[:, 0]

    def covered(draws):
        bound = jnp.take_along_axis(score(draws, 0.1), best, axis=1)[:, 0]
        return float(jnp.mean(later >= bound))

    assert covered(chosen) < 0.8
    assert covered(fresh) == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / trials))
