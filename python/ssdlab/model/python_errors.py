"""What Python raises, as an error of ours: what was given is wrong, the host lacks something, or we err."""

from __future__ import annotations

import errno
import os

from ssdlab.model.errors import HostError, Interrupted, LabError, UsageError, excerpt, of_os
from ssdlab.model.shortage import shortage_of

TRACEBACK_VARIABLE = "SSDLAB_TRACEBACK"
"""Set to anything, an error comes with its traceback."""
_NO_MEMORY = "not enough memory for the simulated drive"
"""What the native side says where a table of a drive that was made finds no memory (`flash/memory.rs`)."""


def of_python(error: BaseException) -> LabError | None:
    """Return any exception as an error of ours; None for those that end the process by themselves."""
    if isinstance(error, LabError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return stopped()
    if isinstance(error, SystemExit | GeneratorExit):
        return None
    if (short := shortage_of(error)) is not None:
        return short
    if isinstance(error, OSError):
        return _of_system(error)
    if type(error).__name__ == "PanicException" and str(error).startswith(_NO_MEMORY):
        return HostError(str(error), "make it smaller with scale=N, or stop other work")
    if isinstance(error, RecursionError):
        return UsageError("what was given is nested too deeply", "write it with fewer levels")
    if isinstance(error, UnicodeError):
        return UsageError(f"what was given is not text in UTF-8: {error}", "correct that part")
    return LabError(
        f"internal error: {type(error).__name__}: {error}",
        f"please report it, with the command and the output under {TRACEBACK_VARIABLE}=1",
    )


STOPPED_ADVICE = "run it again, or resume the run if it was one"


def stopped() -> Interrupted:
    """Return the error of what a signal ended, and nobody else has told."""
    return Interrupted("stopped by a signal", STOPPED_ADVICE)


def _of_system(error: OSError) -> LabError:
    named = error.filename if error.filename2 is None else error.filename2
    what = "a call of the system failed" if named is None else excerpt(os.fsdecode(named))
    advice = "see whether the name is right, and what lies there"
    if error.errno in {errno.EACCES, errno.EPERM}:
        advice = "this user may not: ask whose it is, or name another place"
    if not named:
        advice = "see the kernel's log"
    return of_os(error, what, advice, path=None if named is None else os.fsdecode(named))
