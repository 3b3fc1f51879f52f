"""Chains that need no slopes: Crank–Nicolson steps about a Gaussian, for dear likelihoods.

With m and C the mean and the covariance of a Gaussian that is near to the posterior, in logits,
here the one of least squares, a step is

    λ | z ~ Gamma((ν + D)/2, (ν + q(z))/2)      q(z) = (z − m)ᵀ C⁻¹ (z − m)
    z' = m + √(1 − β²) (z − m) + β N(0, C/λ)

which leaves Student's t about m with ν degrees of freedom unchanged: given λ, a Gaussian's
autoregression of the first order, and λ is drawn anew. So z' is accepted with the change of p/t
alone,

    min(1, p(z') t(z) / (p(z) t(z')))      log t = −(ν + D)/2 log(1 + q/ν)

and steps are as long in many dimensions as in few, as far as the posterior is like the t. A
Gaussian in its place (ν → ∞) would hold chains in tails that are heavier than its own (Cotter,
Roberts, Stuart and White, MCMC methods for functions, 2013; Rudolf and Sprungk, 2018; with the
scale drawn, Kamatani, 2018). One step in three is a random walk with C instead, which asks for p
alone: where p/t is large, in a tail of another shape, Crank and Nicolson's steps are refused.

The slopes of marginal shooting are approximate; these chains do without. An evaluation is one value
of the likelihood.

Chains start as ``fitted_chains`` says. The warm-up tunes β to an acceptance, and moves m and C from
the fit's towards those of the draws of all chains, in windows of growing length; then all are held.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from pydantic import Field, model_validator

from pdsim.inference.chains import ChainSettings, Moves, choose
from pdsim.inference.estimator import Info, summarise
from pdsim.inference.fitted_chains import (
    FIRST_WINDOW,
    FittedChains,
    Gaussian,
    Moments,
)
from pdsim.inference.target import Evaluation, Target
from pdsim.likelihood.problem import Problem
from pdsim.settings.section import Count
from pdsim.xla.cores import over_cores

# ν: tails heavier than most posteriors'.
_FREEDOM = 5.0
# Share of the steps that are a random walk, and √D times their length (Gelman, Roberts and Gilks,
# 1996).
_WALKS, _WALK = 1 / 3, 2.4
# β at first and at most, and how fast it is tuned.
_STEP, _LONGEST, _GAIN = 0.4, 0.98, 0.5
# Draws, for each dimension, that count as much as the Gaussian before them; those of chains depend
# on one another.
_DRAWS_PER_DIMENSION = 200


class Settings(ChainSettings):
    """Crank–Nicolson chains about the Gaussian of a fit; no slopes but the fit's."""

    burn_in: float = Field(0.0, ge=0, lt=1, description="share left out beyond the warm-up")
    chain_count: Count = Field(12, description="chains side by side")
    fit_count: Count = Field(4, description="starts of the least squares that chains begin from")
    fit: float = Field(
        0.2, ge=0, lt=1, description="largest share of the evaluations that fits the starts"
    )
    warmup: float = Field(
        0.3,
        gt=0,
        lt=1,
        description="share of the evaluations that adapts, counted from the end of the fit",
    )
    target_acceptance: float = Field(0.3, gt=0, lt=1, description="that the step is tuned to")

    @model_validator(mode="after")
    def _check(self) -> "Settings":
        if self.fit + self.warmup >= 1:
            raise ValueError(
                f"fit ({self.fit:g}) and warmup ({self.warmup:g}) are shares of one budget and "
                "leave nothing to sample with; lower one"
            )
        return self


class Sampler(NamedTuple):
    """The chains and what they share.

    Attributes:
        z: positions, (chain, D).
        value: their log density, (chain,).
        seen: their likelihood and defects, (chain,) each.
        centre, root: m and a Cholesky factor of C.
        log_step: log β.
        moments: of the draws since m and C last moved.
        iteration: how many were done since the fit.
        window_end: iteration at which m and C move.
        spent: evaluations since the fit.
    """

    z: jax.Array
    value: jax.Array
    seen: Evaluation
    centre: jax.Array
    root: jax.Array
    log_step: jax.Array
    moments: Moments
    iteration: jax.Array
    window_end: jax.Array
    spent: jax.Array


@dataclass(frozen=True)
class CrankNicolson(FittedChains):
    """Chains from fits, about one Gaussian."""

    settings: Settings
    # Those of the fit are tangent roll-outs, which count as roll-outs.
    uses_gradients: ClassVar[bool] = False
    cheaper: ClassVar[str] = "lower chain_count or fit_count"

    @property
    def fit_count(self) -> int:
        return self.settings.fit_count

    def cost(self, problem: Problem) -> int:
        return max(self.walkers(problem), self.fit_cost(problem))

    def recorded(self, state: Sampler) -> Moves:
        return Moves(state.z, ~self.adapting(state))

    def lost(self, sampler: Sampler) -> jax.Array:
        return ~jnp.isfinite(sampler.value)

    def begin(self, problem: Problem, z: jax.Array, about: Gaussian) -> Sampler:
        value, seen = _evaluated(self.target(problem), z)
        return Sampler(
            z,
            value,
            seen,
            about.centre,
            jnp.linalg.cholesky(about.covariance),
            jnp.log(jnp.asarray(_STEP, z.dtype)),
            Moments.none(z.shape[1], z.dtype),
            jnp.array(0),
            jnp.array(FIRST_WINDOW),
            jnp.array(0),
        )

    def step(self, key: jax.Array, problem: Problem, state: Sampler) -> tuple[Sampler, Info]:
        chains, dimension = state.z.shape
        dtype = state.z.dtype
        for_scale, for_step, for_choice, for_kind = jax.random.split(key, 4)
        step = jnp.exp(state.log_step)
        walks = jax.random.uniform(for_kind) < _WALKS
        # In coordinates in which the Gaussian is a standard one.
        y = jax.scipy.linalg.solve_triangular(state.root, (state.z - state.centre).T, lower=True).T
        square = (y**2).sum(axis=1)
        gamma = jax.random.gamma(for_scale, 0.5 * (_FREEDOM + dimension), (chains,), dtype)
        scale = gamma / (0.5 * (_FREEDOM + square))
        noise = jax.random.normal(for_step, y.shape, dtype)
        ahead = jnp.where(
            walks,
            y + (_WALK / dimension**0.5) * noise,
            jnp.sqrt(1 - step**2) * y + step * noise / jnp.sqrt(scale)[:, None],
        )
        z = state.centre + ahead @ state.root.T
        tried, evaluation = self._log_density(problem, z)

        change = tried - state.value + jnp.where(walks, 0.0, _log_t(y) - _log_t(ahead))
        change = jnp.where(jnp.isfinite(tried), change, -jnp.inf)
        taken = jnp.log(jax.random.uniform(for_choice, (chains,), dtype)) < change
        rate = jnp.exp(jnp.minimum(change, 0.0)).mean()
        value, seen = choose(taken, (tried, evaluation), (state.value, state.seen))
        position = jnp.where(taken[:, None], z, state.z)

        held = (state.log_step, state.moments, state.centre, state.root, state.window_end)
        adapted = self._adapted(state, position, jnp.where(walks, jnp.nan, rate))
        log_step, moments, centre, root, window_end = choose(self.adapting(state), adapted, held)
        new = Sampler(
            position,
            value,
            seen,
            centre,
            root,
            log_step,
            moments,
            state.iteration + 1,
            window_end,
            state.spent + chains,
        )
        report = summarise(
            jnp.isfinite(value), *seen, evaluations=chains, step_size=step, acceptance=rate
        )
        return new, report._replace(diverging=(~jnp.isfinite(tried)).sum())

    def _log_density(self, problem: Problem, z: jax.Array) -> tuple[jax.Array, Evaluation]:
        @over_cores
        def evaluate(problem, z):
            return self.target(problem).log_density(z)

        return evaluate(problem, z)

    def _adapted(self, state: Sampler, z: jax.Array, rate: jax.Array):
        """``log_step``, ``moments``, ``centre``, ``root`` and ``window_end`` of a warm-up.

        Args:
            rate: of acceptance; not a number after a random walk, which tunes nothing.
        """
        gain = _GAIN / jnp.sqrt(1.0 + state.iteration).astype(z.dtype)
        away = jnp.nan_to_num(rate - self.settings.target_acceptance, nan=0.0)
        log_step = state.log_step + gain * away
        log_step = jnp.minimum(log_step, jnp.log(jnp.asarray(_LONGEST, z.dtype)))
        moments = state.moments.extended(z)
        share = moments.total / (moments.total + _DRAWS_PER_DIMENSION * z.shape[1])
        covariance = state.root @ state.root.T
        root = jnp.linalg.cholesky(covariance + share * (moments.covariance - covariance))
        moved = (
            Moments.none(z.shape[1], z.dtype),
            state.centre + share * (moments.mean - state.centre),
            # Rounding in single precision may leave no factor.
            jnp.where(jnp.isfinite(root).all(), root, state.root),
            state.iteration + 1 + 2 * moments.total.astype(int) // len(z),
        )
        kept = (moments, state.centre, state.root, state.window_end)
        ended = state.iteration + 1 >= state.window_end
        return (log_step, *choose(ended, moved, kept))


def _log_t(y: jax.Array) -> jax.Array:
    """Log density of the standard t but for a constant, (chain,)."""
    return -0.5 * (_FREEDOM + y.shape[1]) * jnp.log1p((y**2).sum(axis=1) / _FREEDOM)


@jax.jit
def _evaluated(target: Target, z: jax.Array) -> tuple[jax.Array, Evaluation]:
    return target.log_density(z)


ESTIMATOR = CrankNicolson
