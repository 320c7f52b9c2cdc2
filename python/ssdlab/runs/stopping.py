"""Signals as a flag: a run checks the flag and stops then, never in the middle of a record."""

from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

ONE_STOP_S = 0.5
"""Signals this close together count as one. A closed terminal sends SIGHUP and SIGTERM. A program that
started ssdlab may pass on a Ctrl-C that the terminal has sent to both."""


class StopFlag:
    """Catches SIGINT, SIGTERM and SIGHUP as a context manager; a later second signal kills the process.

    The second signal is safe too: a kill loses nothing that was finished. Outside the main thread no signal
    can be caught, and the flag stays down.
    """

    def __init__(self) -> None:
        self.raised: signal.Signals | None = None
        self._raised_at = 0.0
        self._looked_at = False
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Whether a signal has come; after a True answer, the next signal has its default effect."""
        if self.raised is None:
            return False
        self._looked_at = True
        if threading.current_thread() is threading.main_thread():
            self._leave_the_next_to_the_system()
        return True

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._take) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def hand_on(self) -> None:
        """Send the signal again if it came after the last check; call this after leaving the context.

        Otherwise the signal would be lost, and the next run of a suite would begin.
        """
        if self.raised is not None and not self._looked_at:
            signal.raise_signal(self.raised)

    def _take(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.raised is None:
            self.raised, self._raised_at = signal.Signals(number), time.monotonic()

    def _leave_the_next_to_the_system(self) -> None:
        # Not in the handler: a signal already pending would find no handler, and Python would complain.
        time.sleep(max(0.0, self._raised_at + ONE_STOP_S - time.monotonic()))
        for number in self._before:
            signal.signal(number, signal.SIG_DFL)
