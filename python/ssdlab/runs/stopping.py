"""Signals as a flag: a run stops when it checks the flag, never in the middle of a record."""

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
"""Signals this close together are one wish to stop: a closed terminal sends SIGHUP and SIGTERM, and a program
that started this one passes on the Ctrl-C that the terminal has already sent to both."""


class StopFlag:
    """Takes SIGINT, SIGTERM and SIGHUP while it is entered; a second one, later, ends the process at once.

    A kill loses nothing that was finished, so the second is safe as well. In a thread other than the main
    one no signal can be taken, and the flag stays down.
    """

    def __init__(self) -> None:
        self.raised: signal.Signals | None = None
        self._raised_at = 0.0
        self._looked_at = False
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Whether a signal has come; from this look on the next one is left to the system."""
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
        """Send on a signal that came after the last look, once the flag is left: nobody else knows of it.

        Without this the next run of a suite would begin, as if none had come.
        """
        if self.raised is not None and not self._looked_at:
            signal.raise_signal(self.raised)

    def _take(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.raised is None:
            self.raised, self._raised_at = signal.Signals(number), time.monotonic()

    def _leave_the_next_to_the_system(self) -> None:
        # Not in the handler: one that was already on its way would find no handler, and Python complains.
        time.sleep(max(0.0, self._raised_at + ONE_STOP_S - time.monotonic()))
        for number in self._before:
            signal.signal(number, signal.SIG_DFL)
