"""Stage ``condition``: a trained density and the recording to a posterior."""

import json
import logging

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pdsim.experiment.slices import Condition
from pdsim.inference.bayessim.conditioning import conditioned
from pdsim.inference.bayessim.sampling import Draws, draw_inside
from pdsim.inference.identity import Identity
from pdsim.likelihood.build import build_problem
from pdsim.likelihood.problem import Position, evaluated
from pdsim.posterior import assemble
from pdsim.recordings.trajectories import load_trajectories
from pdsim.runtime import device
from pdsim.runtime.files import read_dataset, write_dataset
from pdsim.systems.simulator import build_simulator

log = logging.getLogger(__name__)


def condition(
    options: Condition,
    *,
    identity: Identity,
    seed: int,
    trajectories: str,
    statistics: str,
    trained: str,
    output: str,
) -> None:
    """Write the posterior of a variant, in the layout of every other.

    Each training recording is conditioned on, and has an equal share of the draws.
    """
    device.configure(options.precision)
    config, count = options.bayessim.density, options.particle_count
    simulator = build_simulator(options.simulator)
    data = load_trajectories(trajectories, simulator.system)
    problem = build_problem(simulator, options.likelihood, data, "single", options.precision)
    space = simulator.space
    recorded = read_dataset(statistics)["recorded"].values
    shares = np.diff(np.linspace(0, count, len(recorded) + 1).astype(int))
    parts: list[Draws] = []
    for i, share in enumerate(shares):
        one = conditioned(trained, recorded[i : i + 1], config, space.dimension)
        parts.append(draw_inside(one, int(share), config.max_tries, seed + 1000 * i))
    coordinates = np.concatenate([part.coordinates for part in parts])
    outside = np.concatenate([part.outside for part in parts])
    rejected = sum(part.rejected for part in parts)
    position = Position(
        jnp.asarray(coordinates, options.precision),
        jnp.zeros((count, problem.rollout_count, 0, len(problem.state_scale))),
    )
    log_likelihood, _ = evaluated(problem, position)
    physical = np.asarray(space.to_physical(jnp.asarray(coordinates)))
    prior = np.asarray(space.to_physical(jnp.asarray(space.sample_prior(count, seed))))
    root, history = read_dataset(trained).attrs, read_dataset(trained, "history")
    seconds = float(history["seconds"].values[-1])
    # Those kept from the training count too: they end it, and show its calibration.
    rollouts = int(root["simulation_count"]) + int(root["lost"])
    tree = assemble(
        simulator,
        space,
        config=options.simulator,
        draws=physical,
        chain_count=1,
        prior_draws=prior,
        recordings=xr.Dataset(),
        sample_stats={
            "log_likelihood": np.asarray(log_likelihood),
            "log_prior": np.asarray(space.log_prior(jnp.asarray(coordinates))),
            "max_defect": np.zeros(count),
            "diverging": ~np.isfinite(np.asarray(log_likelihood)),
            "limit_violation": outside,
        },
        shooting=xr.Dataset(),
        history={
            "rollouts": np.array([rollouts]),
            "gradients": np.array([0]),
            "seconds": np.array([seconds]),
            "kept_loss": history["held_out_loss"].values.min(keepdims=True),
        },
        course={
            "draws": physical[None],
            "rollouts": np.array([rollouts]),
            "seconds": np.array([seconds]),
        },
        convergence={},
        attributes={
            **identity._asdict(),
            "seed": seed,
            "sample_kind": "iid",
            "ended": "budget",
            "rejected": rejected,
            "moved_to_limits": int((outside > 0).sum()),
            "config": json.dumps(options.model_dump(mode="json"), sort_keys=True),
            "fingerprint": root["fingerprint"],
            **device.describe(),
        },
    )
    write_dataset(output, tree)
    log.info("%s: %d draws, %d rejected", output, count, rejected)
