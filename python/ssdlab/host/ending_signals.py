"""Signals that end a command, from its start: they are reported as such, whatever they interrupt.

A signal that raises `KeyboardInterrupt` wherever Python stands may be lost: a callback of the import system
prints it and goes on, and pydantic, while it makes a model, does so too or turns it into a `SchemaError` that
has it as text alone. So a signal waits until the command has begun, and later on while a module is loaded or
a model is made; and it is remembered that one came, whatever exception comes out.
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
"""Between two looks at whether that is still so."""
LONGEST_WAIT_S = 2.0
"""For a module that is loaded, or a model; those of others may hang in that. A native one is waited for."""
_CALLED_BY_C = ("<frozen importlib._bootstrap>", "<frozen abc>")
"""The import system, and `isinstance` of an abstract class, which pydantic asks while it writes a model."""
_LOADS_NATIVE = "ExtensionFileLoader."
"""Beginning of the names of what loads a native module. An exception through the C++ of duckdb's aborts."""
_MAKES_MODELS = "/pydantic/_internal/"
"""In names of files; a model is made when it is first used."""


class EndingSignals:
    """Takes the signals that end a command, where nobody else has taken them or ignores them.

    Attributes
    ----------
    came
        The signal that came last; None: none has.
    held
        Whether one that comes is only remembered. To set it is not interrupted, as a call of `hold` would be
        by a signal that has just come.
    """

    def __init__(self) -> None:
        self.came: signal.Signals | None = None
        self.held = True
        self._wait_until = 0.0
        self._before: dict[int, _Handler] = {}
        self._alarm_before: tuple[_Handler, float] | None = None

    def take(self) -> Self:
        """Take the signals; until `release` one that comes is only remembered."""
        for number in TAKEN:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                self._before[number] = signal.signal(number, self._interrupt)
        return self

    def give_back(self) -> None:
        """Let signals do what they did before: this process goes on."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def release(self) -> None:
        """Let signals interrupt from here on.

        Raises
        ------
        KeyboardInterrupt
            One has come already.
        """
        self.held = False
        if self.came is not None:
            raise KeyboardInterrupt(self.came.name)

    def hold(self) -> None:
        """Only remember what comes from here on: the command ends."""
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
        """Send the signal that waits once more: a run that has begun by now takes it for itself."""
        del number, frame
        if self.came is not None and not self.held:
            signal.raise_signal(self.came)


def _may_lose_it(frame: FrameType | None, *, waited: bool) -> bool:
    """Whether an exception there might be lost, or end the process; `waited` is for as long as one may."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename in _CALLED_BY_C or _MAKES_MODELS in code.co_filename:
            if not waited:
                return True
        elif code.co_qualname.startswith(_LOADS_NATIVE):
            return True
        frame = frame.f_back
    return False
