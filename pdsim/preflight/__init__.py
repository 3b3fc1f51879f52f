"""What an experiment will cost and can find, before it is run: `pdsim preflight`."""
