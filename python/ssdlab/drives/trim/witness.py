"""Whether a discard reached the device: the kernel's own block tracepoints, else its counters.

Sources: Documentation/trace/ftrace.rst (instances, filters), include/trace/events/block.h,
Documentation/block/stat.rst. A device with hardware queues is seen to complete each request
(`block_rq_complete`); one without, such as zram, is seen to be handed each bio (`block_bio_queue`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ssdlab.host.attributes import disk_of
from ssdlab.host.counters import IoCounters, read_counters
from ssdlab.host.sysfs import HostFiles, names, number, text
from ssdlab.host.tracefs import instance_name, place_with, remove_dead

_SECTOR_BYTES = 512
_BUFFER_KIB = 1024
"""Per CPU: some ten thousand events."""
_EVENTS = ("block_rq_complete", "block_bio_queue")
_LINE = re.compile(
    r"(block_rq_complete|block_bio_queue): \d+,\d+ [A-Z]*D[A-Z]* (?:\(.*?\) )?\d+ \+ (\d+).*\[(-?\w[^\]]*)\]$"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of discards at a device.

    Attributes
    ----------
    source
        `tracepoint` or `counters`; None where the kernel shows nothing.
    requests, bytes
        Those that the device took without error.
    """

    source: str | None
    requests: int | None = None
    bytes: int | None = None


class DiscardWitness:
    """Watches the discards of one device while it is entered.

    Parameters
    ----------
    files
        The host.
    node
        The device's folder in sysfs.
    """

    def __init__(self, files: HostFiles, node: Path) -> None:
        self._disk = disk_of(node)
        self._devices = {found for folder in (node, self._disk) if (found := text(folder / "dev"))}
        places = (files.sys / "kernel/tracing", files.sys / "kernel/debug/tracing")
        place = place_with("instances", places)
        writable = place is not None and os.access(place / "instances", os.W_OK)
        self._tracing = place if writable else None
        self._instance: Path | None = None
        self._before: IoCounters | None = None

    def __enter__(self) -> Self:
        self._before = read_counters(self._disk)
        if self._tracing is not None and self._devices:
            remove_dead(self._tracing / "instances")
            instance = self._tracing / "instances" / instance_name(self._disk.name)
            try:
                instance.mkdir(exist_ok=True)
                self._instance = instance
                self._watch(instance)
            except OSError:
                self._end()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def seen(self) -> Seen:
        """Return what was seen since entering."""
        traced = self._instance is not None and not self._lost(self._instance)
        if self._instance is not None and traced:
            found = seen_in((self._instance / "trace").read_text().splitlines())
            if found is not None:
                return found
        counted = self._counted()
        if counted is not None and counted.requests:
            return counted
        if traced:
            return Seen("tracepoint", 0, 0)
        # A driver without queues of its own need not count discards: zram does not.
        return counted if counted is not None and names(self._disk / "mq") else Seen(None)

    def _counted(self) -> Seen | None:
        before, after = self._before, read_counters(self._disk)
        if before is None or before.discards is None or before.discarded_bytes is None:
            return None
        if after is None or after.discards is None or after.discarded_bytes is None:
            return None
        return Seen(
            "counters", after.discards - before.discards, after.discarded_bytes - before.discarded_bytes
        )

    def _watch(self, instance: Path) -> None:
        (instance / "buffer_size_kb").write_text(str(_BUFFER_KIB))
        chosen = " || ".join(f"dev == {_kernel_number(device)}" for device in sorted(self._devices))
        for event in _EVENTS:
            folder = instance / "events" / "block" / event
            (folder / "filter").write_text(f'({chosen}) && rwbs ~ "*D*"')
            (folder / "enable").write_text("1")

    def _lost(self, instance: Path) -> bool:
        """Whether events were overwritten before they were read."""
        folder = instance / "per_cpu"
        stats = ((folder / name / "stats").read_text() for name in names(folder))
        return any(re.search(r"^(overrun|dropped events): [1-9]", each, re.MULTILINE) for each in stats)

    def _end(self) -> None:
        if self._instance is not None:
            with suppress(OSError):
                self._instance.rmdir()
            self._instance = None


def seen_in(lines: Iterable[str]) -> Seen | None:
    """Add up the discards of a trace; None where there are none. What failed is left out.

    >>> seen_in(["x [000] d.h1. 1.2: block_rq_complete: 259,0 DS () 0 + 2048 none,0,0 [0]"])
    Seen(source='tracepoint', requests=1, bytes=1048576)
    """
    sizes: dict[str, list[int]] = {event: [] for event in _EVENTS}
    for line in lines:
        match = _LINE.search(line)
        if match is not None and (match[1] == "block_bio_queue" or match[3] == "0"):
            sizes[match[1]].append(int(match[2]) * _SECTOR_BYTES)
    found = next((sizes[event] for event in _EVENTS if sizes[event]), None)
    return None if found is None else Seen("tracepoint", len(found), sum(found))


def granularity_of(node: Path) -> int:
    """Return the unit of discards of a device in bytes; 0 where it has none."""
    return number(disk_of(node) / "queue" / "discard_granularity") or 0


def _kernel_number(device: str) -> int:
    """Return `major:minor` as tracepoints hold it: 12 bits and 20 bits.

    >>> _kernel_number("259:1")
    271581185
    """
    major, _, minor = device.partition(":")
    return int(major) << 20 | int(minor)
