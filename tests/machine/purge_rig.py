"""A fake drive on a fake host, ready to be purged; time passes only as it is waited for."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from ssdlab.drives.purge import PurgeMethodName, PurgeProgress, PurgeRecord
from ssdlab.drives.purge.method import Sibling
from ssdlab.drives.purge.purging import Ledger, Purging, subject_of
from ssdlab.host.identity import Identity
from ssdlab.model.errors import Interrupted, LabError

SIZE = 1 << 20
ALL = 64
"""Samples of a drive of that size."""


@dataclass
class FakeMedium:
    """What a fake drive holds. A drive that sanitizes itself gives and takes nothing."""

    drive: Any
    keeps_discarded: bool = False
    drops_writes: bool = False
    size_bytes: int = SIZE
    block_bytes: int = 512
    in_file_system: bool = False

    def read(self, at: int, length: int) -> bytes:
        self._check()
        return bytes(self.drive.media[at : at + length])

    def write(self, at: int, content: bytes) -> None:
        self._check()
        if not self.drops_writes:
            self.drive.media[at : at + len(content)] = content

    def discard(self, at: int, length: int) -> None:
        if not self.keeps_discarded:
            self.drive.media[at : at + length] = bytes(length)

    def flush(self) -> None:
        pass

    def _check(self) -> None:
        if getattr(self.drive, "sanitize_state", 0) in (2, 3):
            raise OSError(5, "sanitize in progress")


@dataclass
class FakeClock:
    """A clock that a wait moves on by a minute."""

    at: float = 0.0

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += 60

    def wait(self, done: threading.Event, seconds: float) -> bool:
        if done.wait(0.2):
            return True
        self.at += 60
        return False


@dataclass
class PurgeRig:
    """A fake drive on a fake host, and everything that a purge of it told."""

    host: Any
    drive: Any
    ledger: Ledger
    disk: dict[str, str]
    identity: dict[str, Any]
    medium: FakeMedium = field(init=False)
    told: list[PurgeProgress] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    stop_after: int | None = None

    def __post_init__(self) -> None:
        self.medium = FakeMedium(self.drive)
        self.node = self.host.disk("drive", queue__discard_max_bytes="1073741824", **self.disk)

    def purge(
        self, method: PurgeMethodName | None = None, *consents: str, limit_s: float | None = None
    ) -> PurgeRecord:
        who = Identity("/dev/drive", "drive", "block", "SERIAL", SIZE, 512, serial="SERIAL", **self.identity)
        subject = subject_of(who, self.host.files, self.node, self.drive)
        return Purging(
            subject,
            self.medium,
            ("SERIAL", *consents),
            hold=self._hold,
            on_progress=self._tell,
            limit_s=limit_s,
            clock=FakeClock(),
            ledger=self.ledger,
        ).purge(method)

    def fails(self, kind: type[LabError], reason: str, *words: Any, **options: Any) -> LabError:
        with pytest.raises(kind) as caught:
            self.purge(*words, **options)
        assert caught.value.facts["reason"] == reason, caught.value
        return caught.value

    @property
    def kept(self) -> list[dict[str, Any]]:
        """The ledger's files, in order."""
        return [json.loads(path.read_text()) for path in sorted(self.ledger._folder.glob("*.json"))]

    @contextmanager
    def _hold(self, sibling: Sibling) -> Iterator[None]:
        self.held.append(sibling.name)
        yield

    def _tell(self, progress: PurgeProgress) -> None:
        self.told.append(progress)
        if self.stop_after is not None and len(self.told) >= self.stop_after:
            raise Interrupted("stopped", "go on")


Make = Callable[..., PurgeRig]
