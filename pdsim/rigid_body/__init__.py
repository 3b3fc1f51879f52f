"""Numerics shared by mechanical systems."""
