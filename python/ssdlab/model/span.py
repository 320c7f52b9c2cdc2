"""Which part of the drive a stream may touch."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen, Metavar

SPAN_UNIT_BYTES = 1 << 20
"""Capacities are rarely a multiple of the larger blocks. All steps alike leave out what lies beyond the last
whole MiB, so that what is read was written by a fill of any block size."""
SPAN_UNIT_FROM_BYTES = 1 << 30
"""Below, a MiB is no trifle: each stream leaves out only what its own block does not divide."""


def span_unit_bytes(capacity_bytes: int, smallest_bytes: int) -> int:
    """Return what the spans of a drive are whole multiples of: `smallest_bytes` on a small one."""
    return SPAN_UNIT_BYTES if capacity_bytes >= SPAN_UNIT_FROM_BYTES else smallest_bytes


def _position(value: object) -> int | str:
    if isinstance(value, str) and value.strip().endswith("%"):
        return units.percent_text(units.parse_percent(value, noun="place"))
    return units.parse_bytes(value, noun="place")  # type: ignore[arg-type]


Position = Annotated[int | str, BeforeValidator(_position)]
"""A place or a length on a drive: bytes, or a percentage of its capacity such as ``"25%"``."""


class Span(Frozen):
    """The part of the drive a stream may touch."""

    start: Position = Field(0, description="first byte, or a percentage of the capacity")
    length: Position | None = Field(
        None, description="bytes, or a percentage of the capacity; null: to the end"
    )

    @property
    def text(self) -> str:
        """The span as it could be typed: ``0..25%``, ``10g..20g``."""
        start, length = self.start, "100%" if self.length is None and self.start == 0 else self.length
        if isinstance(start, int) and isinstance(length, int):
            return f"{units.size_text(start)}..{units.size_text(start + length)}"
        if isinstance(length, str) and (start == 0 or isinstance(start, str)):
            first = units.parse_percent(start) if isinstance(start, str) else 0
            return f"{start}..{units.percent_text(first + units.parse_percent(length))}"
        return f"{_shown(start)} to {'the end' if length is None else f'{_shown(length)} after it'}"

    def resolve(self, capacity_bytes: int, unit_bytes: int, logical_block_bytes: int) -> tuple[int, int]:
        """Return start and length in bytes on a drive of that capacity.

        Percentages, and an end that is the end of the drive, are rounded down to whole units of `unit_bytes`;
        sizes given in bytes are taken as they are and refused if the drive cannot address them.
        """
        start = _place(self.start, capacity_bytes, unit_bytes)
        rest = max(0, capacity_bytes - start) // unit_bytes * unit_bytes
        length = rest if self.length is None else _place(self.length, capacity_bytes, unit_bytes)
        for noun, value in (("start", start), ("length", length)):
            if value % logical_block_bytes:
                raise UsageError(
                    f"span {noun} {value} is not a multiple of {logical_block_bytes}, the logical block",
                    f"use multiples of {units.block_text(logical_block_bytes)}",
                    value=value,
                    logical_block_bytes=logical_block_bytes,
                )
        if start + length > capacity_bytes:
            raise UsageError(
                f"the span ends at {units.bytes_text(start + length)}, but the drive has "
                f"{units.bytes_text(capacity_bytes)}",
                f"use a span within 0..{capacity_bytes}, or percentages such as 0..25%",
                end=start + length,
                capacity_bytes=capacity_bytes,
            )
        return start, length


def parse_span(value: object) -> object:
    """Return the span of ``0..25%``, ``10GiB..20GiB``, ``25%`` (the first quarter); other values pass."""
    if not isinstance(value, str):
        return value
    first, dots, second = (part.strip() for part in value.partition(".."))
    start, end = _position(first if dots else 0), _position(second if dots else first)
    if isinstance(start, int) and isinstance(end, int):
        length: int | str = end - start
        empty = end <= start
    elif start == 0:
        length, empty = end, end == "0%"
    elif isinstance(start, str) and isinstance(end, str):
        share = units.parse_percent(end) - units.parse_percent(start)
        empty = share <= 0
        length = "0%" if empty else units.percent_text(share)
    else:
        raise UsageError(
            f"span {value!r} mixes bytes and percent", "give both ends in bytes, or both in percent"
        )
    if empty:
        raise UsageError(
            f"span {value!r} is empty", "give the start, then the end, such as 0..25%", given=value
        )
    return Span(start=start, length=length)


def _shown(position: int | str) -> str:
    return position if isinstance(position, str) else units.size_text(position)


def _place(position: int | str, capacity_bytes: int, unit_bytes: int) -> int:
    if isinstance(position, int):
        return position
    return int(units.parse_percent(position) * capacity_bytes) // unit_bytes * unit_bytes


AnySpan = Annotated[Span, BeforeValidator(parse_span), Metavar("SPAN")]
"""A span; text such as ``"0..25%"`` is understood."""
