"""The tree of a No-U-Turn transition, grown by one leapfrog step at a time.

Hoffman and Gelman (2014) with multinomial draws (Betancourt, 2017): a trajectory is doubled to a
random side until it turns round, and a point of it is the new draw. Chains that each grow a tree
are all asked for one step at a time, so none waits for another whose trajectory is longer: one that
has its draw begins the next tree. Whether a branch turns round inside is checked while it grows,
against the leaves that begin its parts (Phan, Pradhan and Jankowiak, 2019).

A chain that is more than ``LEAD`` draws ahead of the slowest waits: draws are compared row by row,
and what one has beyond the others' is lost in the end.

Momenta p are those of coordinates y in which the mass matrix is one, z = z₀ + L y with L Lᵀ its
inverse, so that energy and turning are dot products:

    p ← p + (ε/2) Lᵀ ∇log π(z)      z ← z + ε L p      p ← p + (ε/2) Lᵀ ∇log π(z)
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pdsim.inference.chains import choose
from pdsim.inference.gradients import value_and_gradient
from pdsim.inference.target import Evaluation, Target

# A leaf whose energy is this far above the start's ends the tree (Stan's).
_DIVERGING = 1000.0
# Draws that a chain may be ahead of the slowest.
LEAD = 50


class Point(NamedTuple):
    """A position and what its evaluation told.

    Attributes:
        z: (dimension,).
        value: its log density.
        slope: gradient of that, (dimension,).
        seen: what else there is to report.
    """

    z: jax.Array
    value: jax.Array
    slope: jax.Array
    seen: Evaluation


class End(NamedTuple):
    """Where a trajectory can go on: position, momentum, slope, (dimension,) each."""

    z: jax.Array
    momentum: jax.Array
    slope: jax.Array


class Branch(NamedTuple):
    """The half that is being added to a tree.

    Attributes:
        side: 1.0 if it grows forwards in time, else −1.0.
        tip: its last leaf, or the tree's end where it has none yet.
        leaves: how many it has.
        momentum: sum over its leaves, (dimension,).
        log_weight: logarithm of the sum of exp(−energy) over its leaves, the start's taken as 1.
        proposal: one of its leaves, drawn in proportion to exp(−energy).
        begun: momenta of the leaves that begin its parts, of all sizes, (doubling, dimension).
        sums: of the momenta up to and with those leaves.
    """

    side: jax.Array
    tip: End
    leaves: jax.Array
    momentum: jax.Array
    log_weight: jax.Array
    proposal: Point
    begun: jax.Array
    sums: jax.Array


class Tree(NamedTuple):
    """A trajectory so far.

    Attributes:
        step_size: ε of all its steps.
        energy: at its start.
        first, last: its ends in time.
        momentum: sum over its leaves, (dimension,).
        log_weight: as a branch's.
        proposal: the draw, were the tree to end here.
        depth: doublings done.
        branch: what is being added.
        steps: leapfrog steps taken.
        acceptance: sum over them of min(1, exp(−energy)).
    """

    step_size: jax.Array
    energy: jax.Array
    first: End
    last: End
    momentum: jax.Array
    log_weight: jax.Array
    proposal: Point
    depth: jax.Array
    branch: Branch
    steps: jax.Array
    acceptance: jax.Array

    @property
    def rate(self) -> jax.Array:
        """Mean acceptance over the steps."""
        return self.acceptance / jnp.maximum(self.steps, 1)


def plant(key: jax.Array, point: Point, step_size: jax.Array, doublings: int) -> Tree:
    """Return the tree that is one point, with a new momentum, and may double ``doublings`` times.

    Args:
        point: of one chain.
    """
    for_momentum, for_side = jax.random.split(key)
    dtype = point.z.dtype
    momentum = jax.random.normal(for_momentum, point.z.shape, dtype)
    end = End(point.z, momentum, point.slope)
    nothing = jnp.zeros((doublings, *point.z.shape), dtype)
    return Tree(
        step_size=jnp.asarray(step_size, dtype),
        energy=_kinetic(momentum) - point.value,
        first=end,
        last=end,
        momentum=momentum,
        log_weight=jnp.zeros((), dtype),
        proposal=point,
        depth=jnp.array(0),
        branch=_branch(for_side, end, end, point, nothing),
        steps=jnp.array(0),
        acceptance=jnp.zeros((), dtype),
    )


@jax.jit
def evaluated(target: Target, z: jax.Array) -> Point:
    """Evaluate positions (chain, dimension); every leaf has chains in front."""
    return _points(target, z)


def _points(target: Target, z: jax.Array) -> Point:
    value, slope, seen = value_and_gradient(type(target).log_density, target, z)
    return Point(z, value, slope, seen)


def grow(keys: jax.Array, trees: Tree, roots: jax.Array, target: Target) -> tuple[Tree, jax.Array]:
    """Take one leapfrog step in the tree of each chain.

    Args:
        keys: one of each chain.
        trees: chains in front.
        roots: L of each chain, (chain, dimension, dimension), or of all, (dimension, dimension).

    Returns:
        The trees, and which have ended, (chain,): their proposals then are the draws.
    """
    own = 0 if roots.ndim == 3 else None
    z, momenta = jax.vmap(_drift, (0, own))(trees, roots)
    leaves = _points(target, z)
    return jax.vmap(_extend, (0, 0, own, 0, 0))(keys, trees, roots, leaves, momenta)


def _drift(tree: Tree, root: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the next leaf's position, and the momentum half a step before it."""
    step, tip = tree.step_size * tree.branch.side, tree.branch.tip
    momentum = tip.momentum + 0.5 * step * root.T @ tip.slope
    return tip.z + step * root @ momentum, momentum


def _extend(
    key: jax.Array, tree: Tree, root: jax.Array, leaf: Point, momentum: jax.Array
) -> tuple[Tree, jax.Array]:
    """Add the leaf that ``_drift`` led to; return the tree, and whether it has ended."""
    for_leaf, for_branch, for_side = jax.random.split(key, 3)
    branch, doublings = tree.branch, len(tree.branch.begun)
    momentum = momentum + 0.5 * tree.step_size * branch.side * root.T @ leaf.slope
    log_weight = tree.energy + leaf.value - _kinetic(momentum)
    log_weight = jnp.where(jnp.isnan(log_weight), -jnp.inf, log_weight)
    tip = End(leaf.z, momentum, leaf.slope)
    number, total = branch.leaves, branch.momentum + momentum

    # Bits of the leaf's number tell which parts it ends, or that it begins some.
    level = jax.lax.population_count(number >> 1)
    ends = jax.lax.population_count(number & ~(number + 1))
    levels = jnp.arange(doublings)
    part = total - branch.sums + branch.begun
    turned = (levels > level - ends) & (levels <= level) & _turns(branch.begun, momentum, part)
    begins = ((levels == level) & (number % 2 == 0))[:, None]

    weight = jnp.logaddexp(branch.log_weight, log_weight)
    taken = jnp.log(jax.random.uniform(for_leaf, dtype=weight.dtype)) < log_weight - weight
    grown = Branch(
        side=branch.side,
        tip=tip,
        leaves=number + 1,
        momentum=total,
        log_weight=weight,
        proposal=choose(taken, leaf, branch.proposal),
        begun=jnp.where(begins, momentum, branch.begun),
        sums=jnp.where(begins, total, branch.sums),
    )
    broken = (log_weight < -_DIVERGING) | turned.any()
    full = ~broken & (grown.leaves == 1 << tree.depth)

    # A whole branch becomes part of the tree, and is the likelier to have the draw.
    moves = jnp.log(jax.random.uniform(for_branch, dtype=weight.dtype)) < weight - tree.log_weight
    forwards = branch.side > 0
    first, last = choose(forwards, (tree.first, tip), (tip, tree.last))
    joined = tree._replace(
        first=first,
        last=last,
        momentum=tree.momentum + total,
        log_weight=jnp.logaddexp(tree.log_weight, weight),
        proposal=choose(moves, grown.proposal, tree.proposal),
        depth=tree.depth + 1,
        branch=_branch(for_side, first, last, leaf, jnp.zeros_like(branch.begun)),
    )
    whole = _turns(first.momentum, last.momentum, joined.momentum) | (joined.depth == doublings)
    new = choose(full, joined, tree._replace(branch=grown))
    new = new._replace(
        steps=tree.steps + 1,
        acceptance=tree.acceptance + jnp.exp(jnp.minimum(log_weight, 0.0)),
    )
    return new, broken | (full & whole)


def _branch(key: jax.Array, first: End, last: End, point: Point, nothing: jax.Array) -> Branch:
    """A branch without leaves on a random side of a tree."""
    dtype = point.z.dtype
    forwards = jax.random.bernoulli(key)
    return Branch(
        side=jnp.where(forwards, 1.0, -1.0).astype(dtype),
        tip=choose(forwards, last, first),
        leaves=jnp.array(0),
        momentum=jnp.zeros_like(point.z),
        log_weight=jnp.array(-jnp.inf, dtype),
        proposal=point,
        begun=nothing,
        sums=nothing,
    )


def _kinetic(momentum: jax.Array) -> jax.Array:
    return 0.5 * momentum @ momentum


def _turns(first: jax.Array, last: jax.Array, total: jax.Array) -> jax.Array:
    """Whether a trajectory with these momenta at its ends, and this sum of all, turns round.

    The sum has the ends by half: their distance by the trapezoidal rule.
    """
    apart = total - 0.5 * (first + last)
    return ((first * apart).sum(-1) <= 0) | ((last * apart).sum(-1) <= 0)
