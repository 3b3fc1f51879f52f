"""Mechanics stepped by a constrained variational integrator, with the derivatives of its steps."""
