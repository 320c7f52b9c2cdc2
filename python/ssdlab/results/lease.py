"""Decides which process works on a run, by a lock and a lease in one file of the run folder (`.lease`).

On one host the *lock* decides. It is on a file opened for writing, because a lock on a folder does not
exclude another client of an NFS server. It belongs to the open file (F_OFD_SETLK, fcntl(2)), so that the
compacting child keeps it when its parent is killed. While the holder lives, even stopped, other processes are
refused.

Between hosts the *lease* decides. A lock proves nothing there: a client that lost its server has lost its
locks, and a stopped client keeps them. The file names the holder. On a file system that other hosts may use
(`host.mounts`), the holder renews the lease every `RENEWAL_S`. A holder that has not renewed it for
`LEASE_S`, T, issues no more I/O: the engine's workers check `_core.Deadline`, so that even a frozen process
does not continue when it wakes. A successor on another host waits until it has seen no renewal for 2 T by its
own clock; clocks are not compared. It then replaces the file, so that later writes of the old holder are
never read.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.mounts import may_be_shared
from ssdlab.model.errors import LabError, LeaseLost, Refused
from ssdlab.results.journal import boot_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import ssdlab._core as _core

LEASE = ".lease"
_NEXT = ".lease.next"
"""Lease of a successor from another host, until it replaces the old lease."""
LEASE_S = 30.0
"""T: how long a lease is valid after a renewal. Two renewals may fail, for example while a server
restarts."""
RENEWAL_S = 10.0
_AGAIN_S = 1.0
"""Delay after a failed renewal, and interval at which a successor reads the lease."""
_PAGE_BYTES = 512
"""Size of the lease in the file. One call writes it, so that no reader sees half of it."""
_FLOCK = "hhqqi4x"
"""`struct flock` with an `off_t` of 64 bits."""
_WHOLE = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


@dataclass(frozen=True)
class Holder:
    """The holder of a run, as stored in the file."""

    host: str
    boot_id: str
    process: int
    token: str
    """Identifies this hold, as a process may hold a run more than once."""
    renewed: int = 0

    @property
    def words(self) -> str:
        return f"process {self.process} on {self.host}"


def host_name() -> str:
    """Return the name of this host: its Slurm node name, else its host name."""
    return os.environ.get("SLURMD_NODENAME") or os.uname().nodename.partition(".")[0]


def this_holder() -> Holder:
    return Holder(host_name(), boot_id(), os.getpid(), secrets.token_hex(8))


class RunLock:
    """Holds a run folder exclusively while the process lives; a kill releases it.

    Parameters
    ----------
    folder
        The run folder.
    on_wait
        Called with the reason before waiting for another host's lease to expire.

    Attributes
    ----------
    folder
        The run folder, open for writing.
    deadline
        Time until which the holder may issue I/O; None: only the lock decides.
    taken_over
        Whether the run was taken from a holder on another host, which may only be frozen.

    Raises
    ------
    Refused
        Another process holds the run, or it belongs to another user.
    HostError
        The folder cannot be written, or its file system has no locks.
    """

    def __init__(self, folder: Path, *, on_wait: Callable[[str], object] | None = None) -> None:
        self.deadline: _core.Deadline | None = None
        self._me, self._until, self._lost = this_holder(), float("inf"), False
        self._left = threading.Event()
        self._renewal = threading.Lock()
        """Held during a renewal, so that its descriptors are not closed meanwhile."""
        with library_errors(folder):
            self.folder = HeldFolder(folder, writing=True)
            try:
                self._shared = may_be_shared(self.folder.fileno())
                taking = _Taking(self.folder, self._me, shared=self._shared, on_wait=on_wait)
                self._file, self.taken_over = taking.take()
            except BaseException:
                self.folder.close()
                raise
        if self._shared:
            self._begin_to_renew()

    @property
    def descriptors(self) -> tuple[int, int]:
        """Descriptors of folder and lock, for a child that keeps the run if this process is killed."""
        return self.folder.fileno(), self._file

    def check(self) -> None:
        """Check, before writing, that this process still has the run.

        Raises
        ------
        LeaseLost
            The lease was not renewed in time, even if no other process has the run yet.
        """
        if not self._lost and _now() < self._until:
            return
        self._lose()
        successor = None
        with suppress(OSError, LabError):
            successor = self._named_holder()
        raise self._lease_lost(successor)

    def release(self) -> None:
        """Release the run, and close its descriptors."""
        self._left.set()
        with self._renewal:
            with suppress(OSError, LabError):
                holder = self._named_holder()
                if holder is None or holder.token == self._me.token:
                    self.folder.remove(LEASE)
            os.close(self._file)
            self.folder.close()

    # --- the lease ---

    def _begin_to_renew(self) -> None:
        import ssdlab._core as _core

        self._until = _now() + LEASE_S
        self.deadline = _core.Deadline(LEASE_S)
        threading.Thread(target=self._go_on_renewing, name="ssdlab-lease", daemon=True).start()

    def _go_on_renewing(self) -> None:
        wait_s = RENEWAL_S
        while not self._left.wait(wait_s):
            try:
                with self._renewal:
                    if self._left.is_set():
                        return  # the descriptors may be other files by now
                    if not self._renewed():
                        return self._lose()
                wait_s = RENEWAL_S
            except (OSError, LabError):
                wait_s = _AGAIN_S

    def _renewed(self) -> bool:
        """Renew the lease; return False if it is lost."""
        began = _now()
        holder = self._named_holder()
        if holder is not None and holder.token != self._me.token:
            return False
        if self._lost or _now() >= self._until:  # also if reading the file took too long
            return False
        self._me = Holder(**{**asdict(self._me), "renewed": self._me.renewed + 1})
        _write(self._file, self._me, durable=True)
        assert self.deadline is not None  # set when renewing began
        self._until = began + LEASE_S
        self.deadline.push(max(0.0, self._until - _now()))
        return True

    def _lose(self) -> None:
        self._lost = True
        if self.deadline is not None:
            self.deadline.end()

    def _named_holder(self) -> Holder | None:
        """Return the holder that the file names; None: it names none."""
        with self.folder.opened(LEASE) as descriptor:
            return _read(descriptor)

    def _lease_lost(self, successor: Holder | None) -> LeaseLost:
        name = self.folder.path.name
        what = f"the lease on run {name} was not renewed for {LEASE_S:g} s"
        if successor is None or successor.token == self._me.token:
            return LeaseLost(
                f"{what}; nothing more is written", f"continue with: ssdlab resume {name}", run=name
            )
        return LeaseLost(
            f"{what}; {successor.words} is now working on it",
            f"follow it there with ssdlab watch {name}; this process writes nothing more",
            run=name,
            host=successor.host,
            process=successor.process,
        )


class _Taking:
    """Takes the lock of a run; a present holder is refused, waited for, or found dead."""

    def __init__(
        self, folder: HeldFolder, me: Holder, *, shared: bool, on_wait: Callable[[str], object] | None
    ) -> None:
        self._folder, self._me, self._shared, self._on_wait = folder, me, shared, on_wait

    def take(self) -> tuple[int, bool]:
        """Return the locked file, and whether the run was taken over from another host."""
        while True:
            with self._opened(LEASE) as file:
                locked = _lock(file.descriptor)
                if locked and not self._is_named(file.descriptor, LEASE):
                    continue  # it was released meanwhile
                holder = _read(file.descriptor)
                if holder is None or not self._elsewhere(holder):
                    if not locked:
                        raise self._held_by(holder)
                    _write(file.descriptor, self._me, durable=self._shared)
                    return file.kept(), False
            # Wait with the file closed: while it is open, an NFS client answers from its cache.
            self._wait_out(holder)
            if (taken := self._succeed(holder)) is not None:
                return taken, True

    def _elsewhere(self, holder: Holder) -> bool:
        return self._shared and holder.boot_id != self._me.boot_id

    def _wait_out(self, holder: Holder) -> None:
        """Wait until another host's lease has expired or was released; refuse the run if it is renewed."""
        if self._on_wait is not None:
            self._on_wait(
                f"{self._folder.path.name} was started by {holder.words}: waiting {2 * LEASE_S:g} s to see "
                "whether it is still running"
            )
        end = time.monotonic() + 2 * LEASE_S
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _AGAIN_S))
            now_held = self._now_held()
            if now_held is None:
                return
            if now_held != holder:
                raise self._held_by(now_held)

    def _succeed(self, holder: Holder) -> int | None:
        """Replace an expired lease by our own, and return its file; None: the lease changed meanwhile."""
        with self._opened(_NEXT) as file:
            if not _lock(file.descriptor):
                raise self._held_by(None)
            if not self._is_named(file.descriptor, _NEXT):
                return None
            if self._now_held() != holder:
                self._folder.remove(_NEXT)
                return None
            _write(file.descriptor, self._me, durable=True)
            self._folder.rename(_NEXT, self._folder, LEASE)
            self._folder.sync()
            return file.kept()

    def _now_held(self) -> Holder | None:
        try:
            with self._folder.opened(LEASE) as descriptor:
                return _read(descriptor)
        except FileNotFoundError:
            return None

    def _is_named(self, descriptor: int, name: str) -> bool:
        try:
            with self._folder.opened(name) as named:
                return os.path.samestat(os.fstat(named), os.fstat(descriptor))
        except FileNotFoundError:
            return False

    @contextmanager
    def _opened(self, name: str) -> Iterator[_Descriptor]:
        file = _Descriptor(self._folder.lock_file(name))
        try:
            yield file
        finally:
            file.close()

    def _held_by(self, holder: Holder | None) -> Refused:
        name, who = self._folder.path.name, "another process"
        if holder is not None:
            words = holder.words if self._elsewhere(holder) else f"process {holder.process}"
            who = f"another process, {words}"
        refused = Refused(
            f"{name} is being run by {who}",
            "follow it with ssdlab watch, or wait until it ends",
            path=str(self._folder.path),
        )
        if holder is not None:
            refused.facts |= {"process": holder.process, "host": holder.host}
        return refused


class _Descriptor:
    """An open file that `close` closes unless it was kept."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self._kept = descriptor, False

    def kept(self) -> int:
        self._kept = True
        return self.descriptor

    def close(self) -> None:
        if not self._kept:
            os.close(self.descriptor)


def is_running(folder: Path) -> bool:
    """Whether a process holds the run folder now; no lock is taken."""
    with HeldFolder(folder) as held:
        try:
            with held.opened(LEASE) as descriptor:
                found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _WHOLE)
                return bool(struct.unpack(_FLOCK, found)[0] != fcntl.F_UNLCK)
        except FileNotFoundError:
            return False


def _lock(descriptor: int) -> bool:
    """Lock a whole file that is open for writing; return False if another process has locked it."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _WHOLE)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def _write(descriptor: int, holder: Holder, *, durable: bool) -> None:
    """Write the holder of a run; `durable` makes it visible to other clients of the file's server."""
    text = json.dumps({"schema": "ssdlab.lease/1", **asdict(holder)})
    os.pwrite(descriptor, text.encode().ljust(_PAGE_BYTES - 1) + b"\n", 0)
    if durable:
        os.fsync(descriptor)


def _read(descriptor: int) -> Holder | None:
    """Return the holder of a run; None: the file is new, or from a newer ssdlab.

    The kernel's cache of the file is dropped first, as another host may have written it.
    """
    with suppress(OSError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    try:
        found = json.loads(os.pread(descriptor, _PAGE_BYTES, 0))
        return Holder(found["host"], found["boot_id"], found["process"], found["token"], found["renewed"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _now() -> float:
    """Return the seconds of a clock that also runs while the host sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
