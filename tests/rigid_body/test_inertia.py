"""Inertias that a body can have."""

import numpy as np
import pytest

from pdsim.rigid_body.inertia import (
    CHOLESKY,
    consistent,
    from_cholesky,
    from_linear,
    to_cholesky,
    to_linear,
)
from pdsim.runtime.errors import PdsimError

INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def of_points(seed: int, count: int = 12) -> dict[str, float]:
    """Mass, centre and inertia of points of mass: a body that can be."""
    random = np.random.default_rng(seed)
    masses, points = random.uniform(0.1, 1, count), random.normal(size=(count, 3))
    centre = masses @ points / masses.sum()
    away = points - centre
    second = (masses[:, None, None] * away[:, :, None] * away[:, None]).sum(axis=0)
    tensor = np.trace(second) * np.eye(3) - second
    found = {"body/b/mass": masses.sum()}
    found |= {f"body/b/com/{a}": c for a, c in zip("xyz", centre, strict=True)}
    at = ["xyz".index(e[0]) * 3 + "xyz".index(e[1]) for e in INERTIA]
    return found | {f"body/b/inertia/{e}": tensor.flat[k] for e, k in zip(INERTIA, at, strict=True)}


@pytest.mark.parametrize("seed", range(5))
def test_coordinates_give_back_the_body(seed):
    body = of_points(seed)
    found = from_cholesky(to_cholesky(body, "b"), "b")
    assert found.keys() == body.keys()
    np.testing.assert_allclose([float(found[k]) for k in body], list(body.values()), rtol=1e-12)


def test_any_coordinates_are_a_body_that_can_be():
    random = np.random.default_rng(0)
    for _ in range(50):
        values = dict(
            zip((f"body/b/cholesky/{k}" for k in CHOLESKY), random.normal(size=10), strict=True)
        )
        assert consistent(from_cholesky(values, "b"), "b")


def test_the_check_is_that_of_the_second_moments_eigenvalues():
    random = np.random.default_rng(1)
    seen = set()
    for seed in range(60):
        body = of_points(seed)
        for e in INERTIA:
            body[f"body/b/inertia/{e}"] += random.normal() * 3
        xx, yy, zz, xy, xz, yz = (body[f"body/b/inertia/{e}"] for e in INERTIA)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        possible = np.linalg.eigvalsh(np.trace(tensor) / 2 * np.eye(3) - tensor).min() > 0
        assert bool(consistent(body, "b")) == possible
        seen.add(possible)
    assert seen == {True, False}


def test_a_body_that_cannot_be_has_no_coordinates():
    body = of_points(0) | {"body/b/inertia/zz": 1e3}
    with pytest.raises(PdsimError, match=r"options.consistent: b has a mass of .* no body with"):
        to_cholesky(body, "b")


@pytest.mark.parametrize("seed", range(3))
def test_linear_coordinates_are_the_sums_over_the_points(seed):
    random = np.random.default_rng(seed)
    masses, points = random.uniform(0.1, 1, 12), random.normal(size=(12, 3))
    found = to_linear(of_points(seed), "b")
    # The inertia about the origin: ∫ |x|² 1 − x xᵀ dm.
    tensor = np.einsum(
        "n,nij->ij",
        masses,
        (points**2).sum(axis=1)[:, None, None] * np.eye(3) - points[:, :, None] * points[:, None],
    )
    for i, axis in enumerate("xyz"):
        np.testing.assert_allclose(found[f"body/b/moment/{axis}"], (masses @ points)[i])
    for e in INERTIA:
        i, j = ("xyz".index(letter) for letter in e)
        np.testing.assert_allclose(found[f"body/b/origin_inertia/{e}"], tensor[i, j], rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_linear_coordinates_give_back_the_body(seed):
    body = of_points(seed)
    found = from_linear(to_linear(body, "b"), "b")
    assert found.keys() == body.keys()
    np.testing.assert_allclose([found[k] for k in body], list(body.values()), rtol=1e-9)


def test_a_body_without_mass_has_no_linear_coordinates():
    body = to_linear(of_points(0), "b") | {"body/b/mass": 0.0}
    with pytest.raises(PdsimError, match=r"linear: the mass of b is 0.*; fix body/b/mass, seek it"):
        from_linear(body, "b")
