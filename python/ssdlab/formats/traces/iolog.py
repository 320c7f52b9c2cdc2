"""fio's iologs: what `fio --write_iolog` writes, versions 2 and 3.

Version 2 has no times: only ``wait`` lines say that time has passed, in microseconds since the wait before.
In version 3 each line begins with a time, which fio writes in microseconds.
"""

from __future__ import annotations

from ssdlab.formats.traces.events import FLUSH, READ, TRIM, WRITE, BadLine, Event, nanoseconds, whole
from ssdlab.model.errors import excerpt

_OPS = {"read": READ, "write": WRITE, "trim": TRIM, "sync": FLUSH, "datasync": FLUSH}
_FILE_ACTIONS = ("add", "open", "close")
_MICROSECOND_NS = 1000


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
    """

    def __init__(self, version: int, unit_ns: int = _MICROSECOND_NS) -> None:
        self._timed = version >= 3
        self._unit_ns = unit_ns
        self._now_ns = 0

    def line(self, text: str) -> Event | None:
        """Return the I/O of a line; None for what opens or closes a file, or waits.

        Raises
        ------
        BadLine
            It is no line of an iolog.
        """
        words = text.split()
        if not words or version_of(text) is not None:
            return None
        if self._timed:
            self._now_ns = nanoseconds(words.pop(0), self._unit_ns)
        if len(words) == 2 and words[1] in _FILE_ACTIONS:
            return None
        if len(words) >= 3 and words[1] == "wait" and not self._timed:
            self._now_ns += whole(words[2], "time to wait") * _MICROSECOND_NS
            return None
        if len(words) == 2 and words[1] in ("sync", "datasync"):
            words += ["0", "0"]
        if len(words) != 4:
            raise BadLine(f"has {len(words)} words where file, action, offset and length should be")
        device, action, offset, length = words
        if action not in _OPS:
            raise BadLine(f"has the action {excerpt(action)!r}, which is none of {', '.join(_OPS)}")
        return Event(self._now_ns, _OPS[action], whole(offset, "offset"), whole(length, "length"), device)
