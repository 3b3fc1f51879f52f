"""Rigid bodies joined to a tree: kinematics and dynamics of any robot without contacts."""
