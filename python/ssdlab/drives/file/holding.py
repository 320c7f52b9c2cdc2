"""Opens a file, locks it against another ssdlab, and judges it by its descriptor.

Only regular files are opened, and never by name. The object under the name is pinned first. A link, a pipe or
a device that somebody puts there in the meantime is detected and not followed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ssdlab.drives.guard.file_guard import FileFacts, file_facts, judge_file
from ssdlab.drives.guard.judge import Intent, Refusal
from ssdlab.drives.guard.mark import mark_of, read_mark, write_mark
from ssdlab.host.held_folder import allocate
from ssdlab.host.reach import Pin, Place
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import HostError, LabError, Refused, UsageError, excerpt, of_os
from ssdlab.model.units import bytes_text

_DEFAULT_BLOCK_BYTES = 4096
_USAGE = {"no-size", "no-file", "no-folder", "size", "empty"}
"""Refusals that a different command line avoids without any danger; they are usage errors."""


def hold_file(
    place: Place, intent: Intent, files: HostFiles, size_bytes: int | None, token: str
) -> tuple[int, FileFacts]:
    """Open or create a file, and judge it.

    Parameters
    ----------
    place
        Place of the file, which need not exist yet.
    intent, files, size_bytes
        As for `FileDrive`.
    token
        Token of the run; see `guard.mark.ownership`.

    Returns
    -------
    tuple
        The only descriptor of the file, locked, and the facts about the file. The descriptor is open for
        writing if writing is intended, or if the file has our mark, so that it can be laid out.

    Raises
    ------
    UsageError, Refused, HostError
        As for `FileDrive`.
    """
    with _pinned(place) as pin:
        new = pin is None
        if pin is None or not stat.S_ISREG(pin.status.st_mode):
            descriptor = _made(place, pin, intent, files, size_bytes)
        else:
            descriptor = _opened(pin, place, intent, files, size_bytes)
    try:
        _lock(descriptor, place.path)
        facts = file_facts(files, place.path, descriptor, token)
        check_file(facts, intent, size_bytes)
    except BaseException:
        os.close(descriptor)
        raise
    # A file that was just created has no hidden users.
    return descriptor, replace(facts, unseen=()) if new else facts


def check_file(facts: FileFacts, intent: Intent, size_bytes: int | None = None) -> None:
    refusal = judge_file(facts, intent, size_bytes)
    if refusal is not None:
        raise _refusal_error(refusal, facts.path)


def _refusal_error(refusal: Refusal, target: str) -> LabError:
    if refusal.reason in _USAGE:
        return UsageError(refusal.what, refusal.advice, reason=refusal.reason, target=target)
    return refusal.error(target)


def replaced(path: Path) -> Refused:
    return Refused(
        f"{path} is no longer the file that was checked: it was moved, removed or replaced",
        "start again with the right file",
        reason="replaced",
        target=str(path),
    )


class _Nothing:
    """A context manager in place of the pin of a missing file."""

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


def _pinned(place: Place) -> Pin | _Nothing:
    try:
        pin = None if place.folder is None else place.folder.inside(place.path.name)
    except OSError:
        pin = None  # the folder may not be searched; the guard reports it
    return _Nothing() if pin is None else pin


def _made(place: Place, pin: Pin | None, intent: Intent, files: HostFiles, size_bytes: int | None) -> int:
    """Create a missing file; refuse anything but a regular file."""
    facts = file_facts(files, place.path)
    check_file(facts, intent, size_bytes)
    if pin is not None or place.folder is None or facts.kind != "missing" or size_bytes is None:
        raise replaced(place.path)
    if size_bytes <= 0 or size_bytes % _DEFAULT_BLOCK_BYTES:
        raise UsageError(
            f"--size {bytes_text(size_bytes)} for {place.path} is not a multiple of "
            f"{bytes_text(_DEFAULT_BLOCK_BYTES)}",
            "give a size in whole blocks, such as 4GiB",
            size_bytes=size_bytes,
        )
    return _make(place.folder, place.path, size_bytes)


def _make(folder: Pin, path: Path, size_bytes: int) -> int:
    """Create a file of our own with its space reserved; leave nothing behind on failure."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path.name, flags, 0o644, dir_fd=folder.descriptor)
    except FileExistsError as error:
        raise replaced(path) from error
    except OSError as error:
        raise _host_error(path, error) from error
    try:
        # The mark comes first: after a kill from here on, the file is known as ours and can be completed.
        os.ftruncate(descriptor, size_bytes)
        write_mark(descriptor, path, mark_of(descriptor, size_bytes=size_bytes, complete=False, writing=True))
        allocate(descriptor, size_bytes)
    except OSError as error:
        if folder.leads_to(path.name, os.fstat(descriptor)):
            with suppress(OSError):
                os.unlink(path.name, dir_fd=folder.descriptor)
        os.close(descriptor)
        raise _host_error(path, error) from error
    return descriptor


def _opened(pin: Pin, place: Place, intent: Intent, files: HostFiles, size_bytes: int | None) -> int:
    if intent.writing:
        try:
            return pin.open(os.O_RDWR)
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise _host_error(place.path, error) from error
    try:
        # O_NONBLOCK: do not wait for the holder of a lease, whom the guard finds later.
        descriptor = pin.open(os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        check_file(file_facts(files, place.path), intent, size_bytes)
        raise _host_error(place.path, error) from error
    if read_mark(descriptor, place.path) is None:
        return descriptor
    with suppress(OSError):
        writable = pin.open(os.O_RDWR)
        os.close(descriptor)
        return writable
    return descriptor


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno != errno.EWOULDBLOCK:
            return  # no locks here (some network file systems); the guard finds others by their open files
        raise Refused(
            f"{path} is in use by another ssdlab",
            "wait for it to end, or use another file",
            reason="open",
            target=str(path),
        ) from None


def _host_error(path: Path, error: OSError) -> UsageError | HostError:
    return of_os(
        error,
        f"{excerpt(str(path))} cannot be made or opened",
        "make room, or name a file on another file system"
        if error.errno == errno.ENOSPC
        else "name another file",
        device=str(path),
    )
