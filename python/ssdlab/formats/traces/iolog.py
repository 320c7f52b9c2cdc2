"""fio's iologs: what `fio --write_iolog` writes, versions 2 and 3.

Version 2 has no times, only ``wait`` lines. By fio's HOWTO ("Trace file format v2") ``wait N`` is N
microseconds since the wait before; what fio does (iolog.c, `mtime_since_genesis`; tried with 3.33) is to wait
until N milliseconds after its start. Nothing in a file says which is meant. In version 3 each line begins
with a time, which fio writes in microseconds.
"""

from __future__ import annotations

from typing import Literal

from ssdlab.formats.traces.events import FLUSH, READ, TRIM, WRITE, BadLine, Event, nanoseconds, whole
from ssdlab.model.errors import UsageError, excerpt

Waits = Literal["", "ms", "us"]

_OPS = {"read": READ, "write": WRITE, "trim": TRIM, "sync": FLUSH, "datasync": FLUSH}
_FILE_ACTIONS = ("add", "open", "close")
_MICROSECOND_NS, _MILLISECOND_NS = 1000, 1_000_000


def version_of(line: str) -> int | None:
    """Return the version that the first line of an iolog names; None if it is no such line."""
    words = line.split()
    if len(words) == 4 and words[:2] == ["fio", "version"] and words[3] == "iolog" and words[2].isdecimal():
        return int(words[2][:9])
    return None


class Iolog:
    """Reads the lines behind the first one.

    Parameters
    ----------
    version
        2 or 3.
    unit_ns
        Of the times of version 3.
    waits
        How those of version 2 are read: ms, until so many after the start; us, for so many more.
    """

    def __init__(self, version: int, unit_ns: int = _MICROSECOND_NS, waits: Waits = "") -> None:
        self._timed = version >= 3
        self._waits = waits
        self._unit_ns = unit_ns
        self._now_ns = 0

    def line(self, text: str) -> Event | None:
        """Return the I/O of a line; None for what opens or closes a file, or waits.

        Raises
        ------
        BadLine
            It is no line of an iolog.
        UsageError
            It waits, and was not said how that is read.
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
                f"the iolog says wait {count}, which is read in two ways: until {count} ms after the start, "
                f"as fio does, or for {count} µs more, as its HOWTO says",
                "say which: --set waits=ms as fio does, or --set waits=us as its HOWTO says",
            )
