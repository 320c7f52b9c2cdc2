"""Block tracepoints, read directly from the kernel's ring buffers (tracefs), and how many were lost.

An instance of its own is created, so that other tracing is not disturbed. Each CPU has a buffer, which is
read in whole pages. Their layout is that of `events/header_page` and `header_event`: a time stamp, the number
of bytes that follow, then the events. Each event has its time distance to the previous one. The text of
`trace_pipe` has times in microseconds only; here they are in ns.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ssdlab.host.sysfs import is_folder, names, text
from ssdlab.model.errors import HostError

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
QUEUED = "block_bio_queue"
PLACED = frozenset({"dev", "sector", "nr_sector", "rwbs"})
"""Fields of every event of the block layer that describes an I/O."""
_OF_QUEUED = PLACED | {"comm"}
"""Fields of an event that also names the program that requested the I/O."""
_NAME = re.compile(r"ssdlab-(\d{1,9})(?:-(\d+))?(?:-|$)")
"""Name of an instance: process number and, as these numbers are reused, the start time of the process."""
BUFFER_KIB = 16 * 1024
"""Buffer of each CPU: 200 000 I/Os, a fifth of a second of the fastest drives."""

_EVENTS = "events/block"
_HEAD = struct.Struct("=QQ")
_COMMITTED = 0xFFFFF
"""Bits of the second word that hold the bytes of a page; bits above say whether events were missed."""
_PADDING, _EXTEND, _STAMP = 29, 30, 31
_EXTEND_SHIFT = 27
_STAMP_BITS = (1 << 59) - 1
"""Bits of an absolute stamp; higher bits are those of the previous stamp."""


@dataclass(frozen=True, slots=True)
class Queued:
    """One I/O that was queued to a block device.

    Attributes
    ----------
    time_ns
        Time of CLOCK_MONOTONIC.
    device
        The kernel's own number: major << 20 | minor.
    sector, sectors
        First sector and number of sectors, of 512 bytes, from the beginning of the disk.
    flags
        As in ``rwbs``.
    """

    time_ns: int
    cpu: int
    pid: int
    device: int
    sector: int
    sectors: int
    flags: str
    command: str


@dataclass(frozen=True, slots=True)
class Raw:
    """An event as it is stored in a buffer."""

    name: str
    fields: Fields
    time_ns: int
    cpu: int
    event: bytes


class Fields:
    """Positions of the fields of an event, from the kernel's own description.

    Parameters
    ----------
    description
        Content of the `format` file of the event.
    name
        Name of the event.
    wanted
        Fields that the event must have besides the common ones.

    Raises
    ------
    HostError
        The event lacks one of these fields.
    """

    _LINE = re.compile(r"field:(.*?)(\w+)(?:\[(\d+)\])?;\s*offset:(\d+);\s*size:(\d+);")

    def __init__(self, description: str, name: str = QUEUED, wanted: frozenset[str] = _OF_QUEUED) -> None:
        found = {name: (int(at), int(size)) for _, name, _, at, size in self._LINE.findall(description)}
        number = re.search(r"^ID: (\d+)$", description, re.MULTILINE)
        if number is None or not wanted | {"common_type", "common_pid"} <= found.keys():
            raise HostError(
                f"this kernel has an unknown format of {name}",
                "record with blktrace or bpftrace, and replay their output",
            )
        self.id = int(number[1])
        self._at = found

    def number(self, event: bytes, name: str) -> int:
        at, size = self._at[name]
        return int.from_bytes(event[at : at + size], "little")

    def text(self, event: bytes, name: str) -> str:
        at, size = self._at[name]
        return event[at : at + size].partition(b"\0")[0].decode("utf-8", "replace")

    def queued(self, event: bytes, time_ns: int, cpu: int) -> Queued:
        return Queued(
            time_ns,
            cpu,
            self.number(event, "common_pid"),
            self.number(event, "dev"),
            self.number(event, "sector"),
            self.number(event, "nr_sector"),
            self.text(event, "rwbs"),
            self.text(event, "comm"),
        )


def events_of(page: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the events of a page of a ring buffer: time in ns, and the event's own bytes."""
    time_ns, committed = _HEAD.unpack_from(page)
    at, end = _HEAD.size, _HEAD.size + (committed & _COMMITTED)
    while at < end:
        (head,) = struct.unpack_from("=I", page, at)
        kind, delta = head & 31, head >> 5
        at += 4
        if kind == _PADDING:
            if delta == 0:
                return
            (skipped,) = struct.unpack_from("=I", page, at)
            at += skipped
        elif kind in (_EXTEND, _STAMP):
            (more,) = struct.unpack_from("=I", page, at)
            at += 4
            whole = (more << _EXTEND_SHIFT) + delta
            time_ns = time_ns + whole if kind == _EXTEND else (time_ns & ~_STAMP_BITS) | whole
            continue
        else:
            if kind:
                length, skip = kind * 4, 0
            else:
                (length,) = struct.unpack_from("=I", page, at)
                length, skip = length - 4, 4
            time_ns += delta
            yield time_ns, page[at + skip : at + skip + length]
            at += skip + length
            continue
        time_ns += delta


class Tracing:
    """Traces block events of some devices during the ``with`` block.

    Parameters
    ----------
    devices
        The kernel's numbers: major << 20 | minor.
    events
        Names of the events; by default I/Os as they are queued, which `read` needs.
    what
        Purpose, for the name of the instance.
    buffer_kib
        Buffer size of each CPU in KiB.
    """

    def __init__(
        self,
        devices: tuple[int, ...],
        *,
        events: tuple[str, ...] = (QUEUED,),
        what: str = "record",
        buffer_kib: int = BUFFER_KIB,
    ) -> None:
        self._devices = devices
        self._events, self._what = events, what
        self._buffer_kib = buffer_kib
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        root = _tracefs()
        remove_dead(root / "instances")
        self._folder = root / "instances" / instance_name(self._what)
        try:
            self._fields = {}
            for name in self._events:
                description = (root / _EVENTS / name / "format").read_text(encoding="ascii")
                fields = Fields(description, name, _OF_QUEUED if name == QUEUED else PLACED)
                self._fields[fields.id] = (name, fields)
            self._folder.mkdir()
            self._stack.callback(self._remove)
            self._begin()
        except OSError as error:
            self._stack.close()
            raise HostError(
                f"the kernel's block tracepoints cannot be used: {error.strerror} ({error.filename})",
                "run as root, on a kernel with CONFIG_BLK_DEV_IO_TRACE or CONFIG_EVENT_TRACING",
            ) from error
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _begin(self) -> None:
        self._write("tracing_on", "0")
        self._write("buffer_size_kb", str(self._buffer_kib))
        self._write("trace_clock", "mono")
        filtered = " || ".join(f"dev == {device}" for device in self._devices)
        for name in self._events:
            self._write(f"{_EVENTS}/{name}/filter", filtered)
        self._pages = {}
        for folder in sorted((self._folder / "per_cpu").glob("cpu*")):
            descriptor = os.open(folder / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
            self._stack.callback(os.close, descriptor)
            self._pages[int(folder.name[3:])] = descriptor
        for name in self._events:
            self._write(f"{_EVENTS}/{name}/enable", "1")
        self._write("tracing_on", "1")

    def stop(self) -> None:
        """Stop recording; recorded events can still be read."""
        self._write("tracing_on", "0")

    def read(self) -> Iterator[Queued]:
        """Yield the I/Os that were queued; those of each CPU are in order of time."""
        for each in self.raw():
            if each.name == QUEUED:
                yield each.fields.queued(each.event, each.time_ns, each.cpu)

    def raw(self) -> Iterator[Raw]:
        """Yield the recorded events; those of each CPU are in order of time."""
        page_bytes = os.sysconf("SC_PAGE_SIZE")
        for cpu, descriptor in self._pages.items():
            while page := self._page(descriptor, page_bytes):
                for time_ns, event in events_of(page):
                    kind = int.from_bytes(event[:2], sys.byteorder)  # common_type is the first field
                    if (known := self._fields.get(kind)) is not None:
                        yield Raw(*known, time_ns, cpu, event)

    @staticmethod
    def _page(descriptor: int, page_bytes: int) -> bytes:
        try:
            return os.read(descriptor, page_bytes)
        except BlockingIOError:
            return b""

    def lost(self) -> int:
        """Return how many events were lost because the buffers were full."""
        total = 0
        for path in (self._folder / "per_cpu").glob("cpu*/stats"):
            for line in path.read_text(encoding="ascii").splitlines():
                name, _, count = line.partition(":")
                if name in ("overrun", "dropped events"):
                    total += int(count)
        return total

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="ascii")

    def _remove(self) -> None:
        for name in self._events:
            with suppress(OSError):
                self._write(f"{_EVENTS}/{name}/enable", "0")
        with suppress(OSError):
            self._folder.rmdir()


def instance_name(what: str) -> str:
    """Return a name for an instance of this process, by which its owner is known even after a kill."""
    return f"ssdlab-{os.getpid()}-{_started(os.getpid())}-{what}"


def place_with(folder: str, places: tuple[Path, ...] | None = None) -> Path | None:
    """Return the first of the kernel's tracing folders with this subfolder; None if this user can see none.

    On most hosts only root can read these folders.
    """
    for place in places or PLACES:
        if is_folder(place / folder):
            return place
    return None


def remove_dead(instances: Path | None = None) -> tuple[str, ...]:
    """Remove tracing instances that killed ssdlab processes have left; they would record events for ever.

    An instance that a process holds open cannot be removed. So no instance is lost that only seems dead, such
    as that of another container.

    Returns
    -------
    tuple
        Names of the removed instances.
    """
    if instances is None:
        place = place_with("instances")
        if place is None:
            return ()
        instances = place / "instances"
    removed = []
    for name in names(instances):
        match = _NAME.match(name)
        if match is None or _lives(int(match[1]), match[2]):
            continue
        with suppress(OSError):
            (instances / name).rmdir()
            removed.append(name)
    return tuple(removed)


def _lives(process: int, started: str | None) -> bool:
    now = _started(process)
    return now is not None and (started is None or now == started)


def _started(process: int) -> str | None:
    """Return the start time of a process in ticks since boot (proc(5), field 22); None if there is none."""
    status = text(Path("/proc", str(process), "stat"))
    return None if status is None else status.rpartition(")")[2].split()[19]


def _tracefs() -> Path:
    """Return the folder of the kernel's tracing files.

    Raises
    ------
    HostError
        There is none, or this user cannot read it.
    """
    place = place_with("events/block")
    if place is not None:
        return place
    raise HostError(
        "the kernel's tracing files are missing or not readable",
        "as root: mount -t tracefs tracefs /sys/kernel/tracing",
        looked_in=[str(place) for place in PLACES],
    )
