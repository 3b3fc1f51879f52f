"""Pairs hold what their parts do, and a program computes them once."""

import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.xla.pairs import in_pairs, once
from pdsim.xla.sincos import inlined_sincos, sincos


@once
def sum_and_product(x, y):
    return x + y, x * y


def test_a_pair_has_the_values_and_slopes_of_its_function():
    x, y = jnp.linspace(0.5, 2.0, 9), jnp.linspace(-1.0, 3.0, 9)

    def of(function):
        def total(x, y):
            a, b = function(x, y)
            return (a * jnp.sin(b)).sum()

        return total

    plain = of(sum_and_product.__wrapped__)
    for derivative in (lambda f: f, jax.grad, jax.hessian, jax.jacfwd):
        found = jax.jit(derivative(of(sum_and_product)))(x, y)
        np.testing.assert_allclose(found, derivative(plain)(x, y), rtol=1e-14)
    rows = jax.vmap(sum_and_product, in_axes=(0, None))(x, y)
    np.testing.assert_allclose(rows[1], jnp.outer(x, y), rtol=1e-15)


def _loops(program: str) -> int:
    """How many loops of a compiled program round an angle to quarter turns."""
    return len(re.findall(r" round-nearest-even\(", program))


def test_who_shares_sines_does_not_compute_them_anew():
    """XLA would put them into the loop of each of four results."""

    def four(angle, sines):
        s, c = sines(angle)
        return s * angle, c * angle, s + c, jnp.cumsum(s * c)

    def compiled(sines):
        angle = jax.ShapeDtypeStruct((64,), jnp.float64)
        return jax.jit(lambda x: four(x, sines)).lower(angle).compile().as_text()

    assert _loops(compiled(sincos)) == 1
    assert _loops(compiled(inlined_sincos)) > 1


def _packed() -> bool:
    x = jnp.arange(3.0)
    return "complex" in str(jax.make_jaxpr(lambda x: sum_and_product(x, x))(x))


def test_a_gpu_computes_the_function_as_it_is(monkeypatch):
    assert _packed()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert not _packed()


def test_where_xla_splits_loops_among_threads_the_function_is_as_it_is(monkeypatch):
    """It would split this one's, and fail: the library is used without ``device.configure``."""
    monkeypatch.setenv("XLA_FLAGS", "")
    assert not _packed()


LARGE = """
from pdsim.runtime import device
{configure}
import jax, jax.numpy as jnp
from pdsim.xla.sincos import sincos
def step(x, _):
    sine, cosine = sincos(x)
    return x + sine * cosine, None
print(jax.jit(lambda x: jax.lax.scan(step, x, length=3)[0])(jnp.ones((100, 500))).sum())
"""


@pytest.mark.parametrize("configure", ["device.configure()", "", "device.configure(cores=2)"])
def test_large_loops_of_pairs_are_compiled(configure):
    """With several threads of XLA, among which it would split a loop of this size."""
    environment = os.environ | {"NPROC": "4", "XLA_FLAGS": ""}
    script = LARGE.format(configure=configure)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]


@pytest.mark.parametrize("shapes", [[], [()], [(), ()], [(), (3,), (), (3,), (2, 3), ()]])
def test_what_is_joined_comes_apart_again(shapes):
    rng = np.random.default_rng(0)
    tree = {str(i): jnp.asarray(rng.normal(size=(5, *shape))) for i, shape in enumerate(shapes)}
    tree["count"] = jnp.arange(5)
    pairs, apart = in_pairs(tree, batch=1)
    numbers = shapes.count(())
    assert len(pairs) == 1 + len(shapes) - numbers // 2
    jax.tree.map(np.testing.assert_array_equal, apart(pairs), tree)


def test_slopes_in_pairs_are_those_in_their_parts():
    tree = {"a": jnp.array(2.0), "b": jnp.array(-0.5), "c": jnp.array(3.0)}

    def power(tree):
        return tree["a"] ** 3 * jnp.exp(tree["b"]) * tree["c"]

    def by_pairs(tree):
        pairs, apart = in_pairs(tree, batch=0)
        return power(apart(pairs))

    found, expected = (jax.grad(f)(tree) for f in (by_pairs, power))
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-15), found, expected)
