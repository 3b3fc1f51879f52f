"""How well simulated trajectories match recorded ones; one file each.

A metric is a pure function that returns a ``Score``, a value or a reason why there is none, and an
entry in its module's ``METRICS``. To add one: a file, and a line in ``pdsim.registry``.
"""
