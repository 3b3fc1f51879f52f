"""The HTML report of an experiment: one file that can be sent to somebody."""
