"""One I/O of a trace, in the trace's own terms, and errors for invalid lines."""

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
"""Operations by number. The first three are replayed, and have the same numbers in a file of records."""
READ, WRITE, TRIM, FLUSH = range(4)
MAX_BYTES = 1 << 62
"""Largest valid offset or length."""
MAX_NS = 1 << 66
"""Largest valid time: two thousand years, because some formats count from the year 1601."""


class Event(NamedTuple):
    """One I/O of a trace.

    Attributes
    ----------
    time_ns
        On the trace's own clock.
    op
        Index in `NAMES`.
    offset, length
        In bytes.
    device
        Device of the I/O, as the trace names it.
    """

    time_ns: int
    op: int
    offset: int
    length: int
    device: str


class BadLine(Exception):
    """A line does not match its format; the text is the end of a sentence about the line."""


class NotItsTime(BadLine):
    """The first time is not in the fixed unit of the format, or was rounded."""


_EXPONENT = re.compile(r"(?:\d+\.?\d*|\.\d+)[eE][+-]?\d{1,3}", re.ASCII)
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]+)")


def whole(text: str, noun: str, unit: int = 1) -> int:
    """Return the number in a field, times its unit.

    Raises
    ------
    BadLine
        It is not a whole number, or is larger than any drive.
    """
    number, parts = _exactly(text, noun, unit)
    number, rest = divmod(number, parts)
    if rest:
        raise BadLine(f"has {excerpt(text.strip())}, not a whole number, as the {noun}")
    if number > MAX_BYTES:
        raise BadLine(f"has {excerpt(text.strip())}, more than there is, as the {noun}")
    return number


def nanoseconds(text: str, unit_ns: int) -> int:
    """Return a time in ns from a number of units, exact but rounded down.

    Raises
    ------
    BadLine
        It is not a number, or is too large.
    """
    number, parts = _exactly(text, "time", unit_ns)
    time_ns = number // parts
    if time_ns > MAX_NS:
        raise BadLine(f"has {excerpt(text.strip())}, more than two thousand years, as the time")
    return time_ns


def _exactly(text: str, noun: str, unit: int) -> tuple[int, int]:
    """Return a number of units as an exact ratio; accepts 12, 12.5, 1.25e1 and 0xc."""
    text = text.strip()
    if len(text) > NUMBER_CHARACTERS:
        raise BadLine(f"has a number of {sum(map(str.isdecimal, text))} digits as the {noun}")
    before, _, after = text.partition(".")
    if (before + after).isdecimal() and text.isascii():  # a faster path for nearly all numbers
        return int(before + after) * unit, 10 ** len(after)
    if found := _HEXADECIMAL.fullmatch(text):
        return int(found[1], 16) * unit, 1
    if _EXPONENT.fullmatch(text):
        return (Fraction(text) * unit).as_integer_ratio()
    raise BadLine(f"has {excerpt(text)!r} where the {noun} should be")
