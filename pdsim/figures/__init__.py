"""Figures, one family a file; each reads result files and writes a PDF and a PNG."""
