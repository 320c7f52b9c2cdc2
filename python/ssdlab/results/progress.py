"""The progress of a run, for its observers: the terminal, tests, and `live.json`."""

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
    """The progress of a run at one moment; response times are those of the last interval row."""

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
    """Number of streams and directions. The percentiles are those of the slowest one, as percentiles cannot
    be added."""
    failed: int = 0
    own_steps: int = 0
    """Number of leading steps that are the run's own: with one, a job's first step is the run's second."""
    outlook: str = ""
    """What the procedure expects beyond this step, such as when steady state is likely."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, live: Mapping[str, Any]) -> Self:
        """Return the progress in the content of `live.json`, which has further fields."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in live.items() if name in known})


class Observer(Protocol):
    """Observes a run. It must not make the run fail, and decides itself how often to show something."""

    def began(self, progress: Progress) -> None: ...

    def tick(self, progress: Progress) -> None:
        """Note the progress; called about every 50 ms during a step."""

    def finished(self, step: Step, progress: Progress, *, read_back: bool) -> None:
        """Note that a step is finished, or was read back from the journal (`read_back`)."""

    def ended(self, status: Status) -> None:
        """Note that the run ended, for good or until it is resumed."""


# `live.json` is renamed into place about once a second. It is no record: it is not fsynced, and if the disk
# is full, the old file stays.

_EVERY_S = 1.0


class LiveFile:
    """An observer that writes `live.json`, which `ssdlab watch` reads."""

    def __init__(self, folder: Path | HeldFolder) -> None:
        self._folder = hold(folder, writing=True)
        self._next = 0.0

    def began(self, progress: Progress) -> None:
        self._write(progress)

    def tick(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._write(progress)

    def finished(self, step: Step, progress: Progress, *, read_back: bool) -> None:
        del step
        if not read_back:
            self._write(progress)

    def ended(self, status: Status) -> None:
        """Keep the last state: the manifest records the end."""

    def _write(self, progress: Progress) -> None:
        self._next = time.monotonic() + _EVERY_S
        text = json.dumps({"schema": LIVE_SCHEMA, "at": now(), "pid": os.getpid(), **progress.as_dict()})
        with contextlib.suppress(OSError):
            self._folder.replace(LIVE, seal_document(text), durable=False)


def read_live(folder: Path) -> dict[str, Any] | None:
    """Return the last state that a run wrote; None: none yet, damaged, or from a newer ssdlab."""
    path = folder / LIVE
    try:
        with HeldFolder(folder) as held:
            stored = read_document(held.read_bytes(LIVE), LIVE_SCHEMA)[0]
        check_schema(stored.get("schema"), LIVE_SCHEMA, path)
    except (OSError, ValueError, Refused):
        return None
    return stored
