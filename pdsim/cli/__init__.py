"""The command line: one verb per stage. What a workflow rule runs, a person can run."""
