"""Records a mapped trace in the format of the native runner."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from ssdlab.formats.traces import reading
from ssdlab.formats.traces.reading import Source, Tally
from ssdlab.host.durable import library_errors
from ssdlab.lab.traces.mapping import CHUNK, RAW, TraceMapper, TraceMapping, chunks
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.void]

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
    usable_bytes, logical_block_bytes
        Of the drive.
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
        The trace cannot be read as requested, or nothing of it can be replayed on this drive.
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
            "sort its I/Os by time: --set order=sort",
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
