"""The training loop of every density model: Adam on the negative log density, in mini-batches."""

import logging
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pdsim.inference.bayessim.config import DensityConfig
from pdsim.inference.bayessim.density import Layer, Network, features, outputs
from pdsim.inference.bayessim.mixture import log_density
from pdsim.runtime.checkpoint import Checkpoint, restored, save
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.progress import Progress

log = logging.getLogger(__name__)

# Epochs between reports and checkpoints.
_CHUNK = 50


class State(NamedTuple):
    """Training as it stands.

    Attributes:
        layers: of the network.
        moments: Adam's.
        best: layers with the lowest held-out loss.
        best_loss: that loss.
        since: epochs since then.
    """

    layers: tuple[Layer, ...]
    moments: optax.OptState
    best: tuple[Layer, ...]
    best_loss: jax.Array
    since: jax.Array


class Trained(NamedTuple):
    """What training gives.

    Attributes:
        network: with the layers of the lowest held-out loss.
        history: ``loss`` and ``held_out_loss`` of each epoch [nat], ``seconds``.
    """

    network: Network
    history: dict[str, np.ndarray]


def _loss(layers, seen, theta, components):
    return -log_density(outputs(layers, seen), theta.T, components).mean()


def _batches(seed: int, epochs: range, count: int, size: int) -> np.ndarray:
    """Pairs of each mini-batch of each epoch, (epoch, batch, pair)."""
    batches = count // size
    orders = [np.random.default_rng([seed, epoch]).permutation(count) for epoch in epochs]
    return np.stack(orders)[:, : batches * size].reshape(-1, batches, size).astype(np.int32)


@partial(jax.jit, static_argnames="config")
def _train(state: State, batches, pairs, held_out, *, config: DensityConfig):
    seen, theta = pairs
    optimiser = optax.adam(config.learning_rate)

    def step(carry, chosen):
        layers, moments = carry
        loss, slope = jax.value_and_grad(_loss)(
            layers, seen[chosen], theta[chosen], config.component_count
        )
        updates, moments = optimiser.update(slope, moments)
        return (optax.apply_updates(layers, updates), moments), loss

    def epoch(state: State, chosen):
        (layers, moments), losses = jax.lax.scan(step, (state.layers, state.moments), chosen)
        loss = _loss(layers, held_out[0], held_out[1], config.component_count)
        better = loss < state.best_loss
        best = jax.tree.map(partial(jnp.where, better), layers, state.best)
        state = State(
            layers,
            moments,
            best,
            jnp.where(better, loss, state.best_loss),
            jnp.where(better, 0, state.since + 1),
        )
        return state, (losses.mean(), loss)

    return jax.lax.scan(epoch, state, batches)


def train(
    net: Network,
    pairs: tuple[np.ndarray, np.ndarray],
    held_out: tuple[np.ndarray, np.ndarray],
    config: DensityConfig,
    *,
    seed: int,
    fingerprint: str = "",
    checkpoint: str | Path | None = None,
) -> Trained:
    """Train until the epochs are done or, with patience, the held-out loss does not improve.

    Args:
        pairs, held_out: standardised inputs (n, F) and unit coordinates (n, M).
        seed: of the mini-batches.
        fingerprint: of config, data and code; only a checkpoint with the same is used.
        checkpoint: where the state is saved on the way; removed by the caller at the end.

    Raises:
        PdsimError: the loss is not finite from the first epochs on.
    """
    data = [
        (
            features(net.fixed, jnp.asarray(inputs, jnp.float32)),
            jnp.asarray(coordinates, jnp.float32),
        )
        for inputs, coordinates in (pairs, held_out)
    ]
    state = State(
        net.layers,
        optax.adam(config.learning_rate).init(net.layers),
        net.layers,
        jnp.asarray(np.inf, jnp.float32),
        jnp.array(0),
    )
    history = {name: np.zeros(0) for name in ("loss", "held_out_loss", "seconds")}
    spent, size = 0.0, min(config.batch_size, len(pairs[1]))
    kept = restored(checkpoint, fingerprint, state) if checkpoint is not None else None
    if kept is not None:
        state, history, spent = kept.state, kept.history, kept.seconds
        log.info("resuming after epoch %d from %s", len(history["loss"]), checkpoint)
    with Progress(config.epochs, len(history["loss"]), "epochs") as progress:
        while (done := len(history["loss"])) < config.epochs:
            if config.patience is not None and int(state.since) >= config.patience:
                log.info("ended after epoch %d: no better for %d", done, config.patience)
                break
            began = time.perf_counter()
            count = min(_CHUNK, config.epochs - done)
            batches = _batches(seed, range(done, done + count), len(pairs[1]), size)
            state, losses = jax.block_until_ready(_train(state, batches, *data, config=config))
            lasted = time.perf_counter() - began
            rows = [*losses, spent + lasted * (1 + np.arange(count)) / count]
            history = {
                name: np.concatenate([history[name], np.asarray(new, float)])
                for name, new in zip(history, rows, strict=True)
            }
            spent += lasted
            if not np.isfinite(float(state.best_loss)):
                raise PdsimError(
                    "training: the held-out loss was never finite; lower density.learning_rate"
                )
            if checkpoint is not None:
                save(checkpoint, fingerprint, Checkpoint(state, history, {}, spent))
            progress.advance(count, loss=history["loss"][-1], held_out=history["held_out_loss"][-1])
    return Trained(Network(state.best, net.fixed), history)
