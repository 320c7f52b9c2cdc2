"""The progress of a run, for its observers.

The terminal, tests, and `live.json`, which `ssdlab watch` reads.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, Self

from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.errors import Refused, check_schema
from ssdlab.results.journal import now
from ssdlab.results.run_folder import LIVE, LIVE_SCHEMA
from ssdlab.results.seal import read_document, seal_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Status


@dataclass(frozen=True)
class Progress:
    """Progress of a run at one moment. Times in seconds; response times in ns, over the last interval row."""

    ordinal: int
    steps: int
    verb: str
    label: str
    phase: str
    step_elapsed_s: float
    step_least_s: float
    step_most_s: float
    run_elapsed_s: float
    remaining_least_s: float
    remaining_most_s: float
    iops: float | None = None
    mb_s: float | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None
    slowest_of: int = 1
    """Number of streams and directions; the percentiles are the slowest one's, as they cannot be added."""
    failed: int = 0
    own_steps: int = 0
    """Number of leading steps that are the run's own; a job's first step may be the run's second."""
    outlook: str = ""
    """The procedure's expectation beyond the step, such as when steady state is likely."""

    def as_dict(self) -> dict[str, Any]:
        """Return it for `live.json`."""
        return asdict(self)

    @classmethod
    def of(cls, live: Mapping[str, Any]) -> Self:
        """Return it from `live.json`, with the other content."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in live.items() if name in known})


class Observer(Protocol):
    """Observes a run; it must not fail the run, and decides itself how often to show something."""

    def began(self, progress: Progress) -> None:
        """Note the start of a step."""

    def tick(self, progress: Progress) -> None:
        """Note the progress, about every 50 ms during a step."""

    def finished(self, step: Step, progress: Progress, *, read_back: bool) -> None:
        """Note that a step is finished, or was read back from the journal."""

    def ended(self, status: Status) -> None:
        """Note that the run ended, for good or until it is resumed."""


# `live.json`: what `ssdlab watch` reads while a run goes on; renamed into place about once a second.
#
# It is a courtesy and no record: it is not fsynced, and a full disk leaves the old one.

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
        """Keep the last state; the manifest records the end."""

    def _write(self, progress: Progress) -> None:
        self._next = time.monotonic() + _EVERY_S
        text = json.dumps({"schema": LIVE_SCHEMA, "at": now(), "pid": os.getpid(), **progress.as_dict()})
        with contextlib.suppress(OSError):
            self._folder.replace(LIVE, seal_document(text), durable=False)


def read_live(folder: Path) -> dict[str, Any] | None:
    """Return the last state that a run wrote; None before the first, or if damaged or newer."""
    path = folder / LIVE
    try:
        with HeldFolder(folder) as held:
            stored = read_document(held.read_bytes(LIVE), LIVE_SCHEMA)[0]
        check_schema(stored.get("schema"), LIVE_SCHEMA, path)
    except (OSError, ValueError, Refused):
        return None
    return stored
