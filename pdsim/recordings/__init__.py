"""Data sources, one file each: where recordings come from and what is wrong with them.

A source is a module with

- ``Config``, its section of the experiment,
- ``check(config, system)``, which refuses what cannot go together,
- ``channels(config, system)``, the names of the channels that hold values,
- ``truths(config, defaults)``, true system parameters of the training runs, where known,
- ``files(config, folder)``, the raw file of each run, and
- ``read(config, run, path, system)``, one whole run as a ``Recording``,

and, if it makes its recordings itself, ``make(config, system, folder)`` and ``made(folder)``.
What happens to every recording, windows and start states, is in ``cut``.
"""
