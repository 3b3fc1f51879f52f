"""Trees of the No-U-Turn sampler against the recursion that defines them, and against exact draws."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from pdsim.inference import tree
from pdsim.inference.chains import Waiting
from pdsim.inference.divergence import keep_rows
from pdsim.inference.target import Evaluation

DOUBLINGS = 6
WALL = -0.3
LOGISTIC = stats.logistic(0, 0.5)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Skewed:
    """z₀ is normal, and z₁ − z₀/2 logistic of scale 1/2, but never below the wall.

    Its slopes are not the density's: draws have to be right nevertheless.
    """

    gradient_block = None

    def log_density(self, z):
        apart = z[:, 1] - 0.5 * z[:, 0]
        value = -0.5 * z[:, 0] ** 2 - 2 * jnp.log(jnp.cosh(apart))
        wrong = 0.35 * z[:, 0] ** 2 - 0.4 * apart**2
        value = jnp.where(apart < WALL, -jnp.inf, value + wrong - jax.lax.stop_gradient(wrong))
        return value, Evaluation(value, 0 * value)

    def slope(self, z):
        apart = z[1] - 0.5 * z[0]
        fall = 2 * np.tanh(apart) + 0.8 * apart
        return np.array([-0.3 * z[0] + 0.5 * fall, -fall])

    def value(self, z):
        apart = z[1] - 0.5 * z[0]
        return -np.inf if apart < WALL else -0.5 * z[0] ** 2 - 2 * np.log(np.cosh(apart))


def plant(keys, draws, step_size):
    return jax.vmap(tree.plant, (0, 0, None, None))(keys, draws, step_size, DOUBLINGS)


@partial(jax.jit, static_argnames="step_size")
def advance(key, draws, trees, root, step_size):
    """One leapfrog step of every chain; trees that end are followed by the next."""
    for_leaf, for_tree = jax.random.split(key)
    count = len(draws.z)
    grown, ended = tree.grow(jax.random.split(for_leaf, count), trees, root, Skewed())
    draws = keep_rows(ended, grown.proposal, draws)
    following = plant(jax.random.split(for_tree, count), draws, step_size)
    return draws, keep_rows(ended, following, grown), ended, grown


def turns(momenta):
    apart = sum(momenta) - 0.5 * (momenta[0] + momenta[-1])
    return momenta[0] @ apart <= 0 or momenta[-1] @ apart <= 0


class Recursion:
    """A branch of 2^depth leaves, built of two halves of which none may turn (Algorithm 3)."""

    def __init__(self, root, step, start):
        self.root, self.step, self.start, self.taken = root, step, start, 0
        self.target = Skewed()

    def energy(self, z, p):
        return 0.5 * p @ p - self.target.value(z)

    def leapfrog(self, z, p):
        self.taken += 1
        p = p + 0.5 * self.step * self.root.T @ self.target.slope(z)
        z = z + self.step * self.root @ p
        return z, p + 0.5 * self.step * self.root.T @ self.target.slope(z)

    def build(self, z, p, depth):
        """The momenta in the order of their making, or None if it breaks; and its last leaf."""
        if depth == 0:
            z, p = self.leapfrog(z, p)
            return ([p] if self.energy(z, p) - self.start < 1000 else None), z, p
        first, z, p = self.build(z, p, depth - 1)
        if first is None:
            return None, z, p
        second, z, p = self.build(z, p, depth - 1)
        whole = None if second is None or turns(first + second) else first + second
        return whole, z, p


def recursive(root, step_size, z, p, sides):
    """Leapfrog steps of a tree, and its ends' momenta."""
    ends = {-1.0: (z, p), 1.0: (z, p)}
    momenta, taken = [p], 0
    start = Recursion(root, step_size, 0.0).energy(z, p)
    for depth, side in enumerate(sides):
        one = Recursion(root, step_size * side, start)
        added, *end = one.build(*ends[side], depth)
        taken += one.taken
        if added is None:
            break
        ends[side] = tuple(end)
        momenta = momenta + added if side > 0 else added[::-1] + momenta
        if turns(momenta):
            break
    return taken, momenta[0], momenta[-1]


@pytest.mark.parametrize("step_size", (0.12, 0.3, 1.1, 60.0))
def test_trees_are_those_of_the_recursion(step_size):
    """Every tree has the leaves and the ends of Algorithm 3's with its momentum and its sides."""
    root = jnp.array([[0.8, 0.0], [0.3, 0.5]])
    draws = tree.evaluated(Skewed(), jnp.array([[0.3, 0.2]]))
    trees = plant(jax.random.split(jax.random.key(1), 1), draws, step_size)
    start, sides, sizes = trees, [], set()
    for number in range(700):
        if int(trees.branch.leaves[0]) == 0:
            sides.append(float(trees.branch.side[0]))
        key = jax.random.fold_in(jax.random.key(0), number)
        draws, trees, ended, grown = advance(key, draws, trees, root, step_size)
        if ended[0]:
            z, p = np.asarray(start.first.z[0]), np.asarray(start.first.momentum[0])
            taken, first, last = recursive(np.asarray(root), step_size, z, p, sides)
            assert taken == int(grown.steps[0])
            np.testing.assert_allclose(first, grown.first.momentum[0], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(last, grown.last.momentum[0], rtol=1e-9, atol=1e-9)
            start, sides = trees, []
            sizes.add(taken)
    # Steps that are too long end every tree at its first leaf.
    assert sizes == {1} if step_size > 10 else len(sizes) > 2


@pytest.mark.parametrize(("step_size", "count"), ((0.4, 20_000), (1.1, 100_000)))
def test_exact_draws_stay_exact(step_size, count):
    """Chains that start at draws of the density, five transitions on, in long trees and short."""
    wanted = 5
    random = np.random.default_rng(0)
    lowest = LOGISTIC.cdf(WALL)
    normal, apart = random.normal(size=count), LOGISTIC.ppf(random.uniform(lowest, 1, size=count))
    z = jnp.array([normal, 0.5 * normal + apart]).T
    root = jnp.array([[0.9, 0.0], [-0.4, 1.2]])
    draws = tree.evaluated(Skewed(), z)
    trees = plant(jax.random.split(jax.random.key(3), count), draws, step_size)
    done, found, lengths = np.zeros(count, int), np.empty((count, 2)), set()
    number = 0
    while (done < wanted).any():
        key = jax.random.fold_in(jax.random.key(4), number)
        draws, trees, ended, grown = advance(key, draws, trees, root, step_size)
        done += np.asarray(ended)
        there = np.asarray(ended) & (done == wanted)
        found[there] = np.asarray(draws.z)[there]
        lengths |= set(np.asarray(grown.steps)[np.asarray(ended)].tolist())
        number += 1
    apart = LOGISTIC.cdf(found[:, 1] - 0.5 * found[:, 0])
    shares = stats.norm.cdf(found[:, 0]), (apart - lowest) / (1 - lowest)
    # Both are even, and know nothing of each other.
    table, *_ = np.histogram2d(*shares, bins=6, range=[[0, 1], [0, 1]])
    assert stats.chisquare(table.ravel()).pvalue > 1e-4
    # Chains have moved, in trees of many lengths, and none waited for the longest.
    assert abs(np.corrcoef(found[:, 0], normal)[0, 1]) < 0.8
    assert len(lengths) > 4 and number < wanted * max(lengths)


def test_draws_of_chains_that_are_ahead_wait():
    random = np.random.default_rng(5)
    chains = 4
    z = random.normal(size=(60, chains, 2))
    moved = random.uniform(size=(60, chains)) < [0.9, 0.5, 0.2, 0.5]
    recorded = np.arange(60)[:, None] >= [10, 20, 30, 5]
    waiting, rows, own = Waiting.none(z[0]), [], []
    for begin, end in ((0, 1), (1, 30), (30, 33), (33, 60)):
        part = slice(begin, end)
        more, flags, waiting = waiting.lined_up(z[part], moved[part], recorded[part])
        rows.append(more)
        own.append(flags)
    rows, own = np.concatenate(rows), np.concatenate(own)
    assert len(rows) == moved.sum(axis=0).min() == moved[:, 2].sum()
    for chain in range(chains):
        mine = moved[:, chain]
        every = np.concatenate([rows[:, chain], waiting.z[: waiting.length[chain], chain]])
        np.testing.assert_array_equal(every, z[mine, chain])
    flags = np.array([recorded[moved[:, c], c][: len(rows)] for c in range(chains)])
    np.testing.assert_array_equal(own, flags.all(axis=0))
