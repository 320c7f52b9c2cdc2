"""A file as a drive: made and laid out by ssdlab, or one that exists."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives.base import RealDrive
from ssdlab.drives.file.extents import gaps
from ssdlab.drives.file.layout import lay_out
from ssdlab.drives.guard.file_guard import file_facts, free_bytes, judge_file
from ssdlab.drives.guard.judge import Intent, Refusal
from ssdlab.drives.guard.mark import mark_of, ownership, read_mark, write_mark
from ssdlab.host.counters import IoCounters, read_counters
from ssdlab.host.identity import Identity, block_identity
from ssdlab.host.queue_settings import read_conditions
from ssdlab.host.statx import allocate, file_details
from ssdlab.host.sysfs import HostFiles, device_number
from ssdlab.model.errors import HostError, LabError, Refused, UsageError
from ssdlab.model.queue_settings import Conditions

if TYPE_CHECKING:
    import ssdlab._core as _core
    from ssdlab.drives.base import OnTick

_DEFAULT_BLOCK_BYTES = 4096
_USAGE = {"no-size", "no-file", "no-folder", "size", "empty"}
"""Refusals that a different command line would have avoided without any danger: usage errors."""


class FileDrive(RealDrive):
    """A file, locked against another lab while it is held.

    Parameters
    ----------
    path
        Absolute, its folder resolved, its last part not.
    intent
        What is to be done with it.
    files
        The host.
    size_bytes
        Size to make it with; None takes it as it is.
    allow_unwritten
        Leave gaps as they are and allow reads of them, to measure the tool and not the drive.
    on_tick
        Called about every 50 ms while the file is laid out.

    Raises
    ------
    UsageError
        It is no file, or is missing and no size was given.
    Refused
        The guard objects; `reason` says why.
    HostError, DriveError, Interrupted
        It could not be made or laid out.
    """

    def __init__(
        self,
        path: Path,
        intent: Intent,
        files: HostFiles,
        *,
        size_bytes: int | None = None,
        allow_unwritten: bool = False,
        on_tick: OnTick | None = None,
    ) -> None:
        facts = file_facts(files, path)
        refusal = judge_file(facts, intent, size_bytes)
        if refusal is not None:
            raise _error(refusal, facts.path)
        self._unseen = tuple(one.what for one in facts.unseen)
        self._path = path
        self._files = files
        self._allow_unwritten = allow_unwritten
        if facts.kind == "missing":
            assert size_bytes is not None  # judged above
            _check_size(path, size_bytes)
            self._descriptor = _make(path, size_bytes)
        else:
            completable = facts.ownership == "ours" and facts.writable
            self._descriptor = _open_existing(path, writing=intent.writing or completable)
        try:
            self._hold(intent, on_tick)
        except BaseException:
            os.close(self._descriptor)
            raise

    @property
    def unseen(self) -> tuple[str, ...]:
        """What could not be looked at when it was judged."""
        return self._unseen

    def conditions(self) -> Conditions | None:
        """Read the settings of the block device beneath its file system; None if there is none."""
        node = self._beneath()
        return None if node is None else read_conditions(node)

    def counters(self) -> IoCounters | None:
        """Read the kernel's account of the disk beneath, which others use as well."""
        node = self._beneath()
        return None if node is None else read_counters(node)

    def written(self, start: int, length: int) -> bool:
        """Say whether every byte of a range was written."""
        return not gaps(self._descriptor, start, length)

    def close(self) -> None:
        """Let go of the file, and note that what was written until now was ours."""
        if self._target.closed:
            return
        super().close()
        if self._dirty:
            self._note(writing=False)
        os.close(self._descriptor)

    def _place(self) -> tuple[HostFiles, Path | None]:
        return self._files, self._beneath()

    def _beneath(self) -> Path | None:
        return self._files.node(device_number(os.fstat(self._descriptor).st_dev))

    def _hold(self, intent: Intent, on_tick: OnTick | None) -> None:
        import ssdlab._core as _core

        self._lock()
        mark = read_mark(self._descriptor, self._path)
        self._ours = ownership(self._descriptor, mark) == "ours"
        self._dirty = False
        size_bytes = os.fstat(self._descriptor).st_size
        self._complete = self._allow_unwritten or not gaps(self._descriptor, 0, size_bytes)
        if not self._complete and (self._ours or (intent.writing and intent.destroy is not None)):
            self._lay_out(on_tick)
        target = _core.Target(self._path, write=intent.writing)
        super().__init__(self._identify(target), target)
        try:
            self._check_same()
        except Refused:
            target.close()
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno != errno.EWOULDBLOCK:
                return  # a file system without locks (some network ones); the scan for openers has been made
            raise Refused(
                f"{self._path} is in use by another ssdlab",
                "wait for it to end, or use another file",
                reason="open",
                target=str(self._path),
            ) from None

    def _lay_out(self, on_tick: OnTick | None) -> None:
        import ssdlab._core as _core

        status = os.fstat(self._descriptor)
        room = free_bytes(self._path.parent) + status.st_blocks * 512
        if status.st_size > room:
            raise _no_space(self._path, status.st_size, room)
        if self._ours:
            self._note(writing=True)
        with _core.Target(self._path, write=True) as target:
            lay_out(target, self._descriptor, on_tick=on_tick)
        self._complete = True
        if self._ours:
            self._note(writing=False)

    def _before_writing(self) -> None:
        super()._before_writing()
        if self._ours and not self._dirty:
            self._note(writing=True)

    def _before_reading(self, start: int, length: int) -> None:
        if self._allow_unwritten:
            return
        found = gaps(self._descriptor, start, length)
        if not found:
            return
        gap = found[0]
        why = "a hole" if gap.kind == "hole" else "allocated but never written"
        raise Refused(
            f"{self._path}: {gap.length} bytes at {gap.start} are {why}; reads would not reach the drive",
            "write the span first (a file made with --size is), or time the tool itself: --allow-unwritten",
            reason="unwritten",
            target=str(self._path),
            offset=gap.start,
            length=gap.length,
            gap=gap.kind,
        )

    def _identify(self, target: _core.Target) -> Identity:
        node = self._beneath()
        beneath = None if node is None else block_identity(self._files, node)
        status = os.fstat(self._descriptor)
        return Identity(
            path=str(self._path),
            name=self._path.name,
            kind="file",
            consent_id=self._path.name,
            capacity_bytes=target.size_bytes,
            logical_block_bytes=target.logical_block_bytes,
            backing=None if beneath is None else beneath.path,
            rotational=None if beneath is None else beneath.rotational,
            numa_node=None if beneath is None else beneath.numa_node,
            inode=status.st_ino,
            file_device=device_number(status.st_dev),
            birth_ns=file_details(self._descriptor).birth_ns,
        )

    def _check_same(self) -> None:
        """Refuse if the path no longer leads to the file that was judged."""
        held = os.fstat(self._descriptor)
        try:
            now = self._path.lstat()
        except OSError:
            now = None
        if now is None or (now.st_dev, now.st_ino) != (held.st_dev, held.st_ino):
            raise Refused(
                f"{self._path} is not the file any more that was checked: it was moved, removed or replaced",
                "start again with the file that is meant",
                reason="replaced",
                target=str(self._path),
            )

    def _note(self, *, writing: bool) -> None:
        """Keep the mark of our own file up to date; while writing, without a time of last write."""
        self._dirty = writing
        size_bytes = os.fstat(self._descriptor).st_size
        mark = mark_of(self._descriptor, size_bytes=size_bytes, complete=self._complete, writing=writing)
        write_mark(self._descriptor, self._path, mark)


def _make(path: Path, size_bytes: int) -> int:
    """Make a file of our own with its space reserved; leave nothing behind on failure."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _host_error(path, error) from error
    try:
        # Marked first: a kill from here on leaves a file that is known as ours, to be completed.
        os.ftruncate(descriptor, size_bytes)
        write_mark(descriptor, path, mark_of(descriptor, size_bytes=size_bytes, complete=False, writing=True))
        allocate(descriptor, size_bytes)
    except OSError as error:
        os.close(descriptor)
        path.unlink()
        raise _host_error(path, error) from error
    return descriptor


def _open_existing(path: Path, *, writing: bool) -> int:
    try:
        return os.open(path, (os.O_RDWR if writing else os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _host_error(path, error) from error


def _check_size(path: Path, size_bytes: int) -> None:
    if size_bytes <= 0 or size_bytes % _DEFAULT_BLOCK_BYTES:
        raise UsageError(
            f"--size {size_bytes} for {path} is not a multiple of {_DEFAULT_BLOCK_BYTES} bytes",
            "ask for a size in whole blocks, such as 4GiB",
            size_bytes=size_bytes,
        )


def _error(refusal: Refusal, target: str) -> LabError:
    if refusal.reason in _USAGE:
        return UsageError(refusal.what, refusal.advice, reason=refusal.reason, target=target)
    return refusal.error(target)


def _no_space(path: Path, size_bytes: int, room: int) -> Refused:
    return Refused(
        f"{path} needs {size_bytes} bytes, and its file system has {room} free",
        "make room, or use a smaller file",
        reason="no-space",
        target=str(path),
    )


def _host_error(path: Path, error: OSError) -> HostError:
    return HostError(
        f"{path} cannot be made or opened: {error.strerror}",
        "make room, or name a file on another file system"
        if error.errno == errno.ENOSPC
        else "name another file",
        errno=error.errno,
        device=str(path),
    )
