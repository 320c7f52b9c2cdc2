"""A headless Chromium driven over two pipes: what a page draws, says, asks for and saves.

The protocol is Chromium's own, JSON messages that each end with a zero byte: no driver package is needed.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
PATIENCE_S = 60.0


class Browser:
    """One page in one browser.

    Attributes
    ----------
    requests
        Addresses that the page asked for, its own excepted.
    complaints
        Everything that reached the console or was thrown, violations of the page's policy included.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer = b""
        self._numbers = itertools.count(1)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Any:
        return self._call(method, self._session, **params)

    def open(self, page: Path, width: int = 1200, height: int = 900, scheme: str = "light") -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.requests.clear()
        self.complaints.clear()
        self.call("Page.navigate", url=page.as_uri())
        self.until("document.readyState === 'complete'")

    def run(self, expression: str) -> Any:
        """Evaluate an expression (a promise is awaited) and give its value."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}; {self.complaints}"
            time.sleep(0.05)

    def drawn(self) -> None:
        """Wait until every chart is drawn."""
        self.until("document.querySelectorAll('figure:not([data-drawn])').length === 0")

    def screenshot(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def _call(self, method: str, session: str | None = None, **params: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params} | (
            {"sessionId": session} if session else {}
        )
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._from], [], [], PATIENCE_S)[0], "the browser does not answer"
            read = os.read(self._from, 1 << 16)
            assert read, "the browser ended"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            address = params["request"]["url"]
            if not address.startswith(("data:", "blob:")) and address != params.get("documentURL"):
                self.requests.append(address)
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(params)[:2000])


@contextlib.contextmanager
def started(program: str) -> Iterator[Browser]:
    """Start a browser; it is ended, and its profile removed, afterwards."""
    reads, to_browser = os.pipe()
    from_browser, writes = os.pipe()
    with tempfile.TemporaryDirectory(prefix="ssdlab-browser-", ignore_cleanup_errors=True) as profile:
        # The browser reads from its descriptor 3 and writes to its 4; the shell puts the pipes there.
        line = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "bash", *line],
            pass_fds=(reads, writes),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        try:
            yield Browser(to_browser, from_browser)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_S)
            os.close(to_browser)
            os.close(from_browser)
