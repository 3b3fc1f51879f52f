"""From trajectories to the problem every estimator is given."""
