"""Waiting for a drive at work: progress about once a second, and an end to patience."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from ssdlab.drives.purge.record import SUBSTITUTES, PurgeMethodName, PurgeProgress
from ssdlab.model.errors import DriveError
from ssdlab.model.units import share_text, span_text

T = TypeVar("T")

_LOOK_S = 1.0
_KEEP_POWERED = (
    "keep the drive powered and purge it again later: what still goes on is followed, and --limit gives it "
    "more time; if it never ends, power-cycle the drive and look at dmesg"
)
_BEGIN_ANEW = "nothing goes on now: purge it again, with more time (--limit) or another method (--method)"


class Clock:
    """Time as the waiting sees it; a test has another."""

    def now(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    def wait(self, done: threading.Event, seconds: float) -> bool:
        """Wait for an event, at most so long; return whether it has come."""
        return done.wait(seconds)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)


class Watch:
    """Observes one purge.

    Parameters
    ----------
    method
        Which.
    limit_s
        How long it may take from now on.
    on_progress
        Called about once a second; what it raises ends the waiting, not the drive's work.
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
        """Seconds since it began."""
        return self._clock.now() - self._began

    @property
    def left_s(self) -> float:
        """Seconds of patience left."""
        return max(0.0, self._limit_s - self.elapsed_s)

    def look(self, share: float | None, what: str) -> None:
        """Tell how far it is, if it is time to.

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
        """Let about a second pass."""
        self._clock.sleep(_LOOK_S)

    def during(
        self, call: Callable[[], T], what: str, share_of: Callable[[], float | None] = lambda: None
    ) -> T:
        """Make a call that blocks until the drive has done its work, and report meanwhile.

        It runs in a thread of its own, which is left behind when the waiting ends early: a command cannot be
        taken back from a drive.
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
    """A call made in another thread, and what came of it."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: list[T] = []
        self._error: BaseException | None = None
        self.done = threading.Event()

    def make(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # handed to the thread that waits
            self._error = error
        finally:
            self.done.set()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result[0]
