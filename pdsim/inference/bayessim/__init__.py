"""BayesSim (Ramos et al., 2019): a conditional density q(θ | ψ(X)) learned from simulations.

The stations: parameters from the prior are simulated (``pdsim.stages.training_set``), trajectories
become statistics ψ (``statistics``), a density is fitted to the pairs (``density``, ``training``)
and conditioned on the recording (``pdsim.stages.condition``).
"""
