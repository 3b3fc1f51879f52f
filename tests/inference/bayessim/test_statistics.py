import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.inference.bayessim.config import StatisticsConfig
from pdsim.inference.bayessim.scaling import scaling
from pdsim.inference.bayessim.signature import signature
from pdsim.inference.bayessim.statistics import STATISTICS

CONFIG = StatisticsConfig()


@pytest.fixture
def paths():
    """Three random walks in four channels, with a constant channel in the last."""
    x = np.random.default_rng(0).normal(size=(3, 401, 4)).cumsum(axis=1)
    x[2, :, 1] = 0.7
    return x


def of(name, x):
    return np.asarray(STATISTICS[name](jnp.asarray(x), CONFIG))


def test_downsampled_is_every_twentieth_state(paths):
    found = of("downsampled", paths)
    assert found.shape == (3, 21 * 4)
    np.testing.assert_array_equal(found[1].reshape(21, 4), paths[1, ::20])


def test_difference_is_of_successive_states(paths):
    found = of("difference", paths)
    tau = np.diff(paths, axis=1)
    assert found.shape == (3, 20 * 4 + 8)
    np.testing.assert_allclose(found[1, :80].reshape(20, 4), tau[1, ::20])
    np.testing.assert_allclose(found[:, 80:84], tau.mean(axis=1))
    np.testing.assert_allclose(found[:, 84:], tau.var(axis=1))


def test_summary_is_numpy_s(paths):
    found = of("summary", paths)
    assert found.shape == (3, 4 + 4 + 6 + 5 * 4)
    np.testing.assert_allclose(found[:, :4], paths.mean(axis=1))
    np.testing.assert_allclose(found[:, 4:8], paths.var(axis=1), atol=1e-12)
    expected = np.corrcoef(paths[0].T)[np.triu_indices(4, k=1)]
    np.testing.assert_allclose(found[0, 8:14], expected, rtol=1e-10)
    z = (paths[0] - paths[0].mean(axis=0)) / paths[0].std(axis=0)
    np.testing.assert_allclose(found[0, 14:18], (z[:-5] * z[5:]).mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found[0, 30:], (z[:-100] * z[100:]).mean(axis=0), rtol=1e-10)
    # A channel that does not move has no correlations, and no NaN.
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[2, 14:][1::4], 0.0, atol=1e-12)


def levels(x, depth):
    found = np.asarray(signature(jnp.asarray(x)[None], depth)[0])
    channels = x.shape[1]
    ends = np.cumsum([channels**k for k in range(1, depth + 1)])[:-1]
    return [part.reshape((channels,) * (k + 1)) for k, part in enumerate(np.split(found, ends))]


def test_signature_of_a_straight_line():
    """Level k is Δ^{⊗k} / k!, however the line is cut into pieces."""
    delta = np.array([0.5, -2.0, 3.0])
    share = np.array([0.0, 0.1, 0.15, 0.8, 1.0])
    one, two, three = levels(1.0 + share[:, None] * delta, 3)
    np.testing.assert_allclose(one, delta)
    np.testing.assert_allclose(two, np.einsum("i,j->ij", delta, delta) / 2)
    np.testing.assert_allclose(three, np.einsum("i,j,k->ijk", delta, delta, delta) / 6)


def test_signature_holds_the_signed_area():
    """Half of the antisymmetric part of level 2: π for the unit circle, counter-clockwise."""
    angle = np.linspace(0, 2 * np.pi, 2001)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    one, two = levels(circle, 2)
    np.testing.assert_allclose(one, 0.0, atol=1e-12)
    assert (two[0, 1] - two[1, 0]) / 2 == pytest.approx(np.pi, rel=1e-5)


def test_signature_shuffles():
    """S_i S_j = S_ij + S_ji for any path."""
    x = np.random.default_rng(1).normal(size=(30, 3))
    one, two, _ = levels(x, 3)
    np.testing.assert_allclose(np.outer(one, one), two + two.T, rtol=1e-9, atol=1e-12)


def test_signature_golden_values():
    """Against signax 0.2.1, depth 3."""
    x = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 2.0], [-0.3, 1.0]])
    golden = [
        -0.3, 1.0,
        0.045, 1.275, -1.575, 0.5,
        -0.0045, 0.48916667, -1.36083333, 0.09583333,
        0.91666667, 1.08333333, -1.32916667, 0.16666667,
    ]  # fmt: skip
    np.testing.assert_allclose(signature(jnp.asarray(x)[None], 3)[0], golden, atol=1e-8)


def test_scaling_is_not_moved_by_wild_simulations():
    x = np.random.default_rng(0).normal([1.0, -5.0, 2.0], [1.0, 3.0, 0.0], size=(5000, 3))
    x[:10] = 1e30
    scaled = scaling(x)(x)
    np.testing.assert_allclose(scaled[10:, :2].std(axis=0), 1.0, atol=0.03)
    np.testing.assert_array_equal(scaled[10:, 2], 0.0)
    assert np.abs(scaled).max() == 10.0
