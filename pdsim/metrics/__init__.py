"""How well simulated trajectories match recorded ones; one file each.

A metric returns a ``Score``: a value, or a reason why there is none. To add one: a file, and a
line in ``pdsim.stages.evaluate``.
"""
