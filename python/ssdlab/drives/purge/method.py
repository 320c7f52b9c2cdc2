"""Purge methods: their definition, the wait for their end, and the substitutes for any block device."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from ssdlab.drives.admin.port import AdminPort
from ssdlab.drives.details import Details
from ssdlab.drives.purge.record import SUBSTITUTES, PurgeMethodName, PurgeProgress
from ssdlab.drives.trim.medium import Medium
from ssdlab.host.attributes import disk_of
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles, number
from ssdlab.model.errors import DriveError, HostError
from ssdlab.model.units import share_text, span_text

T = TypeVar("T")

_LOOK_S = 1.0
_KEEP_POWERED = (
    "keep the drive powered and purge it again later, with --limit for more time: a running purge "
    "is followed. If it never ends, power-cycle the drive and check dmesg"
)
_BEGIN_ANEW = "no purge is running now: purge it again, with more time (--limit) or another method (--method)"


class Clock:
    """The clock of a `Watch`; tests replace it."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, done: threading.Event, seconds: float) -> bool:
        """Wait for an event for at most `seconds`; return whether the event was set."""
        return done.wait(seconds)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Watch:
    """Reports the progress of one purge, and ends the wait at its time limit.

    Parameters
    ----------
    limit_s
        Seconds from now on.
    on_progress
        Called about once a second. An exception from it ends the wait, not the drive's work.
    clock
        By default the host's.
    """

    def __init__(
        self,
        method: PurgeMethodName,
        limit_s: float,
        on_progress: Callable[[PurgeProgress], object] | None,
        clock: Clock | None = None,
    ) -> None:
        self._method = method
        self._limit_s = limit_s
        self._on_progress = on_progress
        self._clock = clock or Clock()
        self._began = self._clock.now()
        self._reported = float("-inf")
        self._share: float | None = None
        self._moved = self._began

    @property
    def elapsed_s(self) -> float:
        return self._clock.now() - self._began

    @property
    def left_s(self) -> float:
        """Seconds until the time limit, at least 0."""
        return max(0.0, self._limit_s - self.elapsed_s)

    def look(self, share: float | None, what: str) -> None:
        """Report the progress, if the last report is a second old.

        Raises
        ------
        DriveError
            The time limit has passed: `reason` "hung", with the share reached.
        """
        now = self._clock.now()
        if share != self._share:
            self._share, self._moved = share, now
        if now - self._reported >= _LOOK_S:
            self._reported = now
            if self._on_progress is not None:
                self._on_progress(PurgeProgress(self._method, now - self._began, share, what))
        if now - self._began > self._limit_s:
            raise self._hung(now)

    def pause(self) -> None:
        self._clock.sleep(_LOOK_S)

    def during(
        self, call: Callable[[], T], what: str, share_of: Callable[[], float | None] = lambda: None
    ) -> T:
        """Make a call that blocks until the drive is done, and report progress meanwhile.

        The call runs in a thread of its own. If the wait ends early, the thread is left behind, because a
        command cannot be withdrawn from a drive.
        """
        running = _Call(call)
        threading.Thread(target=running.make, daemon=True).start()
        while not self._clock.wait(running.done, _LOOK_S):
            self.look(share_of(), what)
        return running.result()

    def _hung(self, now: float) -> DriveError:
        reached = "" if self._share is None else f", at {share_text(self._share)}"
        still = now - self._moved
        stood = f", unchanged for {span_text(round(still))}" if still > _LOOK_S else ""
        return DriveError(
            f"{self._method} has not ended after {span_text(round(now - self._began))}{reached}{stood}",
            _BEGIN_ANEW if self._method in SUBSTITUTES else _KEEP_POWERED,
            reason="hung",
            method=self._method,
            share=self._share,
            limit_s=self._limit_s,
        )


class _Call(Generic[T]):
    """A call made in another thread, and its result or error."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: list[T] = []
        self._error: BaseException | None = None
        self.done = threading.Event()

    def make(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # raised again in the waiting thread
            self._error = error
        finally:
            self.done.set()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result[0]


_MINUTE_S, _HOUR_S = 60.0, 3600.0
_SLOWEST_MB_S = 20.0
"""A drive that overwrites more slowly than this has another fault."""


class PurgeRejected(Exception):
    """The drive rejected the method; nothing was erased, and another method may be tried."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another namespace that a command erases; `node` is its sysfs folder, if it has one."""

    name: str
    consent_id: str
    node: Path | None


@dataclass(frozen=True, slots=True)
class PurgeMethod:
    """A purge method of one drive.

    Attributes
    ----------
    obstacle
        Why the drive does not support it; None if it does.
    named_only
        Why it is used only if the user names it; None if ssdlab may choose it.
    hits
        Other namespaces that lose their data too.
    limit_s
        Seconds after which it counts as hung, from the drive's own estimate if there is one.
    estimate_s
        The drive's own estimate; None if it gives none.
    commands
        Commands that are sent, in readable form.
    """

    name: PurgeMethodName
    obstacle: str | None = None
    named_only: str | None = None
    hits: tuple[Sibling, ...] = ()
    limit_s: float = 2 * _HOUR_S
    estimate_s: float | None = None
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A drive to purge, and what it reported about itself."""

    identity: Identity
    files: HostFiles
    node: Path
    port: AdminPort
    details: Details


@dataclass(slots=True)
class Work:
    """A purge in progress: what an eraser needs, and the commands sent so far."""

    subject: Subject
    method: PurgeMethod
    medium: Medium
    watch: Watch
    sent: list[str] = field(default_factory=list)


def patience_s(estimate_s: float | None, otherwise_s: float = 2 * _HOUR_S) -> float:
    """Return a time limit: twice the drive's own estimate plus ten minutes; without one, `otherwise_s`."""
    return otherwise_s if estimate_s is None else 2 * estimate_s + 10 * _MINUTE_S


def overwrite_s(capacity_bytes: int) -> float:
    """Return a time limit in seconds for writing a whole drive."""
    return capacity_bytes / _SLOWEST_MB_S / 1e6 + 10 * _MINUTE_S


_DISCARD_BYTES = 16 << 30
_WRITE_BYTES = 4 << 20
_DISCARD_S_PER_TB = 300.0


def purge_methods(subject: Subject) -> tuple[PurgeMethod, ...]:
    """Return discard and zero fill; discard has an obstacle if the device does not support it."""
    size, path = subject.identity.capacity_bytes, subject.identity.path
    limit_bytes = number(disk_of(subject.node) / "queue" / "discard_max_bytes")
    return (
        PurgeMethod(
            "discard",
            obstacle=None if limit_bytes else "the device does not support discards",
            limit_s=600.0 + size / 1e12 * _DISCARD_S_PER_TB,
            commands=(f"discard bytes 0 to {size} of {path}",),
        ),
        PurgeMethod(
            "zero-fill",
            limit_s=overwrite_s(size),
            commands=(f"write zeroes to bytes 0 to {size} of {path}",),
        ),
    )


def discard(work: Work) -> None:
    work.sent.extend(work.method.commands)
    size = work.medium.size_bytes
    for at in range(0, size, _DISCARD_BYTES):
        length = min(_DISCARD_BYTES, size - at)
        try:
            _discard_part(work, at, length)
        except (DriveError, HostError) as error:
            raise PurgeRejected(error.what) from error
        work.watch.look((at + length) / size, "blocks are discarded")


def zero_fill(work: Work) -> None:
    work.sent.extend(work.method.commands)
    size = work.medium.size_bytes
    zeroes = bytes(_WRITE_BYTES)
    for at in range(0, size, _WRITE_BYTES):
        length = min(_WRITE_BYTES, size - at)
        try:
            work.medium.write(at, zeroes[:length])
        except OSError as error:
            raise DriveError(
                f"{work.subject.identity.path} failed to write zeroes at byte {at}: "
                f"{error.strerror or error}",
                "check the kernel log (dmesg); the drive may be failing",
                reason="failed",
                method=work.method.name,
                offset=at,
                errno=error.errno,
            ) from error
        work.watch.look((at + length) / size, "zeroes are written")
    work.medium.flush()


def _discard_part(work: Work, at: int, length: int) -> None:
    work.watch.during(lambda: work.medium.discard(at, length), "blocks are discarded")
