"""A checkpoint is one that pdsim wrote, of this problem and whole, or it is not used."""

import io
import os
import pickle
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest

from pdsim.runtime.checkpoint import Checkpoint, load, restored, save
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import checkpoint_of

STATE = {"position": jnp.arange(6.0).reshape(2, 3), "count": jnp.array(3)}
WHOLE = Checkpoint(STATE, {"seconds": np.arange(4.0)}, {"draws": np.zeros((1, 2, 3))}, 1.5)


def test_what_was_saved_comes_back(tmp_path):
    save(tmp_path / "c.npz", "mine", WHOLE)
    kept = load(tmp_path / "c.npz", "mine", STATE)
    np.testing.assert_array_equal(kept.state["position"], STATE["position"])
    assert kept.history.keys() == {"seconds"}
    assert kept.course["draws"].shape == (1, 2, 3)
    assert kept.seconds == 1.5


def packed(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def bomb(buffer):
    """A hundred megabytes of zeros in a hundred kilobytes."""
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("leaf0.npy", packed(lambda b: np.save(b, np.zeros(10**7))))


def changed(path, change):
    """The good checkpoint with some arrays changed."""
    save(path, "mine", WHOLE)
    with np.load(path) as stored:
        content = dict(stored)
    change(content)
    return packed(lambda buffer: np.savez(buffer, **content))


BROKEN = {
    "an array": lambda _: packed(lambda b: np.save(b, np.zeros(3))),
    "a pickle": lambda _: pickle.dumps({"fingerprint": "mine"}),
    "an archive of objects": lambda _: packed(
        lambda b: np.savez(b, fingerprint=np.array([{}], dtype=object))
    ),
    "nothing": lambda _: b"",
    "text": lambda _: b"mine",
    "half": lambda path: changed(path, lambda _: None)[:200],
    "a bomb": lambda _: packed(bomb),
    "an archive of text": lambda _: packed(
        lambda b: zipfile.ZipFile(b, "w").writestr("fingerprint.npy", "mine")
    ),
    "no leaf": lambda path: changed(path, lambda content: content.pop("leaf1")),
    "no history": lambda path: changed(path, lambda content: content.pop("history_seconds")),
    "no fingerprint": lambda path: changed(path, lambda content: content.pop("fingerprint")),
    "another shape": lambda path: changed(path, lambda c: c.update(leaf0=np.zeros((3, 2)))),
    "another type": lambda path: changed(path, lambda c: c.update(leaf0=np.array("text"))),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_checkpoint_is_named_and_not_used(tmp_path, caplog, name):
    path = tmp_path / "p.checkpoint.npz"
    path.write_bytes(BROKEN[name](path))
    assert restored(path, "mine", STATE) is None
    assert f"{path}: not a checkpoint that pdsim wrote" in caplog.text
    with pytest.raises(PdsimError, match="not a checkpoint that pdsim wrote"):
        restored(path, "mine", STATE, required=True)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_something_else_in_its_place_is_refused_before_the_work(tmp_path, make):
    make(tmp_path / "p.checkpoint.npz")
    with pytest.raises(PdsimError, match=r"p\.checkpoint\.npz: is a .*move it away"):
        checkpoint_of(tmp_path / "p.nc")
