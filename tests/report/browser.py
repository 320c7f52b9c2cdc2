"""A headless Chromium driven by Playwright: what a page draws, says, asks for and saves."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Page, Request, sync_playwright

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")
PATIENCE_MS = 60_000


class Browser:
    """One page in one browser.

    Attributes
    ----------
    requests
        Addresses that the page asked for, its own excepted.
    complaints
        Everything that reached the console or was thrown, violations of the page's policy included.
    mouse
        Moves and presses as a person's.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self.mouse = page.mouse
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", self._note_request)
        page.on("console", self._note_message)
        page.on("pageerror", self._note_error)

    def open(
        self,
        page: Path,
        width: int = 1200,
        height: int = 900,
        scheme: str = "light",
        fragment: str = "",
        media: str = "screen",
    ) -> None:
        self._page.set_viewport_size({"width": width, "height": height})
        self._page.emulate_media(color_scheme=scheme, media=media)
        self.requests.clear()
        self.complaints.clear()
        if fragment:
            self._page.goto("about:blank")  # a change of the fragment alone loads nothing
            self.requests.clear()
        self._page.goto(page.as_uri() + fragment)

    def run(self, expression: str) -> Any:
        """Evaluate an expression (a promise is awaited) and give its value."""
        return self._page.evaluate(expression)

    def until(self, condition: str) -> None:
        """Wait until an expression is true.

        Asked from here: `Page.wait_for_function` evaluates text in the page, which the page's policy forbids.
        """
        end = time.monotonic() + PATIENCE_MS / 1000
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}; {self.complaints}"
            self._page.wait_for_timeout(50)

    def drawn(self) -> None:
        """Wait until every chart is drawn, what is closed too, and said in words."""
        self.run("document.querySelectorAll('details.rest').forEach((each) => { each.open = true })")
        self.until("document.querySelector('figure:not([data-drawn]), figure[aria-busy]') === null")

    def screenshot(self) -> bytes:
        return self._page.screenshot(full_page=True)

    def _note_request(self, request: Request) -> None:
        own = request.is_navigation_request() and request.frame == self._page.main_frame
        if not own and not request.url.startswith(("data:", "blob:")):
            self.requests.append(request.url)

    def _note_message(self, message: ConsoleMessage) -> None:
        self.complaints.append(f"{message.type}: {message.text} {message.location}"[:2000])

    def _note_error(self, error: Error) -> None:
        self.complaints.append(str(error)[:2000])


@contextlib.contextmanager
def started(program: str) -> Iterator[Browser]:
    """Start a browser; it is ended, and its profile removed, afterwards."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield Browser(chromium.new_page())
        finally:
            chromium.close()
