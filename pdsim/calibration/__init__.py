"""Simulation-based calibration: whether an estimator's draws are those of the posterior."""
