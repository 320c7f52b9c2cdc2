"""The conclusion of a replay: the figures of a storage-bench page, and what became of the trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from ssdlab.results.replay import Replayed, TraceLaid, TraceRecording, TraceResult, TraceSource
from ssdlab.results.schema import Scalar
from ssdlab.units import NS_PER_S

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.results.run_folder import Step

LABEL = "replay"
"""Of the step that replays."""


def replay_result(data: RunData, depth: int, notes: Sequence[str]) -> TraceResult:
    """Return the Result of the run's steps; `notes` are caveats of its own."""
    read = next(step for step in data.steps if step.verb == "trace")
    facts = read.result.facts
    done = _replayed(cast("Step", data.step(LABEL)))
    source = TraceSource.model_validate(facts["source"])
    laid = TraceLaid.model_validate(facts["laid"])
    return TraceResult(
        quick=data.quick,
        depth=depth,
        source=source,
        laid=laid,
        recording=TraceRecording.model_validate(facts["recording"]),
        done=done,
        caveats=(*notes, *_caveats(source, laid, done)),
        scalars=_scalars(done),
    )


def _replayed(step: Step) -> Replayed:
    summary = cast("dict[str, Any]", step.result.measurement)
    sides = {name: side for name in ("read", "write", "trim") if (side := summary.get(name))}
    sums = {key: sum(side[key] for side in sides.values()) for key in ("ios", "late", "dropped", "failed")}
    waited_ns = sum(side["service_ns"]["mean"] * side["ios"] for side in sides.values() if side["ios"])
    busy_s = summary["workers"]["busy_ns"] / NS_PER_S
    moved = {name: sides[name]["bytes"] if name in sides else 0 for name in ("read", "write")}
    power = summary.get("power") or {}
    return Replayed(
        ordinal=step.ordinal,
        seconds=summary["total_s"],
        busy_s=busy_s,
        **sums,
        read_bytes=moved["read"],
        write_bytes=moved["write"],
        mb_s=sum(moved.values()) / busy_s / 1e6 if busy_s else None,
        service_mean_ns=waited_ns / sums["ios"] if sums["ios"] else None,
        in_flight=summary["in_flight"],
        lateness_ns=summary["lateness_ns"],
        service_ns={name: side["service_ns"] for name, side in sides.items()},
        response_ns={name: side["response_ns"] for name, side in sides.items()},
        mean_w=power.get("mean_w"),
        energy_j=power.get("energy_j"),
    )


def _scalars(done: Replayed) -> tuple[Scalar, ...]:
    tails = (("read", "reads"), ("write", "writes"))
    found = [
        ("trace_mb_s", "data rate while busy", done.mb_s, "MB/s", "higher"),
        ("trace_service_ns", "mean service time", done.service_mean_ns, "ns", "lower"),
        *(
            (f"trace_{name}_p99_ns", f"p99 service time of {words}", service.get("p99"), "ns", "lower")
            for name, words in tails
            if (service := done.service_ns.get(name))
        ),
        ("trace_energy_j", "energy", done.energy_j, "J", "lower"),
    ]
    return tuple(
        Scalar.model_validate(dict(zip(("name", "label", "value", "unit", "better"), one, strict=True)))
        for one in found
        if one[2] is not None
    )


def _caveats(source: TraceSource, laid: TraceLaid, done: Replayed) -> Iterator[str]:
    if source.bad_lines:
        yield f"{source.bad_lines} lines could not be read and were skipped: {source.bad_text}"
    if source.lost:
        yield f"{source.lost} events were lost when the trace was recorded"
    for reason, count in laid.left_out.items():
        yield f"{count} I/Os were left out: {reason}"
    if source.backwards:
        yield f"the times of the trace went back {source.backwards} times; it was sorted"
    if laid.wrapped:
        yield (
            f"{laid.wrapped} I/Os beyond the drive's end were wrapped: their offset is the remainder by the "
            "drive's size, and what would then cross the end lies in front of it"
        )
    if done.dropped:
        yield f"{done.dropped} I/Os were dropped: they would have begun later than the backlog allows"
