"""`live.json`: what `ssdlab watch` reads while a run goes on; renamed into place about once a second.

It is a courtesy and no record: it is not fsynced, and a full disk leaves the old one.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import TYPE_CHECKING, Any

from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.errors import Refused, check_schema
from ssdlab.results.journal import now
from ssdlab.results.run_folder import LIVE, LIVE_SCHEMA
from ssdlab.results.seal import read_document, seal_document

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.results.progress import Progress
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Status

_EVERY_S = 1.0


class LiveFile:
    """Writes `live.json` for its observers.

    Parameters
    ----------
    folder
        The run folder.
    """

    def __init__(self, folder: Path | HeldFolder) -> None:
        self._folder = hold(folder, writing=True)
        self._next = 0.0

    def began(self, progress: Progress) -> None:
        """Write at once."""
        self._write(progress)

    def tick(self, progress: Progress) -> None:
        """Write about once a second."""
        if time.monotonic() >= self._next:
            self._write(progress)

    def finished(self, step: Step, progress: Progress, *, read_back: bool) -> None:
        """Write at once, unless the step was only read back."""
        del step
        if not read_back:
            self._write(progress)

    def ended(self, status: Status) -> None:
        """Leave the last state; the manifest tells the end."""

    def _write(self, progress: Progress) -> None:
        self._next = time.monotonic() + _EVERY_S
        text = json.dumps({"schema": LIVE_SCHEMA, "at": now(), "pid": os.getpid(), **progress.as_dict()})
        with contextlib.suppress(OSError):
            self._folder.replace(LIVE, seal_document(text), durable=False)


def read_live(folder: Path) -> dict[str, Any] | None:
    """Return the last state that a run wrote; None before the first, of a damaged one and of a newer one."""
    path = folder / LIVE
    try:
        with HeldFolder(folder) as held:
            stored = read_document(held.read_bytes(LIVE), LIVE_SCHEMA)[0]
        check_schema(stored.get("schema"), LIVE_SCHEMA, path)
    except (OSError, ValueError, Refused):
        return None
    return stored
