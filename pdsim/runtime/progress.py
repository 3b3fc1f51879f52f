"""Progress of long work: a bar on a terminal, plain lines in a log."""

import logging
import sys
import time
from collections import deque
from types import TracebackType

from tqdm import tqdm

log = logging.getLogger(__name__)

# The rate is that of so long [s], at least of the last step.
_RECENT = 60.0


class Progress:
    """Report rate, remaining time and a few numbers while work advances.

    The first step compiles: it does not count for the rate, and until there is a second one no
    remaining time is told.

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
        self._total, self._done = total, done
        self._unit, self._interval, self._shown = unit, interval, shown
        self._reported = time.monotonic()
        # Time and what was done, after each recent step.
        self._steps: deque[tuple[float, int]] = deque()
        self._bar = (
            tqdm(total=total, initial=done, unit=f" {unit}", dynamic_ncols=True, desc="compiling")
            if shown and sys.stderr.isatty()
            else None
        )
        if shown and self._bar is None and done < total:
            log.info("%d/%d %s, compiling", done, total, unit)

    def __enter__(self) -> "Progress":
        return self

    def advance(self, amount: int, **numbers: float) -> None:
        """Count ``amount`` more, and show the numbers."""
        self._done += amount
        if not self._shown:
            return
        shown = {name: f"{value:.4g}" for name, value in numbers.items()}
        now = time.monotonic()
        self._steps.append((now, self._done))
        while len(self._steps) > 2 and self._steps[1][0] < now - _RECENT:
            self._steps.popleft()
        if self._bar is not None:
            self._show(self._bar, amount, shown)
        elif now - self._reported >= self._interval or self._done >= self._total:
            self._reported = now
            told = ", ".join([self._pace(), *(f"{name} {value}" for name, value in shown.items())])
            log.info("%d/%d %s, %s", self._done, self._total, self._unit, told)

    def _pace(self) -> str:
        """Rate and remaining time."""
        (began, first), (now, last) = self._steps[0], self._steps[-1]
        if last == first or now <= began:
            return "0 s left" if self._done >= self._total else "remaining time not known yet"
        rate = (last - first) / (now - began)
        return f"{rate:.3g}/s, {(self._total - self._done) / rate:.0f} s left"

    def _show(self, bar: tqdm, amount: int, shown: dict[str, str]) -> None:
        bar.set_postfix(shown, refresh=False)
        if len(self._steps) == 1:
            # The bar's clock starts here.
            bar.set_description(refresh=False)
            bar.n = bar.initial = bar.last_print_n = self._done
            bar.unpause()
            bar.refresh()
        else:
            bar.update(amount)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
