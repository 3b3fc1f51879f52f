"""The draft of an experiment, out of nothing but tables and a system: `pdsim new`.

    tables ──▶ columns ──▶ stretches ──▶ limits ──▶ step ──▶ windows ──▶ experiment file

Each file makes one of these choices, and says by which number of the data.
"""
