"""Maps a trace onto a drive: I/Os beyond the end wrap around, and impossible I/Os are left out.

An I/O keeps its operation and length, or is left out with a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from ssdlab.formats.traces.events import FLUSH, NAMES, READ, TRIM
from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen, Nanoseconds
from ssdlab.model.limits import DURATION_NS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.formats.traces.events import Event

    Array = NDArray[np.void]

LONGEST_BYTES = 1 << 30
"""Maximum length of an I/O, as in every workload."""


AT_ONCE = "max"
"""The speed of a replay that ignores recorded times."""


CHUNK = 1 << 16
"""I/Os mapped at a time."""


_FIELDS = [("due_ns", "<u8"), ("offset", "<u8"), ("length", "<u4"), ("op", "<u4")]
"""Fields of a record, as the native runner reads it."""


RAW = [("time_ns", "<i8"), ("offset", "<u8"), ("length", "<u8"), ("op", "<u4")]
"""Fields of a trace's I/O before mapping; times count from the first I/O."""


def _speed(value: object) -> object:
    """Return a speed as text, rounded to thousandths; `max` is kept."""
    if isinstance(value, str) and value.strip() != AT_ONCE:
        try:
            value = float(value)
        except ValueError as error:
            raise UsageError(
                f"speed {value!r} is not understood", "give 1 (as timed), a factor such as 10, or max"
            ) from error
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0.001 <= value <= 1_000_000:
            raise UsageError(
                f"a speed of {value:g} is not valid", "give 0.001 to 1000000, or max", speed=value
            )
        return f"{round(value * 1000) / 1000:.10g}"
    return value.strip() if isinstance(value, str) else value


Speed = Annotated[str, BeforeValidator(_speed)]
"""Replay speed as a multiple of the recorded speed, to three decimals, or ``max``."""


class TraceMapping(Frozen):
    """How a trace is mapped onto a drive."""

    speed: Speed = Field("1", description="times faster than recorded, or max: as fast as possible")
    gap_most_ns: Nanoseconds = Field(0, ge=0, description="longer gaps are cut to this; 0: never")
    length_ns: Nanoseconds = Field(
        0, ge=0, description="length of the trace to replay, from its first I/O; 0: all"
    )
    only: Literal["all", "reads"] = Field("all", description="reads: skip writes and trims")
    beyond: Literal["wrap", "leave-out"] = Field("wrap", description="I/Os beyond the drive's end")
    order: Literal["stop", "sort"] = Field("stop", description="how to handle times that go back")


@dataclass
class Laid:
    """Counts of how a trace's I/Os were mapped."""

    ios: int = 0
    """I/Os read from the trace, including flushes."""
    extent_bytes: int = 0
    """End of the trace's last I/O, before mapping."""
    trace_ns: int = 0
    """Recorded time from the first to the last replayed I/O."""
    wrapped: int = 0
    gaps_cut: int = 0
    gaps_cut_ns: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of I/Os left out, by reason."""


def chunks(events: Iterable[Event]) -> Iterator[Array]:
    """Collect I/Os into arrays of `RAW` fields, with times counted from the first I/O."""
    import numpy as np

    rest = iter(events)
    zero: int | None = None
    while some := list(islice(rest, CHUNK)):
        array = np.empty(len(some), dtype=RAW)
        times, ops, offsets, lengths, _ = zip(*some, strict=True)
        # Windows times, in ns since 1601, overflow a signed 64-bit integer.
        zero = times[0] if zero is None else zero
        try:
            array["time_ns"] = [time - zero for time in times]
        except OverflowError as error:
            raise UsageError(
                "the times of the trace are centuries apart", "check the unit of the times"
            ) from error
        array["offset"], array["length"], array["op"] = offsets, lengths, ops
        yield array


class TraceMapper:
    """Maps chunks of a trace onto a drive, in time order."""

    def __init__(self, how: TraceMapping, usable_bytes: int, logical_block_bytes: int) -> None:
        self._how = how
        self._usable = usable_bytes // logical_block_bytes * logical_block_bytes
        self._unit = logical_block_bytes
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        self._now_ns = 0
        self.laid = Laid()
        self.complete = False
        """Whether the requested part of the trace is complete."""

    def lay(self, raw: Array) -> Array:
        """Return the records of a chunk, with their times in the replay.

        Raises
        ------
        UsageError
            The replay would last longer than allowed.
        """
        import numpy as np

        if self._how.length_ns and len(raw):
            raw = self._shortened(raw)
        self.laid.ios += len(raw)
        kept = raw[self._kept(raw)]
        records = np.empty(len(kept), dtype=_FIELDS)
        records["op"], records["length"] = kept["op"], kept["length"]
        records["offset"] = self._inside(kept["offset"], kept["length"])
        records["due_ns"] = self._due(kept["time_ns"])
        return records

    def _shortened(self, raw: Array) -> Array:
        if self._first_ns is None:
            self._first_ns = int(raw["time_ns"][0])
        inside = raw["time_ns"] < self._first_ns + self._how.length_ns
        self.complete = not bool(inside.all())
        return raw[inside]

    def _kept(self, raw: Array) -> NDArray[np.bool_]:
        """Return a mask of the I/Os to replay; count each other I/O under its first reason."""
        import numpy as np

        offset, length, op = raw["offset"], raw["length"], raw["op"]
        kept = np.ones(len(raw), dtype=bool)
        moves = (op <= TRIM) & (length > 0)
        if moves.any():
            extent = int((offset + length)[moves].max())
            self.laid.extent_bytes = max(self.laid.extent_bytes, extent)
        unit = units.block_text(self._unit)
        reasons = (
            ("flushes, which move no data", op == FLUSH),
            *((NAMES[each], op == each) for each in range(FLUSH + 1, len(NAMES))),
            ("of length 0", length == 0),
            ("not a read", (op != READ) if self._how.only == "reads" else np.zeros(len(raw), dtype=bool)),
            (
                f"not in whole logical blocks of the drive, {unit}",
                (offset | length) % np.uint64(self._unit) != 0,
            ),
            ("longer than 1 GiB", length > LONGEST_BYTES),
            ("longer than the drive", length > self._usable),
            (
                "beyond the drive's end",
                (offset + length > self._usable) & np.bool_(self._how.beyond == "leave-out"),
            ),
        )
        for reason, out in reasons:
            if count := int((kept & out).sum()):
                self.laid.left_out[reason] += count
            kept &= ~out
        return kept

    def _inside(self, offset: NDArray[np.uint64], length: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Wrap I/Os beyond the drive's end to its start; move back those that would cross the end."""
        import numpy as np

        beyond = offset + length > self._usable
        self.laid.wrapped += int(beyond.sum())
        inside = np.where(beyond, offset % np.uint64(self._usable), offset)
        fitting: NDArray[np.uint64] = np.minimum(inside, np.uint64(self._usable) - length)
        return fitting

    def _due(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        import numpy as np

        if not len(times):
            return times
        gaps = np.diff(times, prepend=times[0] if self._last_ns is None else self._last_ns)
        self.laid.trace_ns += int(gaps.sum())
        if limit_ns := self._how.gap_most_ns:
            cut = gaps > limit_ns
            self.laid.gaps_cut += int(cut.sum())
            self.laid.gaps_cut_ns += int((gaps[cut] - limit_ns).sum())
            gaps = np.where(cut, limit_ns, gaps)
        passed = self._now_ns + np.cumsum(gaps)
        self._last_ns, self._now_ns = int(times[-1]), int(passed[-1])
        if self._how.speed == AT_ONCE:
            return np.zeros(len(times), dtype=np.int64)
        thousandths = round(float(self._how.speed) * 1000)
        if self._now_ns * 1000 // thousandths > DURATION_NS:
            raise UsageError(
                f"the replay would last {units.span_text(self._now_ns / thousandths / 1e6)}",
                "replay a part (seconds), faster (speed) or with shorter gaps (gap_most); or check the "
                "unit of its times",
            )
        # In two parts, so that no product overflows 64 bits.
        due: NDArray[np.int64] = passed // thousandths * 1000 + passed % thousandths * 1000 // thousandths
        return due
