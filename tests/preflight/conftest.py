"""The swings that the drafts are tested on."""

from draft.conftest import folder, runs, swings

__all__ = ["folder", "runs", "swings"]
