"""A page in headless Chromium, by its DevTools protocol over a pipe: no package is needed.

Any Chromium serves: Debian's `chromium` or `chromium-headless-shell`, Google's Chrome, or the one
that Playwright fetched. CHROMIUM names another.
"""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
REMEDY = "no Chromium: install one (Debian: apt-get install chromium) or name it in CHROMIUM"
# The protocol is read from 3 and written to 4; what is passed on may have these numbers itself.
_LAUNCH = """
import fcntl, os, sys
own = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]
os.dup2(own[0], 3), os.dup2(own[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_SECONDS = 60.0


def find_chromium() -> str | None:
    """Path of a Chromium; None where there is none."""
    found = [shutil.which(name) for name in (os.environ.get("CHROMIUM", ""), *NAMES) if name]
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache/ms-playwright"))
    for pattern in ("chromium*/chrome-*/headless_shell", "chromium*/chrome-*/chrome"):
        found += map(str, sorted(cache.glob(pattern)))
    return next((path for path in found if path), None)


class Chromium:
    """One browser with one page; a context manager."""

    def __init__(self, path: str, folder: Path):
        mine, theirs = os.pipe(), os.pipe()
        self._out, self._in = mine[1], theirs[0]
        self._process = subprocess.Popen(
            [
                sys.executable, "-c", _LAUNCH, str(mine[0]), str(theirs[1]), path, "--headless",
                "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
                f"--user-data-dir={folder}", "about:blank",
            ],
            pass_fds=(mine[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(mine[0])
        os.close(theirs[1])
        self._numbers, self._rest, self._session = itertools.count(1), b"", None
        self.errors: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for part in ("Page", "Runtime", "Log"):
            self.ask(f"{part}.enable")

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_) -> None:
        os.close(self._out)  # ends it
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)

    def ask(self, method: str, **parameters):
        """Send a command and return its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda one: one.get("id") == number)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _wait(self, wanted):
        """Return the first message that is wanted; errors that the page tells are kept."""
        end = time.monotonic() + _SECONDS
        while True:
            while b"\0" not in self._rest:
                ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
                data = os.read(self._in, 1 << 16) if ready else b""
                assert data, "the browser does not answer"
                self._rest += data
            line, _, self._rest = self._rest.partition(b"\0")
            message = json.loads(line)
            what, said = message.get("method"), message.get("params", {})
            if (
                what == "Runtime.exceptionThrown"
                or (what == "Runtime.consoleAPICalled" and said["type"] in ("error", "assert"))
                or (what == "Log.entryAdded" and said["entry"]["level"] == "error")
            ):
                self.errors.append(json.dumps(said)[:500])
            if wanted(message):
                return message

    def show(self, page: Path, width: int, height: int = 900) -> None:
        """Open a page in a window of a width in pixels, as a telephone does below 600."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self.ask("Page.navigate", url=page.resolve().as_uri())
        self._wait(lambda one: one.get("method") == "Page.loadEventFired")

    def value(self, script: str):
        """Value of an expression of JavaScript in the page."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write what is seen, or all of the page, as PNG."""
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))
