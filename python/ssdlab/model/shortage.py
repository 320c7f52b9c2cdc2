"""What a process or its host ran short of, told from damage: what was being read may be whole."""

from __future__ import annotations

import errno
import os

from ssdlab.model.errors import HostError, LabError

_FILES = ("this process may open no more files", "raise its limit: ulimit -n 1024")
_MEMORY = ("there is not enough memory", "stop other work, ask for less at a time, or raise ulimit -v")
_THREADS = ("no further thread can be begun", "stop other work, or raise ulimit -u and -v")
_FULL = ("the file system is full", "free some space there")
_BY_NUMBER = {
    errno.EMFILE: _FILES,
    errno.ENFILE: ("the host has no more open files to give", "stop what holds many, or raise fs.file-max"),
    errno.ENOMEM: _MEMORY,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: ("the quota of this user is used up", "free some space there"),
}
_BY_WORDS = {
    "Too many open files": _FILES,
    "Out of Memory": _MEMORY,
    "Cannot allocate memory": _MEMORY,
    "Allocation failure": _MEMORY,
    "bad allocation": _MEMORY,
    "std::bad_alloc": _MEMORY,
    "failed to map segment": _MEMORY,
    "can't start new thread": _THREADS,
    "Resource temporarily unavailable": _THREADS,
    "No space left": _FULL,
}
"""Where an error has no number: DuckDB's, and those of loading a module or beginning a thread."""


def shortage_of(error: BaseException, path: object = None) -> HostError | None:
    """Return the error for a shortage, if that is what another one tells of.

    Parameters
    ----------
    error
        Of the system, of a library, or ours.
    path
        What was being read or written.
    """
    if isinstance(error, LabError) and error.facts.get("shortage"):
        return error if isinstance(error, HostError) else None
    found = _words(error)
    if found is None:
        return None
    what, advice = found
    named = path or getattr(error, "filename", None)
    at = "" if named is None else f" ({os.fsdecode(named) if isinstance(named, bytes) else named})"
    number = error.facts.get("errno") if isinstance(error, LabError) else getattr(error, "errno", None)
    return HostError(what + at, advice, shortage=True, errno=number)


def raise_shortage(error: BaseException, path: object = None) -> None:
    """Raise the error for a shortage, if there is one: what follows takes the rest for damage.

    Raises
    ------
    HostError
        It is one.
    """
    if (found := shortage_of(error, path)) is not None:
        raise found from error


def _words(error: BaseException) -> tuple[str, str] | None:
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, LabError):
        return _BY_NUMBER.get(error.facts.get("errno") or 0)
    if isinstance(error, OSError) and error.errno is not None:
        return _BY_NUMBER.get(error.errno)
    text = str(error)
    return next((found for words, found in _BY_WORDS.items() if words in text), None)
