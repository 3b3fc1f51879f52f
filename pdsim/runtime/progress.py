"""Progress of long work: a bar on a terminal, plain lines in a log."""

import logging
import sys
import time
from types import TracebackType

from tqdm import tqdm

log = logging.getLogger(__name__)


class Progress:
    """Report rate, remaining time and a few numbers while work advances.

    Args:
        total: how much there is to do.
        done: how much of it was done before (by an earlier, interrupted run).
        unit: what is counted.
        interval: least time between two lines of a log [s].
        shown: whether to report at all.
    """

    def __init__(
        self, total: int, done: int, unit: str, interval: float = 10.0, *, shown: bool = True
    ):
        self._total, self._first, self._done = total, done, done
        self._unit, self._interval, self._shown = unit, interval, shown
        self._began = self._reported = time.monotonic()
        self._bar = (
            tqdm(total=total, initial=done, unit=f" {unit}", dynamic_ncols=True)
            if shown and sys.stderr.isatty()
            else None
        )

    def __enter__(self) -> "Progress":
        return self

    def advance(self, amount: int, **numbers: float) -> None:
        """Count ``amount`` more, and show the numbers."""
        self._done += amount
        if not self._shown:
            return
        shown = {name: f"{value:.4g}" for name, value in numbers.items()}
        if self._bar is not None:
            self._bar.set_postfix(shown, refresh=False)
            self._bar.update(amount)
            return
        now = time.monotonic()
        if now - self._reported < self._interval and self._done < self._total:
            return
        self._reported = now
        rate = (self._done - self._first) / max(now - self._began, 1e-9)
        log.info(
            "%d/%d %s, %.3g/s, %.0f s left, %s",
            self._done,
            self._total,
            self._unit,
            rate,
            (self._total - self._done) / rate,
            ", ".join(f"{name} {value}" for name, value in shown.items()),
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
