"""The workload that replays a recording."""

from __future__ import annotations

from typing import Any

from ssdlab.model.arrival import AsRecorded, Closed
from ssdlab.model.pattern import Recording
from ssdlab.model.workload import Block, RecordedOps, Stop, Stream, Workload, row_ns


def replay_of(facts: Any, depth: int, arrival: AsRecorded | Closed) -> Workload:  # noqa: ANN401 - as in a step
    """Return the workload of the recording that the facts of a `trace` step tell of.

    Parameters
    ----------
    facts
        Of the step: its file and what is in it.
    depth
        I/Os in flight at most.
    arrival
        As timed, or one behind the other.
    """
    found = facts["recording"]
    ops = RecordedOps(**{name: found[name] for name in ("reads", "writes", "trims")})
    sizes = dict.fromkeys((found["unit_bytes"], found["longest_bytes"]))
    stream = Stream(
        ops=ops,
        block=tuple(Block(bytes=size) for size in sizes),
        pattern=Recording(
            file=facts["file"],
            digest=found["digest"],
            duration_ns=found["duration_ns"],
            moved_bytes=found["read_bytes"] + found["write_bytes"],
            written_bytes=found["write_bytes"],
        ),
        depth=depth,
        engine="uring",
        arrival=arrival,
        stop=Stop(ios=ops.reads + ops.writes + ops.trims),
    )
    return Workload.of(stream, interval_ns=row_ns(found["duration_ns"]))
