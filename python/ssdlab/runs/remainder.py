"""What is left of a step that was cut short, and the sum of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ssdlab.methods.asking import derived_seed
from ssdlab.model.pattern import Sequential

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.model.workload import Workload
    from ssdlab.results.records import PartRecord


def remainder(workload: Workload, parts: Iterable[PartRecord]) -> Workload | None:
    """Return what is left to do of a one-stream workload after its parts; None if nothing is.

    The generator is keyed by the seed, so the rest of a random pattern draws from a seed of its own; a
    sequential one goes on at its cursor.
    """
    listed = list(parts)
    if not listed:
        return workload
    (stream,) = workload.streams
    done = {key: sum(int(str(part.done[key])) for part in listed) for key in ("bytes", "ios", "ns")}
    left = {
        "bytes": None if stream.stop.bytes is None else stream.stop.bytes - done["bytes"],
        "ios": None if stream.stop.ios is None else stream.stop.ios - done["ios"],
        "time_ns": None if stream.stop.time_ns is None else stream.stop.time_ns - done["ns"],
    }
    if any(value is not None and value <= 0 for value in left.values()):
        return None
    changes: dict[str, Any] = {"stop": stream.stop.model_copy(update=left)}
    if isinstance(stream.pattern, Sequential):
        start, length = stream.span.start, stream.span.length
        assert isinstance(start, int)  # the lab lays spans in bytes
        assert isinstance(length, int)
        cursor = start + done["bytes"] % length
        changes["pattern"] = Sequential(cursors=(cursor,))
    return workload.model_copy(
        update={
            "seed": derived_seed(workload.seed, len(listed)),
            "ramp_ns": 0,
            "streams": (stream.model_copy(update=changes),),
        }
    )


def totals(parts: Iterable[PartRecord], summary: dict[str, Any] | None) -> dict[str, JsonValue]:
    """Add up the segments of a continued step."""
    totals: dict[str, int] = {"bytes": 0, "ios": 0, "ns": 0}
    for part in parts:
        for key in totals:
            totals[key] += int(str(part.done[key]))
    if summary is not None:
        sides = [summary[side] for side in ("read", "write", "trim") if summary.get(side)]
        totals["bytes"] += sum(side["bytes"] for side in sides)
        totals["ios"] += sum(side["ios"] for side in sides)
        totals["ns"] += int(summary["elapsed_s"] * 1e9)
    return dict(totals)
