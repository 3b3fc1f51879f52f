"""Arithmetic with no robot in it."""
