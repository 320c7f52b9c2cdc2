"""The page as PDF, printed by Chromium, including content that buttons and closed parts hide on screen."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.output_files import OutputFile
from ssdlab.host.programs import WORKING_FOLDER, find_program, fixed_environment
from ssdlab.model.errors import HostError, Unsupported
from ssdlab.report.edition import PLAIN, Edition
from ssdlab.report.page import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.source import Reported

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_S = 600
"""Time limit for Chromium. A page of a whole suite takes a minute to print on a busy machine."""
_HEAD = b"%PDF-"
_MARK = b"/Creator (ssdlab"
_CREATOR = re.compile(rb"/Creator \((?:[^()\\]|\\.)*\)")


def browser() -> str:
    """Return the path of the installed Chromium.

    Raises
    ------
    Unsupported
        None is installed.
    """
    found = next((path for name in BROWSERS if (path := find_program(name)) is not None), None)
    if found is None:
        raise Unsupported(
            "a PDF of the page is printed by Chromium, which is not installed",
            "install the package chromium, or print the page from any browser",
        )
    return found


def place(path: Path) -> OutputFile:
    """Reserve the file name of a PDF; only an older PDF by ssdlab may be replaced.

    Raises
    ------
    UsageError, Refused
        See `OutputFile`.
    """
    return OutputFile(path, ours=lambda head: head.startswith(_HEAD) and _MARK in head, noun="PDF")


def write_pdf(runs: Sequence[Reported], path: Path, edition: Edition = PLAIN) -> int:
    """Print the page of these runs into a file; return its size in bytes.

    Raises
    ------
    Unsupported
        Chromium is not installed.
    UsageError
        The extra `figures` is not installed, or as by `place`.
    HostError
        Chromium fails, or the file cannot be written.
    """
    program = browser()
    with place(path) as file:
        content = _printed(program, render(runs, edition, printed=True))
        file.replace(content)
    return len(content)


def _printed(program: str, html: str) -> bytes:
    """Return the PDF that Chromium prints from a page, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as name:
        folder = Path(name)
        page, out = folder / "page.html", folder / "page.pdf"
        page.write_text(html, encoding="utf-8")
        line = [
            program,
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={out}",
            # Chromium has no sandbox for root. The page is ssdlab's own, runs no script and loads nothing.
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            page.as_uri(),
        ]
        try:
            done = subprocess.run(
                line,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE_S,
                cwd=WORKING_FOLDER,
                env=fixed_environment(),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise HostError(
                f"Chromium has not printed the page within {PATIENCE_S} s", "print fewer runs at once"
            ) from error
        if done.returncode != 0 or not out.is_file():
            last = (done.stderr.strip().splitlines() or ["it printed no message"])[-1]
            raise HostError(
                f"Chromium did not print the page: {last[:200]}", "print the page from a browser by hand"
            )
        # The mark lets ssdlab replace the file later. It keeps its length, as the PDF stores offsets.
        return _CREATOR.sub(lambda found: _MARK.ljust(len(found[0]) - 1) + b")", out.read_bytes(), count=1)
