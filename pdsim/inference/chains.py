"""What Markov-chain samplers share: the trace of their chains, its draws and their convergence."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from pdsim.inference.estimator import Done, Info, iterate
from pdsim.inference.target import SamplerSettings, Target
from pdsim.likelihood.problem import Position, Problem, evaluated

# A trace keeps about this many draws of all chains together, and this many of each at least.
_TOGETHER, _EACH = 20_000, 40


class ChainSettings(SamplerSettings):
    """What Markov chains share."""

    burn_in: float = Field(0.5, ge=0, lt=1, description="share of each chain that is left out")
    keep: Literal["spread", "last"] = Field(
        "spread",
        description="draws spread over the rest of the chain, or its last ones (as in the paper)",
    )


class Moves(NamedTuple):
    """What chains did, iterations in front.

    Attributes:
        z: where they are, (iteration, chain, dimension).
        recorded: whether that belongs to the chains, not to their warm-up, (iteration,) or
            (iteration, chain).
        moved: whether it is a draw, (iteration, chain): a chain between two is told again where it
            was. None: all are.
    """

    z: Any
    recorded: Any
    moved: Any = None


class Waiting(NamedTuple):
    """Draws of chains that are ahead of others; none where chains move together.

    Chains are compared by the number of a draw, not by when it was made: those with short
    trajectories would else count for more.

    Attributes:
        z: (row, chain, dimension), filled from the first row on.
        recorded: which belong to the chains, not to their warm-up, (row, chain).
        length: how many each chain has, (chain,).
    """

    z: np.ndarray
    recorded: np.ndarray
    length: np.ndarray

    @classmethod
    def none(cls, z: np.ndarray) -> "Waiting":
        """Of chains at (chain, dimension)."""
        nothing = np.zeros((0, len(z)), bool)
        return cls(np.empty((0, *z.shape), z.dtype), nothing, np.zeros(len(z), int))

    def lined_up(self, z: np.ndarray, moved: np.ndarray, recorded: np.ndarray):
        """Append what moved, and take out the rows of which every chain has a draw.

        Args:
            z: positions (iteration, chain, dimension).
            moved, recorded: of each, (iteration, chain).

        Returns:
            Rows (row, chain, dimension), whether all of a row is recorded, and who waits.
        """
        length = self.length + moved.sum(axis=0)
        rows = np.zeros((length.max(), *z.shape[1:]), z.dtype)
        own = np.zeros(rows.shape[:2], bool)
        for chain, (before, after) in enumerate(zip(self.length, length, strict=True)):
            now = moved[:, chain]
            rows[:before, chain] = self.z[:before, chain]
            rows[before:after, chain] = z[now, chain]
            own[:before, chain] = self.recorded[:before, chain]
            own[before:after, chain] = recorded[now, chain]
        whole = length.min()
        waiting = Waiting(rows[whole:], own[whole:], length - whole)
        return rows[:whole], own[:whole].all(axis=1), waiting


class Trace(NamedTuple):
    """Past positions of all chains, evenly thinned: half of it is dropped whenever it is full.

    Attributes:
        kept: (draw, chain, width), every stride-th of those recorded; the parameters alone if the
            draws are never taken from here.
        last: (draw, chain, dimension), the latest draws of all chains, unthinned; while there are
            none, where they are.
        stride: draws between two that are kept.
        seen: draws recorded.
        moved: whether there was any draw, recorded or not.
        waiting: draws of chains that are ahead.
    """

    kept: np.ndarray
    last: np.ndarray
    stride: int
    seen: int
    moved: bool
    waiting: Waiting

    @classmethod
    def start(cls, z: np.ndarray, width: int) -> "Trace":
        """A trace of nothing yet but the start (chain, dimension)."""
        z = np.asarray(z)
        return cls(np.empty((0, len(z), width), z.dtype), z[None], 1, 0, False, Waiting.none(z))

    def extend(self, moves: Moves, latest: int) -> "Trace":
        """Append what each iteration did.

        Args:
            latest: how many of the last positions to keep whole.
        """
        z, recorded, moved = moves
        if len(z) == 0:
            return self
        stride, seen, waiting = int(self.stride), int(self.seen), self.waiting
        if moved is not None:
            each = np.broadcast_to(recorded.reshape(len(z), -1), moved.shape)
            rows, recorded, waiting = waiting.lined_up(z, moved, each)
            if len(rows) == 0:
                last = self.last if self.moved else z[-1:]
                return self._replace(last=last, waiting=waiting)
            z = rows
        kept = z[recorded][:, :, : self.kept.shape[2]]
        number = seen + np.arange(len(kept))
        seen += len(kept)
        kept = np.concatenate([self.kept, kept[number % stride == 0]])
        while len(kept) > max(2 * latest, _TOGETHER // z.shape[1], _EACH):
            kept, stride = kept[::2], 2 * stride
        last = np.concatenate([self.last, z]) if self.moved else z
        return Trace(kept, last[-latest:], stride, seen, True, waiting)


class ChainState(NamedTuple):
    """The sampler's own state and the trace."""

    sampler: Any
    trace: Trace


@dataclass(frozen=True)
class Chains:
    """Draws and convergence of a sampler whose state is a ``ChainState``."""

    settings: ChainSettings
    particle_count: int
    iteration_count: int
    sample_kind: ClassVar[str] = "mcmc"
    one_mode: ClassVar[bool] = False

    def target(self, problem: Problem) -> Target:
        """Return the density sampled."""
        return Target(problem, self.settings.defect_deviation)

    def walkers(self, problem: Problem) -> int:
        """Number of chains."""
        raise NotImplementedError

    def cost(self, problem: Problem) -> int:
        return self.walkers(problem)

    def least_cost(self, problem: Problem) -> int:
        return self.walkers(problem)

    def least_budget(self, problem: Problem) -> int:
        return self.cost(problem)

    def chain_count(self, problem: Problem) -> int:
        return min(self.walkers(problem), self.particle_count)

    def per_chain(self, problem: Problem) -> int:
        """Draws of each chain; all together are at most ``particle_count``."""
        return max(self.particle_count // self.walkers(problem), 1)

    def finished(self, problem: Problem, state: Any) -> bool:
        """A chain that goes on always tells more."""
        del problem, state
        return False

    def trace(self, problem: Problem, start: np.ndarray | jax.Array) -> Trace:
        """Return the empty trace of chains that start at (chain, dimension)."""
        z = np.asarray(start)
        whole = self.per_chain(problem) > 1
        return Trace.start(z, z.shape[1] if whole else problem.space.dimension)

    def settled(self, state: ChainState) -> np.ndarray:
        """The kept part of the trace without the burn-in, (draw, chain, dimension)."""
        kept = np.asarray(state.trace.kept)
        return kept[int(self.settings.burn_in * len(kept)) :]

    def draws(self, problem: Problem, state: ChainState) -> Position:
        """Return the draws, chain by chain.

        With more chains than draws, the last position of evenly chosen chains. Fewer draws than
        asked for, and no copies, while the trace is short.
        """
        chains, wanted = self.walkers(problem), self.per_chain(problem)
        last = np.asarray(state.trace.last)
        chosen = self.settled(state)
        if self.settings.keep == "last" or wanted == 1 or len(chosen) == 0:
            chosen = last[-wanted:]
        else:
            number = np.linspace(0, len(chosen) - 1, min(wanted, len(chosen)))
            chosen = chosen[np.round(number).astype(int)]
        members = np.round(np.linspace(0, chains - 1, self.chain_count(problem))).astype(int)
        z = np.swapaxes(chosen[:, members], 0, 1)
        return self.target(problem).position(jnp.asarray(z.reshape(-1, z.shape[-1])))

    def diverging(self, problem: Problem, state: ChainState) -> jax.Array:
        log_likelihood, _ = evaluated(problem, self.draws(problem, state))
        return ~jnp.isfinite(log_likelihood)

    def convergence(self, problem: Problem, state: ChainState) -> dict[str, np.ndarray]:
        """R-hat and bulk effective sample size of each parameter; R-hat of one chain is of its
        halves."""
        # Imported here: settings are read at every start, and scipy.stats takes long.
        from pdsim.inference.convergence import bulk_sample_size, r_hat

        count = problem.space.dimension
        settled = self.settled(state)[..., :count]
        if len(settled) < 8:
            missing = np.full(count, np.nan)
            return {"r_hat": missing, "ess_bulk": missing}
        x = np.swapaxes(settled, 0, 1)
        return {"r_hat": r_hat(x), "ess_bulk": bulk_sample_size(x)}


class SteppedChains(Chains):
    """Chains with a pure ``step``; ``recorded`` returns the ``Moves`` that go into the trace.

    Their settings have a ``chain_count``.
    """

    settings: Any

    def walkers(self, problem: Problem) -> int:
        del problem
        return self.settings.chain_count

    def advance(
        self,
        problem: Problem,
        state: ChainState,
        *,
        seed: int,
        done: Done,
        until: int,
        capacity: int,
    ) -> tuple[ChainState, Info]:
        sampler, (info, moves) = iterate(
            self, problem, state.sampler, seed=seed, done=done, until=until, capacity=capacity
        )
        return ChainState(sampler, state.trace.extend(moves, self.per_chain(problem))), info


def choose(condition, yes, no):
    """Every array of one tree or of the other."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)
