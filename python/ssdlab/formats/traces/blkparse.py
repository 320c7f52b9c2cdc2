"""The text that blkparse prints, read and written: one line for each event of an I/O on its way to the drive.

``major,minor cpu sequence seconds.nanoseconds pid action rwbs sector + sectors [command]``. An I/O has
several events; those of one action are taken: Q, queued (what was asked for), or D, issued to the driver
(after merging and splitting).
"""

from __future__ import annotations

import re
from typing import Literal

from ssdlab.formats.traces.events import FLUSH, READ, TRIM, WRITE, BadLine, Event, nanoseconds, whole
from ssdlab.model.errors import excerpt

Action = Literal["Q", "D"]
SECTOR_BYTES = 512

_LINE = re.compile(
    r"\s*(\d+,\d+)\s+\d+\s+\d+\s+(\d+\.\d{1,9})\s+\d+\s+([A-Z]{1,2})\s+([A-Z]+)(?:\s+(\d+)\s+\+\s+(\d+))?(?:\s.*)?$"
)
_NO_SECTORS = re.compile(r"\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d{1,9}\s+\d+\s+[A-Za-z]{1,2}(\s|$)")
_LOST = re.compile(r".*\sm\s+N\s+ssdlab lost (\d+) events$")
_SUMMARY = re.compile(r"\s*(CPU\d+|Total)\s+\(.*\):")


def looks_like(line: str) -> bool:
    """Return whether a line could be one of blkparse."""
    return _NO_SECTORS.match(line) is not None


def operation(flags: str) -> int | None:
    """Return the operation that rwbs flags mean; None for what is none of them."""
    for letter, op in (("D", TRIM), ("W", WRITE), ("R", READ), ("F", FLUSH)):
        if letter in flags:
            return op
    return None


class Blkparse:
    """Reads the lines of one action."""

    def __init__(self, action: Action = "Q") -> None:
        self._action = action
        self._ended = False
        self.lost = 0
        """Events that the recording says it lost."""

    def line(self, text: str) -> Event | None:
        """Return the I/O of a line; None for other actions, and for the summary that blkparse ends with.

        Raises
        ------
        BadLine
            It is no line of blkparse.
        """
        if self._ended or not text.strip():
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
        if action != self._action:
            return None
        op = operation(flags)
        if op is None:
            raise BadLine(f"has the flags {excerpt(flags)!r}, which say neither read nor write")
        # A write with a flush in front and nothing to write is a flush.
        count = whole(sectors or "0", "number of sectors", SECTOR_BYTES)
        if op == WRITE and count == 0 and "F" in flags:
            op = FLUSH
        return Event(
            nanoseconds(time, 1_000_000_000),
            op,
            whole(sector or "0", "sector", SECTOR_BYTES),
            count,
            device,
        )


def lost_line(device: str, time_ns: int, count: int) -> str:
    """Return a message, in blkparse's form, that says how many events a recording lost."""
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
    """Return the line of a queued I/O as blkparse prints it, without the line's end."""
    second, fraction = divmod(time_ns, 1_000_000_000)
    return (
        f"{device:>7} {cpu:2d} {sequence:8d} {second:5d}.{fraction:09d} {pid:5d}  Q {flags:>3} "
        f"{sector} + {sectors} [{name}]"
    )
