"""A file as a drive: created and laid out by ssdlab, or an existing one."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives.base import RealDrive
from ssdlab.drives.file.holding import check_file, hold_file, replaced
from ssdlab.drives.guard.endurance import rating_of
from ssdlab.drives.guard.file_guard import FileFacts, file_facts, free_bytes, judge_file
from ssdlab.drives.guard.mark import mark_of, read_mark, write_mark
from ssdlab.host.block_queue import IoCounters, read_conditions, read_counters
from ssdlab.host.extents import gaps
from ssdlab.host.held_folder import file_details
from ssdlab.host.identity import Identity, block_identity
from ssdlab.host.sysfs import HostFiles, device_number
from ssdlab.model.errors import DriveError, HostError, Refused
from ssdlab.model.host_load import Conditions
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    import ssdlab._core as _core
    from ssdlab.drives.base import OnTick, Until
    from ssdlab.drives.guard.endurance import EnduranceCap
    from ssdlab.drives.guard.judge import Intent
    from ssdlab.host.reach import Place
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.workload import Workload

# Layout: every block of the file is really written.
#
# The engine that measures writes data that no layer below can compress or deduplicate, so that each later
# read is a real one. Missing parts are found from the file's extents, not from a note. So the call that
# begins a layout also completes one that was interrupted.

_BLOCK_BYTES = 1 << 20
_SEED = 0x55D1AB
"""An arbitrary constant, so that the content of a laid-out file is known."""


def lay_out(target: _core.Target, descriptor: int, *, on_tick: OnTick | None = None) -> int:
    """Write a file from its first to its last gap, and return the number of bytes written.

    Parameters
    ----------
    target
        The file, open for writing.
    descriptor
        A descriptor of the same file.
    on_tick
        Called with a snapshot about every 50 ms.

    Raises
    ------
    HostError
        The file system still reports gaps afterwards, so reads of this file cannot be trusted.
    DriveError, Interrupted
        As for any run; a later call continues the layout.
    """
    missing = gaps(descriptor, 0, target.size_bytes)
    if not missing:
        return 0
    start = missing[0].start // _BLOCK_BYTES * _BLOCK_BYTES
    end = missing[-1].start + missing[-1].length
    # Large blocks first; the size of the file need not be a multiple of them.
    middle = start + (end - start) // _BLOCK_BYTES * _BLOCK_BYTES
    if middle > start:
        _write(target, start, middle, _BLOCK_BYTES, on_tick)
    if end > middle:
        end = -(-end // target.logical_block_bytes) * target.logical_block_bytes
        _write(target, middle, end, target.logical_block_bytes, on_tick)
    target.flush()
    left = gaps(descriptor, 0, target.size_bytes)
    if left:
        raise HostError(
            f"{target.path} was fully written, but its file system still reports a {left[0].kind}",
            "use another file system, or a block device: reads here would not reach the drive",
            path=target.path,
            offset=left[0].start,
            length=left[0].length,
        )
    return end - start


def _write(target: _core.Target, start: int, end: int, block_bytes: int, on_tick: OnTick | None) -> None:
    import ssdlab._core as _core
    from ssdlab.model.workload import Mix, Sequential, Span, Stop, Stream, Workload

    stream = Stream(
        name="layout",
        ops=Mix(read_pct=0),
        block=block_bytes,
        pattern=Sequential(),
        span=Span(start=start, length=end - start),
        stop=Stop(span_once=True),
    )
    workload = Workload.of(stream, seed=_SEED)
    resolved = workload.resolve(target.size_bytes, target.logical_block_bytes)
    _core.run(target, resolved, on_tick=on_tick)


class FileDrive(RealDrive):
    """A file, locked against another ssdlab while it is held.

    It is opened once, and all access uses that descriptor. Before each write the guard checks the file again
    by that descriptor: it may be in use by now, or changed.

    Parameters
    ----------
    place
        Place of the file, which need not exist yet; the caller closes it.
    size_bytes
        Size of a file to create; None uses an existing file as it is.
    allow_unwritten
        Leave gaps as they are and allow reads of them, to measure the tool and not the drive.
    on_tick
        Called about every 50 ms while the file is laid out.
    token
        Token of the run to resume (`Identity.token`); None for a new run.
    cap
        Cap on the bytes written.

    Raises
    ------
    UsageError
        The path is not a file, or the file is missing and no size was given.
    Refused
        The guard objects; `reason` says why.
    HostError, DriveError, Interrupted
        The file could not be created or laid out.
    """

    def __init__(
        self,
        place: Place,
        intent: Intent,
        files: HostFiles,
        *,
        size_bytes: int | None = None,
        allow_unwritten: bool = False,
        on_tick: OnTick | None = None,
        token: str | None = None,
        cap: EnduranceCap | None = None,
    ) -> None:
        self._path = place.path
        self._intent = intent
        self._files = files
        self._allow_unwritten = allow_unwritten
        self._token = token or secrets.token_hex(8)
        self._descriptor, facts = hold_file(place, intent, files, size_bytes, self._token)
        self._cap, self._counted = cap, 0
        self._unseen = tuple(one.what for one in facts.unseen)
        try:
            self._hold(facts, on_tick)
        except BaseException:
            os.close(self._descriptor)
            raise

    @property
    def unseen(self) -> tuple[str, ...]:
        return self._unseen

    def run(
        self,
        workload: Workload,
        *,
        log_path: Path | None = None,
        on_tick: OnTick | None = None,
        until: Until | None = None,
        header: str | None = None,
    ) -> Measurement:
        """Run a workload; if the file changes its size, the error has the reason `changed`."""
        try:
            measured = super().run(workload, log_path=log_path, on_tick=on_tick, until=until, header=header)
        except DriveError as error:
            self._check_size(error)
            raise
        self._check_size()
        return measured

    def conditions(self) -> Conditions | None:
        """Read the settings of the block device under the file system; None if there is none."""
        node = self._beneath()
        return None if node is None else read_conditions(node)

    def counters(self) -> IoCounters | None:
        """Read the kernel's I/O counters of the disk under the file system, which others use too."""
        node = self._beneath()
        return None if node is None else read_counters(node)

    def written(self, start: int, length: int) -> bool:
        return not gaps(self._descriptor, start, length)

    def close(self) -> None:
        """Close the file, after making the mark of our last write durable."""
        if self._target.closed:
            return
        super().close()
        if self._noted:
            os.fsync(self._descriptor)
        os.close(self._descriptor)

    def _place(self) -> tuple[HostFiles, Path | None]:
        return self._files, self._beneath()

    def _beneath(self) -> Path | None:
        return self._files.node(device_number(os.fstat(self._descriptor).st_dev))

    def _hold(self, facts: FileFacts, on_tick: OnTick | None) -> None:
        intent = self._intent
        self._size_bytes = facts.size_bytes
        consented = intent.writing and intent.destroy is not None
        # Our file that others changed is ours again if the user consents to losing its content.
        self._ours = facts.ownership == "ours" or (facts.ownership != "foreign" and consented)
        self._noted = False
        mark = read_mark(self._descriptor, self._path)
        self._complete = mark is not None and mark.complete
        missing = not self._allow_unwritten and bool(gaps(self._descriptor, 0, facts.size_bytes))
        if missing and (self._ours or consented):
            # A file that is only read is laid out too, if the guard allows writing it.
            if judge_file(facts, replace(intent, writing=True), None) is None:
                self._lay_out(on_tick)
        elif facts.ownership == "ours" and mark is not None and mark.written_ns is None:
            self._note(writing=False)
        target = self._target_for(writing=intent.writing)
        try:
            super().__init__(self._identify(target), target)
            self._check_same()
        except BaseException:
            target.close()
            raise

    def _target_for(self, *, writing: bool) -> _core.Target:
        import ssdlab._core as _core

        return _core.Target.from_descriptor(self._descriptor, path=self._path, write=writing)

    def _lay_out(self, on_tick: OnTick | None) -> None:
        status = os.fstat(self._descriptor)
        room = free_bytes(self._descriptor) + status.st_blocks * 512
        if status.st_size > room:
            raise _no_space(self._path, status.st_size, room)
        if self._ours:
            self._note(writing=True)
        with self._target_for(writing=True) as target:
            lay_out(target, self._descriptor, on_tick=on_tick)
        self._complete = True
        if self._ours:
            self._note(writing=False)

    def _check_cap(self) -> None:
        if (rating := rating_of(self._identity, self._cap)) is not None:
            rating.check(self._identity.path, self._counted)

    def _watched(self, on_tick: OnTick | None, *, writing: bool) -> OnTick:
        """Return a tick that ends the run at the cap on bytes written, or if the file changes its size."""
        before = self._counted

        def tick(snapshot: _core.Snapshot) -> None:
            self._check_size()
            if writing:
                self._counted = before + snapshot.bytes
                self._check_cap()
            if on_tick is not None:
                on_tick(snapshot)

        return tick

    def _before_writing(self, *, trims: bool) -> None:
        super()._before_writing(trims=trims)
        self._check_cap()
        check_file(file_facts(self._files, self._path, self._descriptor, self._token), self._intent)
        if self._ours:
            # Updates of the mark between the steps of a run must not make the drive flush.
            self._note(writing=True, trims=trims, durable=not self._noted)

    def _after_writing(self) -> None:
        # After a kill in a later step that only reads, the file must still be known as ours.
        if self._ours:
            self._note(writing=False, durable=False)

    def _before_reading(self, start: int, length: int) -> None:
        if self._allow_unwritten:
            return
        found = gaps(self._descriptor, start, length)
        if not found:
            return
        gap = found[0]
        why = "a hole" if gap.kind == "hole" else "allocated but never written"
        raise Refused(
            f"{self._path}: {bytes_text(gap.length)} at byte {gap.start} are {why}; "
            "reads would not reach the drive",
            "write the span first (--size does for a new file), or measure the tool itself: "
            "--allow-unwritten",
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
            token=self._token if self._ours else None,
        )

    def _check_same(self) -> None:
        held = os.fstat(self._descriptor)
        try:
            now = self._path.lstat()
        except OSError:
            now = None
        if now is None or (now.st_dev, now.st_ino) != (held.st_dev, held.st_ino):
            raise replaced(self._path)
        self._check_size()

    def _check_size(self, cause: DriveError | None = None) -> None:
        """Raise if the file has grown or shrunk, because its extents are then no longer the laid-out ones."""
        now_bytes = os.fstat(self._descriptor).st_size
        if now_bytes == self._size_bytes:
            return
        raise DriveError(
            f"{self._path} changed its size during the run: it has {now_bytes} bytes, it had "
            f"{self._size_bytes}",
            "find what changes it, restore its size, and resume; finished steps are kept",
            measurement=None if cause is None else cause.measurement,
            reason="changed",
            device=str(self._path),
            size_bytes=now_bytes,
        ) from cause

    def _note(self, *, writing: bool, trims: bool = False, durable: bool = True) -> None:
        """Update the mark of our own file; while we write, the mark has no time of last write."""
        size_bytes = os.fstat(self._descriptor).st_size
        mark = mark_of(
            self._descriptor,
            size_bytes=size_bytes,
            complete=self._complete,
            writing=writing,
            token=self._token,
            whole=writing and not trims and not gaps(self._descriptor, 0, size_bytes),
        )
        write_mark(self._descriptor, self._path, mark, durable=durable)
        self._noted = True


def _no_space(path: Path, size_bytes: int, room: int) -> Refused:
    return Refused(
        f"{path} needs {bytes_text(size_bytes)}, and its file system has {bytes_text(room)} free",
        "make room, or use a smaller file",
        reason="no-space",
        target=str(path),
    )
