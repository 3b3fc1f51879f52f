"""Data sources, one file each: where recordings come from and what is wrong with them.

A source has a ``Config`` section, ``files(config, folders)``, the raw file or files of each run, and
``read(config, run, path, system) -> Recording``, one whole run. What is done to every recording, cut
windows and start states, is in ``cut``.
"""
