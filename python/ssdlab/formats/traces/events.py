"""One I/O of a trace, in the trace's own terms, and what is wrong with a line."""

from __future__ import annotations

from typing import NamedTuple

from ssdlab.model.errors import excerpt
from ssdlab.model.limits import NUMBER_CHARACTERS

READ, WRITE, TRIM, FLUSH = range(4)
"""Operations, numbered as in a file of records; a flush moves nothing and is not replayed."""
MAX_BYTES = 1 << 62
"""Beyond it no offset is one."""
MAX_NS = 1 << 66
"""Beyond it no time is one: two thousand years, as some formats count from the year 1601."""


class Event(NamedTuple):
    """One I/O of a trace.

    Attributes
    ----------
    time_ns
        On the trace's own clock.
    op
        `READ`, `WRITE`, `TRIM` or `FLUSH`.
    offset, length
        In bytes.
    device
        What it went to, as the trace names it.
    """

    time_ns: int
    op: int
    offset: int
    length: int
    device: str


class BadLine(Exception):
    """A line that is not what its format says; the text is the rest of a sentence about the line."""


def whole(text: str, noun: str, unit: int = 1) -> int:
    """Return the number that a field holds, times its unit.

    Raises
    ------
    BadLine
        It is no whole number, or none that a drive could mean.
    """
    text = text.strip()
    if not (text.isascii() and text.isdecimal()):
        raise BadLine(f"has {excerpt(text)!r} where the {noun} should be")
    if len(text) > NUMBER_CHARACTERS:
        raise BadLine(f"has a number of {len(text)} digits as the {noun}")
    number = int(text) * unit
    if number > MAX_BYTES:
        raise BadLine(f"has {text}, more than there is, as the {noun}")
    return number


def nanoseconds(text: str, unit_ns: int) -> int:
    """Return a time in ns from a number of units, whole or with a decimal point, exactly.

    Raises
    ------
    BadLine
        It is no number.
    """
    before, _, after = text.strip().partition(".")
    time_ns = whole(before or "0" if after else before, "time") * unit_ns
    if after:
        fraction = whole(after, "time")
        time_ns += fraction * unit_ns // 10 ** len(after.strip())
    if time_ns > MAX_NS:
        raise BadLine(f"has {excerpt(text.strip())}, more than two thousand years, as the time")
    return time_ns
