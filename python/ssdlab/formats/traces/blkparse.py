"""Text traces: the output of blkparse, read and written, and fio's iologs, read.

A line is ``major,minor cpu sequence seconds.nanoseconds pid action rwbs sector + sectors [command]``. An I/O
has several events, and the events of one action are read: Q, queued (as requested), or D, issued to the
driver (after merging and splitting).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from ssdlab.formats.traces.events import FLUSH, NAMES, READ, TRIM, WRITE, BadLine, Event, nanoseconds, whole
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.printable import printable

Action = Literal["Q", "D"]
SECTOR_BYTES = 512

_LINE = re.compile(
    r"\s*(\d+,\d+)\s+\d+\s+\d+\s+(\d+\.\d{1,9})\s+\d+\s+([A-Z]{1,2})\s+([A-Z]+)(?:\s+(\d+)(?:\s+\+\s+(\d+))?)?(?:\s.*)?$"
)
_FLAGS = re.compile(r"(F?)(ZRA|Z[A-Z]?|WZ|DE|[DWRN])?[A-Z]*")
"""Kernels since 2025 print WZ, and Z with a letter. Older ones print N for all of these (blk_fill_rwbs)."""
_OPERATIONS = {
    "R": READ,
    "W": WRITE,
    "D": TRIM,
    "": FLUSH,
    "DE": NAMES.index("secure erase"),
    "WZ": NAMES.index("write zeroes"),
    "ZA": NAMES.index("zone append"),
    "ZR": NAMES.index("zone reset"),
    "ZRA": NAMES.index("zone reset"),
    "ZO": NAMES.index("zone open"),
    "ZC": NAMES.index("zone close"),
    "ZF": NAMES.index("zone finish"),
    "N": (_UNNAMED := NAMES.index("write zeroes or zone command")),
}
_ZONE, _PASSED = NAMES.index("zone command"), NAMES.index("pass-through")
_ACTIONS = {"Q": "queued", "D": "issued", "C": "completed"}
_NO_SECTORS = re.compile(r"\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d{1,9}\s+\d+\s+[A-Za-z]{1,2}(\s|$)")
_LOST = re.compile(r".*\sm\s+N\s+ssdlab lost (\d+) events$")
_SUMMARY = re.compile(r"\s*(CPU\d+|Total)\s+\(.*\):")


def looks_like(line: str) -> bool:
    """Return whether a line could be from blkparse."""
    return _NO_SECTORS.match(line) is not None


def operation(flags: str) -> int | None:
    """Return the operation that rwbs flags mean; None if they mean none."""
    found = _FLAGS.fullmatch(flags)
    if found is None or not (found[1] or found[2]):
        return None
    if found[2] == "N" and found[1]:
        return FLUSH
    return _OPERATIONS.get(found[2] or "", _ZONE)


class Blkparse:
    """Parses lines of blkparse, of which it returns the events of one action."""

    def __init__(self, action: Action = "Q") -> None:
        self._action = action
        self._ended = False
        self.lost = 0
        """Events that the recording says it lost."""
        self.actions: Counter[str] = Counter()
        """How many events of I/Os there were of each action."""

    def line(self, text: str) -> Event | None:
        """Return the I/O of a line; None for other actions, and for the summary at blkparse's end.

        Raises
        ------
        BadLine
            The line is not from blkparse.
        """
        if not text.strip() or (self._ended and not looks_like(text)):
            return None
        if _SUMMARY.match(text):
            self._ended = True
            return None
        match = _LINE.match(text)
        if match is None:
            if _NO_SECTORS.match(text):  # a plug, an unplug, a message
                if lost := _LOST.match(text.rstrip()):
                    self.lost += whole(lost[1], "number of lost events")
                return None
            raise BadLine("is not a line of blkparse")
        device, time, action, flags, sector, sectors = match.groups()
        self.actions[action] += 1
        if action != self._action:
            return None
        op = operation(flags)
        if op is None:
            raise BadLine(f"has the flags {excerpt(flags)!r}, which mean neither read nor write")
        count = whole(sectors or "0", "number of sectors", SECTOR_BYTES)
        if (sector is not None and sectors is None) or (op == _UNNAMED and count == 0):
            op, sector = _PASSED, None  # pass-through commands have bytes but no sector
        elif op == WRITE and count == 0 and "F" in flags:
            op = FLUSH  # an empty write with a flush before it
        return Event(
            nanoseconds(time, 1_000_000_000),
            op,
            whole(sector or "0", "sector", SECTOR_BYTES),
            count,
            device,
        )

    def check(self, file: str) -> None:
        """Refuse a text that has events, but none of the chosen action.

        Raises
        ------
        UsageError
            The error lists the actions that the text has.
        """
        if not self.actions or self.actions[self._action]:
            return
        found = ", ".join(
            f"{count} {each}" + (f" ({_ACTIONS[each]})" if each in _ACTIONS else "")
            for each, count in self.actions.most_common()
        )
        other = next((each for each in ("Q", "D") if self.actions[each]), None)
        raise UsageError(
            f"{file} has no event {self._action} ({_ACTIONS[self._action]}), only {found}",
            f"read the others with --set action={other}"
            if other
            else "record queued or issued I/Os: completion times do not say when an I/O was requested",
            file=file,
            actions=dict(self.actions),
        )


def lost_line(device: str, time_ns: int, count: int) -> str:
    """Return a line in blkparse's form that says how many events a recording lost."""
    second, fraction = divmod(time_ns, 1_000_000_000)
    return f"{device:>7}  0        0 {second:5d}.{fraction:09d}     0  m   N ssdlab lost {count} events"


def line_of(
    device: str,
    cpu: int,
    sequence: int,
    time_ns: int,
    pid: int,
    flags: str,
    sector: int,
    sectors: int,
    name: str,
) -> str:
    """Return the line of a queued I/O as blkparse prints it, without a newline."""
    second, fraction = divmod(time_ns, 1_000_000_000)
    return (
        f"{device:>7} {cpu:2d} {sequence:8d} {second:5d}.{fraction:09d} {pid:5d}  Q {flags:>3} "
        f"{sector} + {sectors} [{printable(name)}]"
    )


# fio's iologs, versions 2 and 3, as `fio --write_iolog` writes them.
#
# Version 2 has no times, only ``wait`` lines. By fio's HOWTO ("Trace file format v2"), ``wait N`` means N
# microseconds since the previous wait. But fio itself waits until N milliseconds after its start (iolog.c,
# `mtime_since_genesis`; tried with 3.33). A file does not say which is meant. In version 3 each line begins
# with a time, which fio writes in microseconds.

Waits = Literal["", "ms", "us"]

_OPS = {"read": READ, "write": WRITE, "trim": TRIM, "sync": FLUSH, "datasync": FLUSH}
_FILE_ACTIONS = ("add", "open", "close")
_MICROSECOND_NS, _MILLISECOND_NS = 1000, 1_000_000


def version_of(line: str) -> int | None:
    """Return the version that the first line of an iolog names; None for any other line."""
    words = line.split()
    if len(words) == 4 and words[:2] == ["fio", "version"] and words[3] == "iolog" and words[2].isdecimal():
        return int(words[2][:9])
    return None


class Iolog:
    """Parses the lines of an iolog after the first one.

    Parameters
    ----------
    version
        2 or 3.
    unit_ns
        Unit of the times in version 3.
    waits
        Meaning of the waits in version 2. ms: until so many ms after the start; us: for so many more us;
        empty: not known.
    """

    def __init__(self, version: int, unit_ns: int = _MICROSECOND_NS, waits: Waits = "") -> None:
        self._timed = version >= 3
        self._waits = waits
        self._unit_ns = unit_ns
        self._now_ns = 0

    def line(self, text: str) -> Event | None:
        """Return the I/O of a line; None if the line opens or closes a file, or waits.

        Raises
        ------
        BadLine
            The line is not from an iolog.
        UsageError
            The line waits, and `waits` is empty.
        """
        words = text.split()
        if not words or version_of(text) is not None:
            return None
        if self._timed:
            self._now_ns = nanoseconds(words.pop(0), self._unit_ns)
        if len(words) == 2 and words[1] in _FILE_ACTIONS:
            return None
        if len(words) >= 3 and words[1] == "wait" and not self._timed:
            self._wait(whole(words[2], "time to wait"))
            return None
        if len(words) == 2 and words[1] in ("sync", "datasync"):
            words += ["0", "0"]
        if len(words) != 4:
            raise BadLine(f"has {len(words)} words where file, action, offset and length should be")
        device, action, offset, length = words
        if action not in _OPS:
            raise BadLine(f"has the action {excerpt(action)!r}, which is none of {', '.join(_OPS)}")
        return Event(self._now_ns, _OPS[action], whole(offset, "offset"), whole(length, "length"), device)

    def _wait(self, count: int) -> None:
        if self._waits == "ms":
            self._now_ns = max(self._now_ns, count * _MILLISECOND_NS)
        elif self._waits == "us":
            self._now_ns += count * _MICROSECOND_NS
        else:
            raise UsageError(
                f"the iolog's wait {count} is ambiguous: until {count} ms after the start, as fio does, or "
                f"for {count} µs more, as its HOWTO says",
                "choose one: --set waits=ms as fio does, or --set waits=us as its HOWTO says",
            )
