"""pdsim: probability distributions over simulator parameters, from recordings.

    recording ─▶ trajectories ─▶ likelihood ─▶ estimator ─▶ posterior ─▶ roll-outs ─▶ metrics

Every package below is one station of this line, and imports only from stations to its left.
"""

__version__ = "0.1.0"
