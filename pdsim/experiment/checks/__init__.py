"""Checks that look at a whole experiment, one idea a file."""
