"""Experiment files with something changed."""

import json

import yaml

from pdsim.experiment.load import load_experiment


def write(tmp_path, values):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


def set_at(values, path, value):
    *parents, last = path
    for key in parents:
        values = values[key]
    values[last] = value


def changed(tmp_path, values, key, value):
    """An experiment with one value changed."""
    values = json.loads(json.dumps(values))
    set_at(values, key, value)
    return load_experiment(write(tmp_path, values))
