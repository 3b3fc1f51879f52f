"""Physical systems, one file each, their integrators, and roll-outs."""
