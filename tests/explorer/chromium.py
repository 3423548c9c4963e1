"""A headless Chromium that a test talks to through two pipes, in which no name resolves."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
    "--window-size=1280,900",
)
# A browser listens at 3 and speaks at 4, which may be taken here.
_MOVE = (
    "import fcntl, os, sys; ends = [fcntl.fcntl(int(x), fcntl.F_DUPFD, 10) for x in sys.argv[1:3]];"
    "[os.dup2(end, place) for end, place in zip(ends, (3, 4))]; os.execv(sys.argv[3], sys.argv[3:])"
)


class Chromium:
    """One page. `complaints` holds what the console said, `requests` what was fetched."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._number, self._read = 0, b""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session: str | None = None
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for room in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{room}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """Send a command and return its result; what happens meanwhile is noted."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self._note(found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            more = os.read(self._back, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self._read += more
        line, _, self._read = self._read.partition(b"\0")
        return json.loads(line)

    def _note(self, event: dict[str, Any]) -> None:
        given = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = given["exceptionDetails"]
                self.complaints.append(
                    details.get("exception", {}).get("description", details["text"])
                )
            case "Runtime.consoleAPICalled" if given["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(given["args"]))
            case "Log.entryAdded" if given["entry"]["level"] in ("error", "warning"):
                self.complaints.append(given["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(given["request"]["url"])
            case _:
                pass

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        try:
            self.wait("document.documentElement?.dataset.drawn !== undefined")
        except RuntimeError as error:
            raise RuntimeError(f"nothing was drawn: {self.complaints}") from error

    def run(self, script: str) -> Any:
        """Return the value of an expression; a promise is waited for."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        self.run(
            "new Promise((done, fail) => { const end = Date.now() + 20000; const look = () => "
            f"{{ if ({condition}) done(1); else if (Date.now() > end) fail('late'); "
            "else setTimeout(look, 5); }; look(); })"
        )

    def screen(self, width: int, height: int, *, dark: bool = False, mobile: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def shot(self, path: Path, *, whole: bool = True) -> None:
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def key(self, name: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code
            )


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Start a browser, and end it."""
    assert BROWSER is not None
    (theirs, to), (back, ours) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        words = [BROWSER, *_FLAGS, f"--user-data-dir={home}"]
        process = subprocess.Popen(
            [sys.executable, "-c", _MOVE, str(theirs), str(ours), *words],
            pass_fds=(theirs, ours),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(ours)
        try:
            yield Chromium(to, back)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(to)
            os.close(back)
