"""Torques of a real arm against those that its published inertias need."""

import jax
import numpy as np
from scipy.signal import butter, filtfilt

from pdsim.rigid_body.dynamics import inverse_dynamics
from pdsim.rigid_body.links import links_of
from pdsim.rigid_body.load import load_model

# What another implementation in NumPy leaves of the torques after 14 s, joints 1 to 7 [N m].
LEFT = [0.302, 0.762, 0.368, 0.582, 0.330, 0.199, 0.276]


def test_published_inertias_leave_what_another_implementation_leaves(root, robots_dir):
    path = robots_dir / "panda_log" / "exciting_trajectory_1.csv"
    log = np.genfromtxt(path, delimiter=",", names=True)
    # Rows whose clock does not advance repeat the one before; gaps are missing samples.
    clock = log["clock"]
    kept = np.concatenate([[True], np.diff(clock) > 0])
    times = np.arange(0, clock[-1], 0.001)
    q, v, torque = (
        np.stack([np.interp(times, clock[kept], log[f"{n}{i}"][kept]) for i in range(1, 8)], 1)
        for n in ("q", "dq", "tau")
    )
    low = butter(2, 10 * 2 * 0.001)
    v, torque = (filtfilt(*low, x, axis=0) for x in (v, torque))
    a = np.gradient(v, 0.001, axis=0)
    # Torques are measured behind the motors, whose rotors they do not move.
    model = load_model(str(root / "data/models/panda.xml"))
    values = model.values | {f"joint/joint{i}/armature": 0.0 for i in range(1, 8)}
    links = links_of(model, values)
    needed = jax.jit(jax.vmap(lambda q, v, a: inverse_dynamics(model, links, q, v, a)))
    rows = slice(14_000, len(times) - 200, 10)
    left = np.asarray(needed(q[rows], v[rows], a[rows])) - torque[rows]
    np.testing.assert_allclose(np.sqrt(np.mean(left**2, axis=0)), LEFT, rtol=0.04)
