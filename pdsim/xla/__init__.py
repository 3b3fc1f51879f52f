"""Workarounds of XLA on the CPU: what a compiler should do, written by hand until it does."""
