"""One I/O of a trace, in the trace's own terms, and what is wrong with a line."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from ssdlab.model.errors import excerpt
from ssdlab.model.limits import NUMBER_CHARACTERS

NAMES = (
    "read",
    "write",
    "trim",
    "flush",
    "write zeroes",
    "write zeroes or zone command",
    "zone append",
    "zone reset",
    "zone open",
    "zone close",
    "zone finish",
    "zone command",
    "secure erase",
    "pass-through",
)
"""Operations by their numbers; the first three are replayed, and are numbered so in a file of records."""
READ, WRITE, TRIM, FLUSH = range(4)
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
        Its place in `NAMES`.
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


class NotItsTime(BadLine):
    """The first time of a format of known unit, if it is in another unit or was rounded."""


_EXPONENT = re.compile(r"(?:\d+\.?\d*|\.\d+)[eE][+-]?\d{1,3}", re.ASCII)
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]+)")


def whole(text: str, noun: str, unit: int = 1) -> int:
    """Return the number that a field holds, times its unit.

    Raises
    ------
    BadLine
        It is no whole number, or none that a drive could mean.
    """
    number, parts = _exactly(text, noun, unit)
    number, rest = divmod(number, parts)
    if rest:
        raise BadLine(f"has {excerpt(text.strip())}, not a whole number, as the {noun}")
    if number > MAX_BYTES:
        raise BadLine(f"has {excerpt(text.strip())}, more than there is, as the {noun}")
    return number


def nanoseconds(text: str, unit_ns: int) -> int:
    """Return a time in ns from a number of units, exactly; a part of one is left out.

    Raises
    ------
    BadLine
        It is no number.
    """
    number, parts = _exactly(text, "time", unit_ns)
    time_ns = number // parts
    if time_ns > MAX_NS:
        raise BadLine(f"has {excerpt(text.strip())}, more than two thousand years, as the time")
    return time_ns


def _exactly(text: str, noun: str, unit: int) -> tuple[int, int]:
    """Return a number of units as a ratio: of 12, 12.5, 1.25e1 or 0xc."""
    text = text.strip()
    if len(text) > NUMBER_CHARACTERS:
        raise BadLine(f"has a number of {sum(map(str.isdecimal, text))} digits as the {noun}")
    before, _, after = text.partition(".")
    if (before + after).isdecimal() and text.isascii():  # nearly all of them, in half the time
        return int(before + after) * unit, 10 ** len(after)
    if found := _HEXADECIMAL.fullmatch(text):
        return int(found[1], 16) * unit, 1
    if _EXPONENT.fullmatch(text):
        return (Fraction(text) * unit).as_integer_ratio()
    raise BadLine(f"has {excerpt(text)!r} where the {noun} should be")
