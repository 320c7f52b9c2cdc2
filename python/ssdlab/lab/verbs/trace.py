"""`lab.trace`: maps a trace onto the drive and records it in the format of the native runner."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import JsonValue

from ssdlab.formats.traces import reading
from ssdlab.formats.traces.reading import Source, Tally
from ssdlab.host.durable import library_errors
from ssdlab.lab.traces.mapping import CHUNK, RAW, TraceMapper, TraceMapping, chunks
from ssdlab.lab.verbs.verb import STEP_MAX_S, Bounds, Planned, Planning, Verb
from ssdlab.model.errors import UsageError
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.lab.verbs.verb import StepContext

    Array = NDArray[np.void]

TRACE_AGAIN_MAX = 10.0
"""Reading a trace again may take this many times as long as in the plan, which may have read it from the
page cache."""


class Trace(Verb):
    """Converts a trace into a recording for the part of the drive in use; the drive is not touched."""

    verb: ClassVar[str] = "trace"
    planned_once: ClassVar[bool] = True

    source: Source
    laying: TraceMapping
    usable_bytes: int
    logical_block_bytes: int

    def plan(self, planning: Planning) -> Planned:
        """Read the trace, unless that was already done: later steps depend on its content."""
        began = time.monotonic()
        facts = {"file": "", **self._record()} if planning.known is None else planning.known.facts
        max_s = STEP_MAX_S + TRACE_AGAIN_MAX * (time.monotonic() - began)
        return replace(Planned(facts=facts), seconds=Bounds(0.0, max_s))

    def do(self, at: StepContext) -> StepResult:
        """Write the file of records into the run folder; workloads refer to it by its name alone."""
        name = f"trace-{at.ordinal:04d}.records"
        with at.new_file(name) as made:
            return StepResult(seconds=0.0, facts={"file": name, **self._record(made, at.look)})

    def redo(self, at: StepContext) -> None:
        """Do nothing: the file of records exists."""

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


MAGIC = b"ssdlab records 1"
"""Start of a file of records, as in the native `workload::recording`."""


def record(
    source: Source,
    how: TraceMapping,
    *,
    usable_bytes: int,
    logical_block_bytes: int,
    file: Path | None = None,
    look: Callable[[], None] = lambda: None,
) -> dict[str, JsonValue]:
    """Map a trace onto a drive and write its file of records.

    Parameters
    ----------
    source, how
        The trace, and its mapping.
    file
        Output file; None: only count.
    look
        Called regularly; an exception from it ends the work.

    Returns
    -------
    dict
        ``source`` (file, format, lines, bad lines, devices), ``laid`` (outcome of the I/Os) and ``recording``
        (the native runner's facts of the file: digest, counts, bytes, duration, bounds).

    Raises
    ------
    UsageError
        The trace cannot be read as requested, or none of its I/Os can be replayed on this drive.
    HostError
        The trace cannot be read to its end, or space for the records is missing.
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
    """Yield a trace's I/Os in order of time.

    Raises
    ------
    UsageError
        Its times go back, and sorting was not requested.
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
            "sort its I/Os by time: --set order=sort",
            file=source.file,
            line=tally.first_backwards,
            count=tally.backwards,
        )


def _sorted(raw: Iterator[Array], scratch: Path) -> Iterator[Array]:
    """Yield all I/Os sorted by time, through a temporary file; I/Os of equal time keep their order."""
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
    """Raise UsageError, with the reasons, if no I/O of a trace can be replayed."""
    if target.stat().st_size > len(MAGIC):
        return
    if not mapper.laid.ios:
        chosen = f" of device {source.device}" if source.device else ""
        raise UsageError(
            f"{source.file} holds no I/O{chosen}",
            "see its content with ssdlab trace show FILE",
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
