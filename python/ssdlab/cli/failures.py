"""The one place where errors are shown and turned into exit statuses, and where signals are taken."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.cli.output import output_errors
from ssdlab.model.errors import HostError, Interrupted, LabError, UsageError, excerpt, of_os
from ssdlab.model.printable import styled

if TYPE_CHECKING:
    from types import FrameType

TRACEBACK_VARIABLE = "SSDLAB_TRACEBACK"
"""Set to anything, an error comes with its traceback."""


def guarded(command: Callable[[], int], *, as_json: bool) -> int:
    """Run a command; show what it raises and return the exit status.

    Parameters
    ----------
    command
        Returns the exit status of what went well.
    as_json
        Whether an error is printed as an object on stdout too.
    """
    _take_signals()
    _open_closed_streams()
    try:
        status = command()
        with output_errors():
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (ssdlab ... | head): not our error, and nothing can be said to it.
        _give_up_stdout()
        return 0
    except BaseException as error:
        failure = as_lab_error(error)
        if failure is None:
            raise
        return show(failure, error, as_json=as_json)
    return status


def as_lab_error(error: BaseException) -> LabError | None:
    """Return any exception as an error of ours; None for those that end the process by themselves."""
    if isinstance(error, LabError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return Interrupted("stopped by a signal", "run it again, or resume the run if it was one")
    if isinstance(error, SystemExit | GeneratorExit):
        return None
    if (told := _of_parser(error) or _of_python(error)) is not None:
        return told
    return LabError(
        f"internal error: {type(error).__name__}: {error}",
        f"please report it, with the command and the output under {TRACEBACK_VARIABLE}=1",
    )


def _of_parser(error: BaseException) -> UsageError | None:
    """Return the error for what the command line's parser found wrong; it is loaded if it raised."""
    parser = sys.modules.get("cyclopts")
    if parser is None or not isinstance(error, parser.CycloptsError):
        return None
    from ssdlab.cli.parser_errors import usage_error

    return usage_error(error)


def _of_python(error: BaseException) -> LabError | None:
    """Return the error for what Python raises at what was given, or the host lacks; None for our faults."""
    if isinstance(error, OSError):
        named = error.filename if error.filename2 is None else error.filename2
        what = "a call of the system failed" if named is None else excerpt(os.fsdecode(named))
        advice = "see whether the name is right, and what lies there" if named else "see the kernel's log"
        return of_os(error, what, advice, path=None if named is None else os.fsdecode(named))
    if isinstance(error, MemoryError):
        return HostError("there is not enough memory", "stop other work, or ask for less at a time")
    if isinstance(error, RecursionError):
        return UsageError("what was given is nested too deeply", "write it with fewer levels")
    if isinstance(error, UnicodeError):
        return UsageError(f"what was given is not text in UTF-8: {error}", "correct that part")
    return None


def show(failure: LabError, cause: BaseException, *, as_json: bool) -> int:
    """Print an error and return its exit status."""
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        traceback.print_exception(cause)
    print(styled(f"ssdlab: {failure.what}"), file=sys.stderr)
    if failure.advice:
        print(styled(f"        {failure.advice[0].upper()}{failure.advice[1:]}"), file=sys.stderr)
    if as_json:
        print_error_object(failure)
    return failure.exit_status


def print_error_object(failure: LabError) -> None:
    """Print an error for programs; where stdout itself is what failed, stderr has said it."""
    try:
        print(json.dumps(failure.as_dict(), ensure_ascii=False, indent=2), flush=True)
    except OSError:
        _give_up_stdout()


def _give_up_stdout() -> None:
    """Let what is still buffered go nowhere, so that the end of the process does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Give a process that was started without stdout or stderr (``>&-``) streams that lead nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - it stays open


def _take_signals() -> None:
    """Let SIGTERM and SIGHUP do what Ctrl-C does: I/O in flight is drained, and what was measured is kept."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)
