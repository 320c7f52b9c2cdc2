"""A trace mapped onto a drive, and recorded once in a form for the native runner.

A trace mapped onto a drive: what lies beyond its end is moved, what cannot be asked of it is left out.

Nothing is changed in silence: an I/O keeps its operation and its length or is left out, with its reason.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, JsonValue

from ssdlab.formats.traces import reading
from ssdlab.formats.traces.events import FLUSH, NAMES, READ, TRIM
from ssdlab.formats.traces.reading import Source, Tally
from ssdlab.host.durable import library_errors
from ssdlab.lab.verbs.verb import STEP_MAX_S, Bounds, Planned, Planning, Verb
from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen, Nanoseconds
from ssdlab.model.limits import DURATION_NS
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.formats.traces.events import Event

    Array = NDArray[np.void]

LONGEST_BYTES = 1 << 30
"""Of one I/O, as in every workload."""
AT_ONCE = "max"
"""The speed that asks for no times at all."""

CHUNK = 1 << 16
"""I/Os mapped at a time."""
_FIELDS = [("due_ns", "<u8"), ("offset", "<u8"), ("length", "<u4"), ("op", "<u4")]
"""A record, as the native runner reads it."""
RAW = [("time_ns", "<i8"), ("offset", "<u8"), ("length", "<u8"), ("op", "<u4")]
"""An I/O of a trace before it is mapped; times count from the first."""


def _speed(value: object) -> object:
    """Turn 2.5 into thousandths; the text max stays."""
    if isinstance(value, str) and value.strip() != AT_ONCE:
        try:
            value = float(value)
        except ValueError as error:
            raise UsageError(
                f"speed {value!r} is not understood", "give 1 (as timed), a factor such as 10, or max"
            ) from error
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0.001 <= value <= 1_000_000:
            raise UsageError(f"a speed of {value:g} is none", "give 0.001 to 1000000, or max", speed=value)
        return f"{round(value * 1000) / 1000:.10g}"
    return value.strip() if isinstance(value, str) else value


Speed = Annotated[str, BeforeValidator(_speed)]
"""How many times faster than it was recorded, to three decimals, or ``max``."""


class TraceMapping(Frozen):
    """How a trace is mapped onto a drive."""

    speed: Speed = Field("1", description="times faster than recorded, or max: as fast as possible")
    gap_most_ns: Nanoseconds = Field(0, ge=0, description="longer gaps are cut to this; 0: none is")
    length_ns: Nanoseconds = Field(
        0, ge=0, description="only so much of the trace, from its first I/O; 0: all"
    )
    only: Literal["all", "reads"] = Field("all", description="reads: writes and trims are left out")
    beyond: Literal["wrap", "leave-out"] = Field("wrap", description="I/Os beyond the drive's end")
    order: Literal["stop", "sort"] = Field("stop", description="times that go back")


@dataclass
class Laid:
    """What became of a trace's I/Os."""

    ios: int = 0
    """Of the trace, as far as it was read, flushes included."""
    extent_bytes: int = 0
    """First byte behind all I/Os of the trace, before it was mapped onto the drive."""
    trace_ns: int = 0
    """From the first I/O to the last that is replayed, as recorded."""
    wrapped: int = 0
    gaps_cut: int = 0
    gaps_cut_ns: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """How many for each reason."""


def chunks(events: Iterable[Event]) -> Iterator[Array]:
    """Gather I/Os into arrays of `RAW` fields, times counted from the first I/O."""
    import numpy as np

    rest = iter(events)
    zero: int | None = None
    while some := list(islice(rest, CHUNK)):
        array = np.empty(len(some), dtype=RAW)
        times, ops, offsets, lengths, _ = zip(*some, strict=True)
        # Ticks since 1601 in ns are more than 64 bits hold with a sign.
        zero = times[0] if zero is None else zero
        try:
            array["time_ns"] = [time - zero for time in times]
        except OverflowError as error:
            raise UsageError(
                "the times of the trace are centuries apart", "see whether their unit is right"
            ) from error
        array["offset"], array["length"], array["op"] = offsets, lengths, ops
        yield array


class TraceMapper:
    """Maps chunks of a trace onto a drive, in order of time.

    Parameters
    ----------
    how
        How.
    usable_bytes, logical_block_bytes
        Of the drive.
    """

    def __init__(self, how: TraceMapping, usable_bytes: int, logical_block_bytes: int) -> None:
        self._how = how
        self._usable = usable_bytes // logical_block_bytes * logical_block_bytes
        self._unit = logical_block_bytes
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        self._now_ns = 0
        self.laid = Laid()
        self.complete = False
        """Whether the part of the trace that was asked for is over."""

    def lay(self, raw: Array) -> Array:
        """Return the records of a chunk, its times those of the replay.

        Raises
        ------
        UsageError
            The replay would last longer than any may.
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
        """Say which I/Os are replayed; of those that are not, the first reason counts."""
        import numpy as np

        offset, length, op = raw["offset"], raw["length"], raw["op"]
        kept = np.ones(len(raw), dtype=bool)
        moves = (op <= TRIM) & (length > 0)
        if moves.any():
            extent = int((offset + length)[moves].max())
            self.laid.extent_bytes = max(self.laid.extent_bytes, extent)
        unit = units.block_text(self._unit)
        reasons = (
            ("a flush, which moves no data", op == FLUSH),
            *((NAMES[each], op == each) for each in range(FLUSH + 1, len(NAMES))),
            ("of no length", length == 0),
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
        """Wrap what lies beyond the end; what would then cross the end lies in front of it."""
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
                "replay a part of it (seconds), faster (speed) or with its gaps cut (gap_most); or see "
                "whether the unit of its times is right",
            )
        # In two parts, so that no product is more than 64 bits hold.
        due: NDArray[np.int64] = passed // thousandths * 1000 + passed % thousandths * 1000 // thousandths
        return due


MAGIC = b"ssdlab records 1"
"""How a file of records begins; `workload::recording` on the native side has the same."""


def record(
    source: Source,
    how: TraceMapping,
    *,
    usable_bytes: int,
    logical_block_bytes: int,
    file: Path | None = None,
    look: Callable[[], None] = lambda: None,
) -> dict[str, JsonValue]:
    """Lay a trace on a drive and write its file of records.

    Parameters
    ----------
    source, how
        Which trace, and how it is mapped.
    usable_bytes, logical_block_bytes
        Of the drive.
    file
        Where; None only counts.
    look
        Called now and then; what it raises ends the work.

    Returns
    -------
    dict
        ``source`` (file, format, lines, bad lines, devices), ``laid`` (what became of the I/Os) and
        ``recording`` (what the native runner says of the file: digest, counts, bytes, duration, bounds).

    Raises
    ------
    UsageError
        The trace cannot be read as asked, or nothing of it can be replayed on this drive.
    HostError
        The trace cannot be read to its end, or there is no room for the records.
    """
    import ssdlab._core as _core

    tally = Tally()
    mapper = TraceMapper(how, usable_bytes, logical_block_bytes)
    with tempfile.TemporaryDirectory(prefix="ssdlab-trace-") as scratch:
        target = Path(scratch) / "records" if file is None else file
        with library_errors(target), target.open("wb") as out:
            out.write(MAGIC)
            for raw in _in_order(source, how, tally, Path(scratch)):
                look()
                out.write(mapper.lay(raw).tobytes())
                if mapper.complete:
                    break
        _check_any(source, mapper, target)
        facts = _core.check_recording(target)
    return {"source": _source_facts(source, tally), "laid": _mapping_facts(how, mapper), "recording": facts}


def _in_order(source: Source, how: TraceMapping, tally: Tally, scratch: Path) -> Iterator[Array]:
    """Go through a trace in order of time.

    Raises
    ------
    UsageError
        Its times go back, and nothing was said of sorting them.
    """
    raw = chunks(reading.events(source, tally))
    if how.order == "sort":
        yield from _sorted(raw, scratch)
        return
    for chunk in raw:
        if not tally.backwards:
            yield chunk
    if tally.backwards:
        raise UsageError(
            f"the times of {source.file} go back {tally.backwards} times, first in line "
            f"{tally.first_backwards}",
            "put its I/Os in order of time with --set order=sort",
            file=source.file,
            line=tally.first_backwards,
            count=tally.backwards,
        )


def _sorted(raw: Iterator[Array], scratch: Path) -> Iterator[Array]:
    """Put all I/Os in order of time, by way of a file; of equal times the one that came first stays first."""
    import numpy as np

    spool = scratch / "unsorted"
    with library_errors(spool), spool.open("wb") as out:
        for chunk in raw:
            out.write(chunk.tobytes())
    if not spool.stat().st_size:
        return
    every = np.memmap(spool, dtype=RAW, mode="r")
    order = np.argsort(every["time_ns"], kind="stable")
    for first in range(0, len(order), CHUNK):
        yield every[order[first : first + CHUNK]]


def _check_any(source: Source, mapper: TraceMapper, target: Path) -> None:
    """Refuse a trace of which nothing is left.

    Raises
    ------
    UsageError
        With the reasons.
    """
    if target.stat().st_size > len(MAGIC):
        return
    if not mapper.laid.ios:
        chosen = f" of device {source.device}" if source.device else ""
        raise UsageError(
            f"{source.file} holds no I/O{chosen}",
            "see what is in it with ssdlab trace show FILE",
            file=source.file,
        )
    reasons = "; ".join(f"{count} are {why}" for why, count in mapper.laid.left_out.items())
    raise UsageError(
        f"none of the {mapper.laid.ios} I/Os of {source.file} can be replayed on this drive: {reasons}",
        "choose another trace, or a drive with smaller logical blocks",
        left_out=dict(mapper.laid.left_out),
    )


def _source_facts(source: Source, tally: Tally) -> dict[str, JsonValue]:
    return {
        "file": source.file,
        "format": tally.format,
        "lines": tally.lines,
        "bad_lines": tally.bad_lines,
        "bad_text": tally.bad_text,
        "backwards": tally.backwards,
        "lost": tally.lost,
        "devices": len(tally.devices),
        "device": source.device or next(iter(tally.devices), ""),
    }


def _mapping_facts(how: TraceMapping, mapper: TraceMapper) -> dict[str, JsonValue]:
    laid = mapper.laid
    left_out: dict[str, Any] = dict(laid.left_out)
    return {
        "speed": how.speed,
        "ios": laid.ios,
        "extent_bytes": laid.extent_bytes,
        "trace_ns": laid.trace_ns,
        "wrapped": laid.wrapped,
        "gap_most_ns": how.gap_most_ns,
        "gaps_cut": laid.gaps_cut,
        "gaps_cut_ns": laid.gaps_cut_ns,
        "left_out": left_out,
    }


TRACE_AGAIN_MAX = 10.0
"""To read a trace once more may take so many times as long as the plan took: it may have been in memory."""


class Trace(Verb):
    """Makes a trace into a recording for the part of the drive in use; the drive is not touched."""

    verb: ClassVar[str] = "trace"
    planned_once: ClassVar[bool] = True

    source: Source
    laying: TraceMapping
    usable_bytes: int
    logical_block_bytes: int

    def plan(self, planning: Planning) -> Planned:
        """Read the trace, unless that was done: what follows depends on what is in it."""
        began = time.monotonic()
        facts = {"file": "", **self._record()} if planning.known is None else planning.known.facts
        max_s = STEP_MAX_S + TRACE_AGAIN_MAX * (time.monotonic() - began)
        return replace(Planned(facts=facts), seconds=Bounds(0.0, max_s))

    def do(self, at: StepContext) -> StepResult:
        """Make a file of records in the run folder; a workload names it without the folder."""
        name = f"trace-{at.ordinal:04d}.records"
        with at.new_file(name) as made:
            return StepResult(seconds=0.0, facts={"file": name, **self._record(made, at.look)})

    def redo(self, at: StepContext) -> None:
        """Do nothing: its file is there."""

    def _record(
        self, file: Path | None = None, look: Callable[[], None] = lambda: None
    ) -> dict[str, JsonValue]:

        return record(
            self.source,
            self.laying,
            usable_bytes=self.usable_bytes,
            logical_block_bytes=self.logical_block_bytes,
            file=file,
            look=look,
        )
