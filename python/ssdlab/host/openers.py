"""Processes that have devices and files open, mapped, or registered in a ring; and what could not be seen.

A look at `/proc/PID/fd` can miss an open file. The first thread may have ended, or a thread may have a
descriptor table of its own (unshare(2), CLONE_FILES). A mapping stays when its descriptor is closed. A file
may be registered in an io_uring. All of these are looked for; `docs/safety.md` has the cases that are left.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ssdlab.host.rights import BY_RIGHTS, Unseen, hides_processes, sees_processes
from ssdlab.host.sysfs import HostFiles, names, text

_NUMBERS = {"x86_64": 312, "aarch64": 272, "riscv64": 272, "loongarch64": 272}
"""Number of the system call `kcmp`; on other architectures, each thread is inspected."""
_KCMP_FILES = 2


def table_comparison(files: HostFiles) -> Callable[[int, int], bool] | None:
    """Return a function that says whether two threads certainly share a descriptor table; None if none can.

    The numbers of the threads must be those of this process's own namespace, so `/proc` must be of it too.
    """
    number = _NUMBERS.get(os.uname().machine)
    try:
        own = os.readlink(files.proc / "self")  # noqa: PTH115
    except OSError:
        return None
    if number is None or own != str(os.getpid()):
        return None
    import ctypes  # takes 3 ms to import, and most processes have one thread

    call = ctypes.CDLL(None).syscall

    def same(one: int, other: int) -> bool:
        return bool(call(number, one, other, _KCMP_FILES, ctypes.c_ulong(0), ctypes.c_ulong(0)) == 0)

    return same


PROCESSES = Unseen("what the processes of other users have open", BY_RIGHTS)
"""Reported as unseen if these rights are missing."""

_NO_FILE = re.compile(r"(socket|pipe|anon_inode|net|mnt|pid|user|uts|ipc|cgroup|time):")
_RING = "anon_inode:[io_uring]"
_REGISTERED = re.compile(r"^ *\d+: (/.*)$", re.MULTILINE)
_OCTAL = re.compile(r"\\([0-7]{3})")
_DENIED = {errno.EACCES, errno.EPERM}
_TABLES = 16
"""Most descriptor tables that are told apart in a process; beyond that, each thread is inspected."""


@dataclass(frozen=True, slots=True)
class Opener:
    """A process that uses the target."""

    pid: int
    command: str
    writing: bool
    how: str = "open"
    """`open` or `mapped`, with a remark if that is through a backing file or device."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Processes that have block devices or the requested files open, from one look at all processes.

    Attributes
    ----------
    devices
        Openers by device number.
    files
        Openers by device and inode number.
    unseen
        What could not be seen for lack of rights.
    barred
        What this host hides from everyone, whatever their rights: phrases.
    """

    devices: Mapping[int, tuple[Opener, ...]] = field(default_factory=dict)
    files: Mapping[tuple[int, int], tuple[Opener, ...]] = field(default_factory=dict)
    unseen: tuple[Unseen, ...] = ()
    barred: tuple[str, ...] = ()

    def writers_behind(self, numbers: Iterable[int], keys: Iterable[tuple[int, int]]) -> tuple[Opener, ...]:
        """Return the processes that have devices or files below a device open for writing."""
        found = [one for number in numbers for one in self.devices.get(number, ())]
        found += [one for key in keys for one in self.files.get(key, ())]
        return _in_order(
            replace(one, how=f"{one.how} through its backing file or device") for one in found if one.writing
        )

    def of_devices(self, numbers: Iterable[int]) -> tuple[Opener, ...]:
        return _in_order(opener for number in numbers for opener in self.devices.get(number, ()))


def look_at_processes(
    files: HostFiles, wanted: Collection[tuple[int, int]] = (), own_descriptor: int | None = None
) -> Opened:
    """Look up what every process has open, mapped and registered.

    Parameters
    ----------
    files
        Files of the host.
    wanted
        Device and inode number of the files that matter, besides all block devices.
    own_descriptor
        Descriptor of this process that does not count.
    """
    look = _Look(files, frozenset(wanted), own_descriptor)
    for name in names(files.proc):
        if name.isdigit():
            look.at(name)
    return Opened(
        {number: _in_order(openers) for number, openers in look.devices.items()},
        {key: _in_order(look.openers.get(key, ())) for key in wanted},
        *_not_seen(files, look.barred),
    )


def _not_seen(files: HostFiles, barred: list[str]) -> tuple[tuple[Unseen, ...], tuple[str, ...]]:
    """Separate what was not seen for lack of rights from what the host hides from everyone."""
    if not sees_processes(files):
        return ((PROCESSES,) if barred or hides_processes(files) else ()), ()
    names = (f"{name} ({text(files.proc / name / 'comm') or '?'})" for name in barred)
    return (), tuple(f"what process {one} has open, which this host hides from everyone" for one in names)


class _Look:
    """Collects what processes have open, one process at a time."""

    def __init__(
        self, files: HostFiles, keys: frozenset[tuple[int, int]], own_descriptor: int | None
    ) -> None:
        self._proc = files.proc
        self._passed_over = None if own_descriptor is None else (str(os.getpid()), str(own_descriptor))
        self._keys = keys
        self._files = files
        self._mapped: dict[bytes, os.stat_result] = {}
        self.devices: dict[int, list[Opener]] = {}
        self.openers: dict[tuple[int, int], list[Opener]] = {}
        self.barred: list[str] = []

    def at(self, name: str) -> None:
        process = f"{self._proc}/{name}"
        try:
            threads = _listed(f"{process}/task")
            for thread in self._tables(threads):
                self._descriptors(name, f"{process}/task/{thread}")
            # All threads share their memory; if the first has ended, another one shows it.
            for thread in (name, *(other for other in threads if other != name)):
                if self._mappings(name, f"{self._proc}/{thread}"):
                    break
        except PermissionError:
            self.barred.append(name)

    def _tables(self, threads: list[str]) -> list[str]:
        """Return one thread for each descriptor table of a process; all threads if that is unknown."""
        same_table = self._same_table if len(threads) > 1 else None
        if same_table is None:
            return threads
        found: list[str] = []
        for thread in threads:
            if not any(same_table(int(known), int(thread)) for known in reversed(found)):
                found.append(thread)
            if len(found) > _TABLES:
                return threads
        return found

    @cached_property
    def _same_table(self) -> Callable[[int, int], bool] | None:
        return table_comparison(self._files)

    def _descriptors(self, name: str, thread: str) -> None:
        for descriptor in _listed(f"{thread}/fd"):
            # A str, not a Path, for speed: a busy host has tens of thousands of descriptors.
            link = f"{thread}/fd/{descriptor}"
            try:
                leads_to = os.readlink(link)  # noqa: PTH115
                if leads_to == _RING:
                    self._ring(name, f"{thread}/fdinfo/{descriptor}")
                if _NO_FILE.match(leads_to):
                    continue
                status = os.stat(link)  # noqa: PTH116
            except PermissionError:
                raise
            except OSError:
                continue  # closed between the listing and the look
            if self._wanted(status) and (name, descriptor) != self._passed_over:
                flags = _flags(Path(f"{thread}/fdinfo/{descriptor}"))
                if not flags & os.O_PATH:  # O_PATH gives no access to the content
                    self._add(name, status, writing=flags & os.O_ACCMODE != os.O_RDONLY)

    def _mappings(self, name: str, process: str) -> bool:
        """Inspect what is mapped; return whether the table of mappings could be read and has entries."""
        try:
            with open(f"{process}/maps", "rb") as file:  # noqa: PTH123
                table = file.read()
        except PermissionError:
            raise
        except OSError:
            return False
        for line in table.split(b"\n"):
            if b"/" not in line:
                continue  # not a file
            place, rights, _, device, inode, path = line.split(None, 5)
            key = device + inode + path
            status = self._mapped.get(key) or self._mapping(process, place.decode(), int(inode), path)
            if status is None:
                continue  # unmapped meanwhile, or its name leads elsewhere
            self._mapped[key] = status
            if self._wanted(status):
                # A shared mapping that is read-only may be made writable later.
                self._add(name, status, writing=rights.endswith(b"s"), how="mapped")
        return bool(table)

    def _mapping(self, process: str, place: str, inode: int, path: bytes) -> os.stat_result | None:
        """Return the status of the file mapped at a place; None if it cannot be found."""
        try:
            return os.stat(f"{process}/map_files/{place}")  # noqa: PTH116
        except OSError as error:
            if error.errno not in _DENIED:
                return None
        # These links need CAP_CHECKPOINT_RESTORE; without it, try the name.
        status = _named(process, os.fsdecode(path))
        return status if status is not None and status.st_ino == inode else None

    def _ring(self, name: str, info: str) -> None:
        """Inspect the files registered in an io_uring, which need no descriptor any more."""
        info_text = text(Path(info)) or ""
        for path in _REGISTERED.findall(info_text.partition("UserFiles:")[2].partition("UserBufs:")[0]):
            status = _named(f"{self._proc}/{name}", path)
            if status is not None and self._wanted(status):
                self._add(name, status, writing=True)

    def _wanted(self, status: os.stat_result) -> bool:
        return stat.S_ISBLK(status.st_mode) or (status.st_dev, status.st_ino) in self._keys

    def _add(self, name: str, status: os.stat_result, *, writing: bool, how: str = "open") -> None:
        command = text(self._proc / name / "comm") or "?"
        opener = Opener(int(name), command, writing, how)
        if stat.S_ISBLK(status.st_mode):
            self.devices.setdefault(status.st_rdev, []).append(opener)
        if (key := (status.st_dev, status.st_ino)) in self._keys:
            self.openers.setdefault(key, []).append(opener)


def _listed(folder: str) -> list[str]:
    """Return the names in a folder; none if the process or thread has ended."""
    try:
        return os.listdir(folder)  # noqa: PTH208
    except PermissionError:
        raise
    except OSError:
        return []


def _named(process: str, path: str) -> os.stat_result | None:
    """Return the status of a path as a process sees it; None if the path leads nowhere."""
    plain = _OCTAL.sub(lambda match: chr(int(match.group(1), 8)), path)
    for root in (f"{process}/root", ""):
        try:
            return os.stat(root + plain)  # noqa: PTH116
        except OSError:
            continue
    return None


def _in_order(openers: Iterable[Opener]) -> tuple[Opener, ...]:
    return tuple(sorted(set(openers), key=lambda opener: (opener.how != "open", opener.pid, opener.writing)))


def _flags(info: Path) -> int:
    """Return the flags with which a descriptor was opened; O_WRONLY if they cannot be read."""
    match = re.search(r"^flags:\s*(\d+)", text(info) or "", re.MULTILINE)
    return os.O_WRONLY if match is None else int(match.group(1), 8)
