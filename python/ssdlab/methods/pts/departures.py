"""Where a run departs from the specification: a list made from what was done, never from what was meant.

Every test of the specification names `pts_remarks` as its method's `remarks`; that is all it has to do::

    METHOD = Method(..., remarks=pts_remarks)

The list is then in the manifest, on the terminal, in `--json` and on every page. It holds what the steps
recorded (a purge left out or replaced by a discard, a write cache that is not as the setting asks) and, from
here: a drive that is none, an active range of another size or by a limit of the LBAs, sizes that the sectors
do not allow, another shape or engine, interruptions, and every parameter that is not as the specification
has it. So a parameter's default must be the specification's value; one that it leaves open is named in
`choices` of the parameters, and the shape that it recommends is `recommended`.

The warning of a steady state before the drive was full comes from the result's `windows`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from ssdlab.methods.pts.params import ACTIVE_RANGE_PCT, PtsParams
from ssdlab.methods.remarks import Remarks
from ssdlab.methods.results.pts import PtsBase
from ssdlab.model.units import block_text, capacity_text, significant
from ssdlab.model.warnings import judge_fills
from ssdlab.results.schema import Departure, Warned

if TYPE_CHECKING:
    from ssdlab.methods.remarks import RunFacts
    from ssdlab.results.schema import ParameterInfo

SECTOR_BYTES = 512
"""The smallest access of the tests."""


def pts_remarks(facts: RunFacts, p: PtsParams) -> Remarks:
    """Return the departures of a run, and the warnings about its steady state."""
    result = cast("PtsBase", facts.result)
    found = (
        *_of_drive(facts),
        *_of_range(facts, p),
        *_of_cells(facts, result),
        *_of_load(facts, p),
        *_of_parameters(p),
        *_of_interruptions(facts),
    )
    warned = [
        each for window in result.windows if window.steady for each in judge_fills(window.what, window.fills)
    ]
    return Remarks(found, tuple(Warned(code=w.code, what=w.what, advice=w.advice) for w in warned))


def _of_drive(facts: RunFacts) -> Iterator[Departure]:
    drive = facts.manifest.drive
    if drive.kind == "sim":
        yield Departure(
            code="simulated-drive",
            what="the drive is simulated: its purge, write cache and times are those of a model",
            why="the specification is of solid-state storage devices",
        )
    elif drive.kind == "file":
        yield Departure(
            code="file",
            what="a file was tested, not a drive: its file system is part of every figure",
            why="the specification tests a device by its LBAs",
        )
    elif drive.identity.get("kind") == "partition":
        yield Departure(
            code="partition",
            what="a partition was tested, not the whole drive",
            why="the user capacity is that of the drive",
        )


def _of_range(facts: RunFacts, p: PtsParams) -> Iterator[Departure]:
    asked = ACTIVE_RANGE_PCT[p.setting]
    if p.range_pct != asked:
        yield Departure(
            code="active-range",
            what=f"the active range is {p.range_pct} % of the user capacity; the setting has {asked} %",
            why="it was set so",
        )
    drive = facts.manifest.drive
    usable = None if drive.variant is None else drive.variant.usable
    if usable is not None:
        share = 100 * usable.length / drive.capacity_bytes
        yield Departure(
            code="active-range-limited",
            what=f"AR(0:{significant(share)}): the tests kept to {capacity_text(usable.length)} by limiting "
            "the LBAs, and the drive still reports its whole capacity",
            why="spare area by another reported capacity (HPA, namespace) would be another drive under test",
        )


def _of_cells(facts: RunFacts, result: PtsBase) -> Iterator[Departure]:
    sector_bytes = facts.data.logical_block_bytes
    if sector_bytes > SECTOR_BYTES:
        yield Departure(
            code="sector-size",
            what=f"the drive's sectors are of {block_text(sector_bytes)}: every access is aligned to that",
            why="the tests are written for sectors of 512 B",
        )
    if result.left_out:
        yield Departure(
            code="skipped-cells",
            what=f"not measured: {', '.join(result.left_out)}",
            why=result.left_out_why,
        )


def _of_load(facts: RunFacts, p: PtsParams) -> Iterator[Departure]:
    threads, depth = p.shape
    recommended = p.recommended
    if recommended is not None and (threads, depth) != recommended:
        yield Departure(
            code="shape",
            what=f"thread count {threads}, depth {depth}; recommended are {recommended[0]} and "
            f"{recommended[1]}",
            why="thread count and depth are the operator's, and have to be told",
        )
        if depth == 1 < recommended[1]:
            yield Departure(
                code="engine",
                what=f"the I/Os in flight are {threads} threads of one synchronous I/O each",
                why="the depth of a thread is meant to be asynchronous I/O",
            )
    if any(not stream.get("direct", True) for stream in _streams(facts)):
        yield Departure(
            code="buffered",
            what="I/O went through the page cache of the host",
            why="the drive's own write cache is under test, not the host's memory",
        )


def _of_parameters(p: PtsParams) -> Iterator[Departure]:
    for info in type(p).table():
        value = getattr(p, info.name)
        plain = list(value) if isinstance(value, tuple) else value
        if plain != info.default and info.name not in p.choices:
            yield Departure(
                code=f"parameter-{info.name}",
                what=f"{info.name.replace('_', ' ')}: {_said(plain, info)}, not {_said(info.default, info)}",
                why=info.reason,
            )


def _of_interruptions(facts: RunFacts) -> Iterator[Departure]:
    """Yield one of a run that was gone on with; a simulated drive goes back to where it was cut off."""
    times = len(facts.manifest.sessions) - 1
    if times < 1 or facts.manifest.drive.kind == "sim":
        return
    again = sorted({attempt.label for attempt in facts.voided})
    done = f"; done again: {', '.join(again)}" if again else ""
    yield Departure(
        code="interrupted",
        what=f"interrupted and gone on with {times} time{'' if times == 1 else 's'}{done}",
        why="the drive rested between steps, which the specification does not allow",
    )


def _streams(facts: RunFacts) -> Iterator[dict[str, Any]]:
    for step in facts.data.steps:
        workload = cast("dict[str, Any] | None", step.args.get("workload"))
        if workload is not None:
            yield from workload["streams"]


def _said(value: object, info: ParameterInfo) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = significant(value) if isinstance(value, float) else str(value)
    return f"{text} {info.unit}".rstrip()
