"""Signals as a flag: a run ends between two looks at it, never in the middle of a record."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopFlag:
    """Takes SIGINT, SIGTERM and SIGHUP while it is entered; a second one ends the process at once.

    A kill loses nothing that was finished, so the second is safe as well. In a thread other than the main
    one no signal can be taken, and the flag stays down.
    """

    def __init__(self) -> None:
        self.raised: signal.Signals | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Whether a signal has come."""
        return self.raised is not None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._take) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.raised = signal.Signals(number)
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
