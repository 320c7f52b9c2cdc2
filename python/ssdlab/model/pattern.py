"""Where the I/Os of a stream go: its part of the drive, and the order of addresses."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Bytes, Frozen, Metavar
from ssdlab.model.units import bytes_text

SPAN_UNIT_BYTES = 1 << 20
"""Unit of spans. Capacities are rarely a multiple of larger blocks. All steps skip the part after the last
whole MiB, so that a fill with any block size covers all reads."""
SPAN_UNIT_FROM_BYTES = 1 << 30
"""Minimum capacity for this unit. On smaller drives a MiB matters: a stream skips less than one block."""


def span_unit_bytes(capacity_bytes: int, smallest_bytes: int) -> int:
    """Return the unit of a drive's spans; on a small drive it is `smallest_bytes`."""
    return SPAN_UNIT_BYTES if capacity_bytes >= SPAN_UNIT_FROM_BYTES else smallest_bytes


def _position(value: object) -> int | str:
    if isinstance(value, str) and value.strip().endswith("%"):
        return units.percent_text(units.parse_percent(value, noun="place"))
    return units.parse_bytes(value, noun="place")  # type: ignore[arg-type]


Position = Annotated[int | str, BeforeValidator(_position)]
"""An offset or a length on a drive: bytes, or a percentage of its capacity such as ``"25%"``."""


class Span(Frozen):
    """The part of the drive that a stream may use."""

    start: Position = Field(0, description="first byte, or a percentage of the capacity")
    length: Position | None = Field(
        None, description="bytes, or a percentage of the capacity; null: to the end"
    )

    @property
    def text(self) -> str:
        """The span as a user types it: ``0..25%``, ``10g..20g``."""
        start, length = self.start, "100%" if self.length is None and self.start == 0 else self.length
        if isinstance(start, int) and isinstance(length, int):
            return f"{units.size_text(start)}..{units.size_text(start + length)}"
        if isinstance(length, str) and (start == 0 or isinstance(start, str)):
            first = units.parse_percent(start) if isinstance(start, str) else 0
            return f"{start}..{units.percent_text(first + units.parse_percent(length))}"
        return f"{_shown(start)} to {'the end' if length is None else f'{_shown(length)} after it'}"

    def resolve(self, capacity_bytes: int, unit_bytes: int, logical_block_bytes: int) -> tuple[int, int]:
        """Return start and length in bytes on a drive of that capacity.

        Percentages, and an end that is the end of the drive, are rounded down to whole units of `unit_bytes`.
        Sizes in bytes are not rounded.

        Raises
        ------
        UsageError
            The drive cannot address the start or the length, or the span ends beyond the drive.
        """
        start = _place(self.start, capacity_bytes, unit_bytes)
        rest = max(0, capacity_bytes - start) // unit_bytes * unit_bytes
        length = rest if self.length is None else _place(self.length, capacity_bytes, unit_bytes)
        for noun, value in (("start", start), ("length", length)):
            if value % logical_block_bytes:
                raise UsageError(
                    f"span {noun} {value} is not a multiple of the logical block, {logical_block_bytes}",
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
    """Parse ``0..25%``, ``10GiB..20GiB`` or ``25%`` (the first quarter); return other values unchanged."""
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
"""A span, or text such as ``"0..25%"``."""


class Sequential(Frozen):
    """One block after the other. Worker i of n starts at i/n of the span and wraps at its end."""

    kind: Literal["sequential"] = "sequential"
    cursors: tuple[int, ...] | None = Field(
        None, description="byte on the drive where each source continues; null: from its start"
    )

    def native(self) -> object:
        """Return the pattern as the native runner takes it."""
        return {"sequential": {"cursors": self.cursors}}


class Uniform(Frozen):
    """Random blocks of the span, all equally likely, with repeats (no random map)."""

    kind: Literal["uniform"] = "uniform"

    def native(self) -> object:
        return "uniform"


class Stepped(Frozen):
    """Random multiples of a step, all equally likely, for any block size; the largest block always fits."""

    kind: Literal["stepped"] = "stepped"
    step_bytes: Bytes = Field(
        ge=512, le=1 << 30, description="distance between neighbouring offsets, a multiple of 512 bytes"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.step_bytes % 512:
            raise UsageError(
                f"a step of {bytes_text(self.step_bytes)} is not a multiple of 512 B", "use multiples of 512"
            )
        return self

    def native(self) -> object:
        return {"stepped": {"step_bytes": self.step_bytes}}


MAX_THETA_MILLI = 10_000
"""An exponent of 10; beyond it, almost all I/O goes to the first blocks."""


class Zipf(Frozen):
    """Random blocks by Zipf's law; the hot blocks are scattered over the span."""

    kind: Literal["zipf"] = "zipf"
    theta_milli: int = Field(
        ge=1, le=MAX_THETA_MILLI, description="exponent in thousandths: 1100 is fio's zipf:1.1"
    )

    def native(self) -> object:
        return {"zipf": {"theta_milli": self.theta_milli}}


class Band(Frozen):
    """A part of the span: `access_weight` of the I/Os go to `span_weight` of the bytes."""

    access_weight: int = Field(ge=0, lt=2**32, description="relative share of the I/Os")
    span_weight: int = Field(ge=1, lt=2**32, description="relative share of the span")


class Bands(Frozen):
    """Neighbouring bands from the start of the span, each with its own share of the I/Os."""

    kind: Literal["bands"] = "bands"
    bands: tuple[Band, ...] = Field(min_length=1, max_length=64, description="the bands in order of offset")

    def native(self) -> object:
        return {"bands": [band.model_dump() for band in self.bands]}

    def used(self, slots: int) -> tuple[tuple[int, int], ...]:
        """Return the first slot and the count of slots of each band with I/O, for a span of `slots` slots.

        Each edge is rounded down, as in the native runner.
        """
        total, before, found = sum(band.span_weight for band in self.bands), 0, []
        for band in self.bands:
            first, before = slots * before // total, before + band.span_weight
            if band.access_weight:
                found.append((first, slots * before // total - first))
        return tuple(found)


class Segmented(Frozen):
    """Equal segments, one at the start of each stride; blocks between segments get no I/O."""

    kind: Literal["segments"] = "segments"
    count: int = Field(ge=1, le=65_536, description="number of segments")
    length_bytes: Bytes = Field(gt=0, description="length of each, in whole blocks")
    stride_bytes: Bytes = Field(
        gt=0, description="from the start of one to the start of the next, in whole blocks"
    )

    def native(self) -> object:
        return {"segments": self.model_dump(exclude={"kind"})}

    def places_from(self, start: int) -> tuple[tuple[int, int], ...]:
        """Return start and length in bytes of each segment of a span that begins at `start`."""
        return tuple((start + at * self.stride_bytes, self.length_bytes) for at in range(self.count))


class OnePass(Frozen):
    """Every block once in random order, and some again: gives a fresh drive the state of long random writing.

    Source i of n has the i-th part of the span. It is for writes of one size only.
    """

    kind: Literal["one-pass"] = "one-pass"
    raw_bytes: Bytes = Field(gt=0, description="bytes of the pass: the flash including spare")
    behind_bytes: Bytes = Field(ge=0, description="a block is rewritten after this many bytes")

    def native(self) -> object:
        return {"one_pass": {"raw_bytes": self.raw_bytes, "behind_bytes": self.behind_bytes}}


class Shuffled(Frozen):
    """Every block once in random order, then all again, as fio does with its random map.

    Each worker has its own order. It is for blocks of one size only.
    """

    kind: Literal["shuffled"] = "shuffled"
    anew: bool = Field(False, description="a new order for each pass; otherwise all repeat the first")

    def native(self) -> object:
        return {"shuffled": {"anew": self.anew}}


class Recording(Frozen):
    """The offsets of a recording in their order, from a file of records that are mapped onto the drive."""

    kind: Literal["recorded"] = "recorded"
    file: str = Field(description="file of records; in a run, a name in its folder")
    digest: str = Field(description="BLAKE3 of the file, in hex")
    duration_ns: int = Field(ge=0, description="when the last I/O is due, in ns; 0 if times do not count")
    moved_bytes: int = Field(ge=0, description="bytes read and written in all")
    written_bytes: int = Field(ge=0, description="bytes written in all")

    def native(self) -> object:
        return {"recorded": {"path": self.file, "digest": self.digest}}


def parse_pattern(value: object) -> object:
    """Parse text such as ``zipf:1.1`` or ``hot:80/20`` into a pattern; return other values unchanged."""
    if not isinstance(value, str):
        return value
    name, _, rest = value.partition(":")
    if name == "zipf" and (match := re.fullmatch(r"\d{1,2}(\.\d{1,3})?", rest)):
        if theta_milli := int(Fraction(match[0]) * 1000):
            if theta_milli > MAX_THETA_MILLI:
                raise UsageError(
                    f"zipf has an exponent of {match[0]}, above {MAX_THETA_MILLI // 1000}",
                    f"give at most {MAX_THETA_MILLI // 1000}, such as zipf:1.1",
                    given=value,
                )
            return Zipf(theta_milli=theta_milli)
        raise UsageError("zipf with an exponent of 0 is uniform", "use uniform, or zipf:1.1", given=value)
    if name == "hot" and (match := re.fullmatch(r"(\d{1,2})/(\d{1,2})", rest)):
        access, span = int(match[1]), int(match[2])
        if access and span:
            hot = Band(access_weight=access, span_weight=span)
            return Bands(bands=(hot, Band(access_weight=100 - access, span_weight=100 - span)))
    if name in ("uniform", "sequential") and not rest:
        return {"kind": name}
    if name == "shuffled" and not rest:
        return {"kind": name, "anew": True}  # repeats of the same order flatter a drive
    raise UsageError(
        f"pattern {value!r} is not known",
        "use uniform, shuffled, zipf:1.1 (exponent) or hot:80/20 (80 % of the I/Os to 20 % of the span)",
        given=value,
    )


def pattern_text(pattern: Frozen) -> str:
    """Return a pattern as a user types it, such as ``zipf:1.1`` or ``hot:80/20``, or else its kind."""
    if isinstance(pattern, Zipf):
        return f"zipf:{pattern.theta_milli / 1000:g}"
    if isinstance(pattern, Bands) and len(pattern.bands) == 2:
        hot, rest = pattern.bands
        if (hot.access_weight + rest.access_weight, hot.span_weight + rest.span_weight) == (100, 100):
            return f"hot:{hot.access_weight}/{hot.span_weight}"
    return str(getattr(pattern, "kind", "") or "random")


AnyPattern = Annotated[
    Sequential | Uniform | Stepped | Zipf | Bands | Segmented | OnePass | Shuffled | Recording,
    Field(discriminator="kind"),
    BeforeValidator(parse_pattern),
    Metavar("PATTERN"),
]
"""A pattern, or text such as ``"zipf:1.1"``."""
