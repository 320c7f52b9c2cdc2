"""Signals that end a command, handled from its start on, so that none is lost.

A `KeyboardInterrupt` that a signal raises at any point of the code may be lost. Callbacks of the import
system print it and continue. Pydantic does so too while it makes a model, or turns it into a `SchemaError`
that keeps only its text. So a signal waits until the command has begun, and later on while a module is
loaded or a model is made. That it came is recorded, whatever exception is raised in the end.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Self, TypeAlias

    _Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

TAKEN = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_AGAIN_S = 0.01
"""Interval between checks of whether an exception could still be lost."""
LONGEST_WAIT_S = 2.0
"""Longest wait for a module or model, as third-party code may hang; a native module has no limit."""
_CALLED_BY_C = ("<frozen importlib._bootstrap>", "<frozen abc>")
"""The import system, and `isinstance` of an abstract class, which pydantic calls to make a model."""
_LOADS_NATIVE = "ExtensionFileLoader."
"""Prefix of functions that load a native module; an exception through duckdb's C++ aborts the process."""
_MAKES_MODELS = "/pydantic/_internal/"
"""Part of the file names of the code that makes models; a model is made when it is first used."""


class EndingSignals:
    """Takes the signals that end a command, unless other code handles or ignores them.

    Attributes
    ----------
    came
        Last signal that came; None: no signal came.
    held
        Whether a signal is only recorded. Unlike a call of `hold`, setting this attribute cannot be
        interrupted by a signal that has just come.
    """

    def __init__(self) -> None:
        self.came: signal.Signals | None = None
        self.held = True
        self._wait_until = 0.0
        self._before: dict[int, _Handler] = {}
        self._alarm_before: tuple[_Handler, float] | None = None

    def take(self) -> Self:
        """Take the signals; until `release`, they are only recorded."""
        for number in TAKEN:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = signal.signal(number, self._interrupt)
        return self

    def give_back(self) -> None:
        """Restore the handlers from before `take`, for a process that continues."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def release(self) -> None:
        """Let signals interrupt from now on.

        Raises
        ------
        KeyboardInterrupt
            A signal has come already.
        """
        self.held = False
        if self.came is not None:
            raise KeyboardInterrupt(self.came.name)

    def hold(self) -> None:
        """Only record signals from now on, as the command ends."""
        self.held = True
        if self._alarm_before is not None:
            handler, left_s = self._alarm_before
            signal.setitimer(signal.ITIMER_REAL, left_s)
            signal.signal(signal.SIGALRM, handler)
            self._alarm_before = None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.came is None:
            self._wait_until = now + LONGEST_WAIT_S
        self.came = signal.Signals(number)
        if self.held:
            return
        if _may_lose_it(frame, waited=now >= self._wait_until):
            self._look_again_soon()
            return
        raise KeyboardInterrupt(self.came.name)

    def _look_again_soon(self) -> None:
        before = signal.signal(signal.SIGALRM, self._look_again)
        left_s, _ = signal.setitimer(signal.ITIMER_REAL, LOOK_AGAIN_S)
        if self._alarm_before is None:
            self._alarm_before = before, left_s

    def _look_again(self, number: int, frame: FrameType | None) -> None:
        """Raise the waiting signal again; a run that has begun meanwhile handles it itself."""
        del number, frame
        if self.came is not None and not self.held:
            signal.raise_signal(self.came)


def _may_lose_it(frame: FrameType | None, *, waited: bool) -> bool:
    """Return whether an exception raised at this frame might be lost or abort the process.

    `waited` means that the longest wait is over: then only the loading of a native module counts.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename in _CALLED_BY_C or _MAKES_MODELS in code.co_filename:
            if not waited:
                return True
        elif code.co_qualname.startswith(_LOADS_NATIVE):
            return True
        frame = frame.f_back
    return False
