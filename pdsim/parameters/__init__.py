"""Parameters: their bounds, scales and priors, and which names of alike bodies can be swapped."""
