"""Atomic writes: after a crash or power cut, a file has either its old or its new content.

A rename is atomic only once the new file's bytes, and then the directory that names it, have reached the
disk. Each function here ensures both.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import HostError, LabError, raise_shortage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def library_errors(path: Path) -> Iterator[None]:
    """Turn an operating-system error on a library file into a `HostError` that says what to do.

    Raises
    ------
    HostError
        The error has the errno and the path as facts.
    """
    try:
        yield
    except LabError:
        raise
    except OSError as error:
        full = error.errno in _FULL
        if not full:
            raise_shortage(error, path)
        if error.errno == errno.EFBIG:
            raise _limited(path) from error
        reason = "the file system is full" if full else (error.strerror or str(error))
        advice = (
            "free some space there, then continue with ssdlab resume: finished steps are kept"
            if full
            else "repair that file system, or name another with --library"
        )
        raise HostError(
            f"cannot write {path}: {reason}", advice, path=str(path), errno=error.errno, full=full
        ) from error


def _limited(path: Path) -> HostError:
    return HostError(
        f"cannot write {path}: the file size limit of this process or file system is reached",
        "raise the limit (ulimit -f unlimited), then continue with ssdlab resume: finished steps are kept",
        path=str(path),
        errno=errno.EFBIG,
        full=False,
    )


def replace(path: Path, text: str) -> None:
    """Replace a file's content by `text`, in a folder of this user, atomically and durably.

    Raises
    ------
    Refused
        The folder is a link or another user's, or the name is not that of a file of this user.
    HostError
        The file system is full or fails; the old content then remains.
    """
    with library_errors(path), HeldFolder(path.parent, writing=True) as folder:
        folder.replace(path.name, text)
