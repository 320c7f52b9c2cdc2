"""Around every function of another package: what it raises, or gives wrongly, is told as that package's.

With file and line; never as a fault of ssdlab, and never as the end of what has nothing to do with it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import ParamSpec, TypeVar

from pydantic import ValidationError

from ssdlab.model.errors import TRACEBACK_VARIABLE, HostError, LabError
from ssdlab.model.fitting import Unfit

_OURS = Path(__file__).parents[1]
_P = ParamSpec("_P")
_T = TypeVar("_T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class PluginGuard:
    """Guards the functions of one method.

    Parameters
    ----------
    method
        Its name.
    package
        Name and version of the package that brings it along.
    module
        Where the package has it.
    """

    def __init__(self, method: str, package: str, module: str) -> None:
        self._code, self._method, self.package = code_of(module), method, package

    def named(
        self, call: Callable[_P, _T], *, pure: bool = False, quiet: bool = False, of: object = None
    ) -> Callable[_P, _T]:
        """Return a function whose failures name the package.

        Parameters
        ----------
        call
            The package's, or one of ours that calls it.
        pure
            What ssdlab raises beneath it comes of what the package gave: it is the package's fault too.
        quiet
            What it prints goes to stderr: stdout is the command's.
        of
            The package's function, where `call` is one of ours.
        """

        @functools.wraps(call)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            try:
                with (
                    heard_signals() as came,
                    _silent() if quiet else contextlib.nullcontext(),
                ):
                    return call(*args, **kwargs)
            except (LabError, MemoryError):
                raise
            except BaseException as error:
                if came or (isinstance(error, KeyboardInterrupt) and not pure):
                    raise
                failure = self._failure(error, of or call, pure=pure)
                if failure is None:
                    raise  # ssdlab did, which the package called: the host, or a fault of ours
                raise failure from error

        return called

    def wrong(self, call: object, why: str) -> HostError:
        """Return the failure of a function that gave the wrong thing."""
        code = getattr(call, "__code__", None)
        if code is None:
            return self._failed(*_defined(call), why)
        return self._failed(code.co_filename, code.co_firstlineno, why)

    def _failure(self, error: BaseException, call: object, *, pure: bool) -> HostError | None:
        unfit = isinstance(error, Unfit)
        place = place_of(error, self._code, pure=pure or unfit)
        if isinstance(error, Unfit):
            giver = getattr(error.by, "__code__", None)
            if giver is not None and not Path(giver.co_filename).is_relative_to(_OURS):
                return self.wrong(error.by, str(error))
            if place is not None:
                return self._failed(place.filename, place.lineno or 0, str(error))
        if place is not None:
            return self._failed(place.filename, place.lineno or 0, reason_of(error))
        return self.wrong(call, reason_of(error)) if pure else None

    def _failed(self, file: str, line: int, why: str) -> HostError:
        return HostError(
            f"method {self._method} of package {self.package} failed at {file}:{line}: {why}",
            f"report it to those who made that package, with the output under {TRACEBACK_VARIABLE}=1",
            reason="plugin",
            method=self._method,
            package=self.package,
            file=file,
            line=line,
        )


def _defined(model: object) -> tuple[str, int]:
    """Return file and line of a class."""
    with contextlib.suppress(OSError, TypeError):
        if isinstance(model, type):
            return inspect.getfile(model), inspect.getsourcelines(model)[1]
    return "unknown", 0


def code_of(module: str) -> Path:
    """Return the file or folder that a package's code lies in; the module has to be loaded."""
    top = Path(getattr(sys.modules.get(module.partition(".")[0]), "__file__", None) or module)
    return top.parent if top.name == "__init__.py" else top


def reason_of(error: BaseException) -> str:
    """Return an error in one line: its class, and of a model that something does not fit the first fault."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{error.title}: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}".rstrip(": ")


def place_of(error: BaseException, code: Path, *, pure: bool) -> traceback.FrameSummary | None:
    """Return the line of the package that raised, or called a library that did; None where ssdlab did.

    Of what is `pure` ssdlab raises only over what the package gave it, so that is the package's too.
    """
    place = None
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    for each in frames:
        if Path(each.filename).is_relative_to(_OURS):
            place = place if pure else None
        elif Path(each.filename).is_relative_to(code):
            place = each
    return place


@contextmanager
def heard_signals() -> Iterator[list[int]]:
    """Yield the signals that came meanwhile: what ends a process by one is no failure of who was at work."""
    came: list[int] = []
    before: dict[int, Callable[[int, FrameType | None], object]] = {}

    def heard(number: int, frame: FrameType | None) -> None:
        came.append(number)
        before[number](number, frame)

    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            with contextlib.suppress(ValueError):  # only the main thread is sent signals
                signal.signal(number, heard)
                before[number] = handler
    try:
        yield came
    finally:
        for mine, handler in before.items():
            if signal.getsignal(mine) is heard:
                signal.signal(mine, handler)


def _silent() -> contextlib.AbstractContextManager[object]:
    """Send what is printed to stderr."""
    return contextlib.redirect_stdout(sys.stderr)
