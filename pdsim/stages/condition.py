"""Stage ``condition``: a trained density and the recording to a posterior."""

import json
import logging
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.runtime import device
from pdsim.bayessim.config import BayesSimConfig
from pdsim.bayessim.density import density, from_arrays
from pdsim.bayessim.mixture import Mixture
from pdsim.bayessim.sampling import Draws, draw_inside
from pdsim.bayessim.scaling import Scaling
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.config import LikelihoodConfig
from pdsim.likelihood.problem import Position
from pdsim.posterior import assemble
from pdsim.systems.config import SimulatorConfig

log = logging.getLogger(__name__)


def conditioned(trained: str, inputs: np.ndarray, config: BayesSimConfig, m: int) -> Mixture:
    """q(θ | ψ) of raw statistics (n, features)."""
    scale = read_dataset(trained, "scaling")
    standardised = Scaling(scale["centre"].values, scale["width"].values)(inputs)
    arrays = read_dataset(trained, "network")
    net = from_arrays({str(name): values.values for name, values in arrays.data_vars.items()})
    return density(net, jnp.asarray(standardised), config.density.component_count, m)


def condition(
    options: dict[str, Any],
    *,
    variant: str,
    seed: int,
    trajectories: str,
    statistics: str,
    trained: str,
    output: str,
) -> None:
    """Write the posterior of a variant, in the layout of every other.

    Each training recording is conditioned on, and has an equal share of the draws.

    Args:
        options: ``simulator``, ``likelihood``, ``bayessim``, ``budget`` and ``precision``.
    """
    device.configure(options["precision"])
    config = BayesSimConfig.model_validate(options["bayessim"])
    simulator = SimulatorConfig.model_validate(options["simulator"])
    likelihood = LikelihoodConfig.model_validate(options["likelihood"])
    count = int(options["budget"]["particle_count"])
    data = read_dataset(trajectories)
    problem = build_problem(simulator, likelihood, data, "single", options["precision"])
    space = problem.space
    recorded = read_dataset(statistics)["recorded"].values
    shares = np.diff(np.linspace(0, count, len(recorded) + 1).astype(int))
    parts: list[Draws] = []
    for i, share in enumerate(shares):
        one = conditioned(trained, recorded[i : i + 1], config, space.dimension)
        parts.append(draw_inside(one, int(share), config.density.max_tries, seed + 1000 * i))
    unit = np.concatenate([part.unit for part in parts])
    outside = np.concatenate([part.outside for part in parts])
    rejected = sum(part.rejected for part in parts)
    position = Position(
        jnp.asarray(unit, options["precision"]),
        jnp.zeros((count, problem.rollout_count, 0, len(problem.state_scale))),
    )
    log_likelihood, _ = problem.evaluate(position)
    physical = np.asarray(space.to_physical(jnp.asarray(unit)))
    prior = np.asarray(space.to_physical(jnp.asarray(space.sample_prior(count, seed))))
    root, history = read_dataset(trained).attrs, read_dataset(trained, "history")
    seconds = float(history["seconds"].values[-1])
    rollouts = int(root["training_count"]) + int(root["lost"])
    tree = assemble(
        space,
        draws=physical,
        chain_count=1,
        prior_draws=prior,
        sample_stats={
            "log_likelihood": np.asarray(log_likelihood),
            "log_prior": np.asarray(space.log_prior(jnp.asarray(unit))),
            "max_defect": np.zeros(count),
            "diverging": ~np.isfinite(np.asarray(log_likelihood)),
            "limit_violation": outside,
        },
        shooting=xr.Dataset(),
        history={
            "rollouts": np.array([rollouts]),
            "gradients": np.array([0]),
            "seconds": np.array([seconds]),
        },
        course={
            "draws": physical[None],
            "rollouts": np.array([rollouts]),
            "seconds": np.array([seconds]),
        },
        convergence={},
        attributes={
            "method": "bayessim",
            "shooting": variant,
            "seed": seed,
            "sample_kind": "iid",
            "ended": "budget",
            "rejected": rejected,
            "moved_to_limits": int((outside > 0).sum()),
            "config": json.dumps(options, sort_keys=True),
            "fingerprint": root["fingerprint"],
            **device.describe(),
        },
    )
    write_dataset(output, tree)
    log.info("%s: %d draws, %d rejected", output, count, rejected)
