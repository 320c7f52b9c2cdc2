"""Tests of rounds: the same cells are repeated until the tracked variables are steady.

A round is one pass over all cells in the specification's order. From the fifth round on, SNIA's rule judges
the last five rounds. All tracked variables must be steady in the same window.

If an interruption lets the drive's state change, the interrupted round is repeated, and counting starts
again. So no window has rounds from before and after an interruption (see `lab.group`). The module `window`
computes the results.

Source: SNIA SSS PTS 2.0.2, sections 2.1.13 (measurement window) and 2.1.24 (steady state).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import WINDOW, first_steady, forecast
from ssdlab.plugin import (
    NS_PER_S,
    Block,
    Mix,
    Sequential,
    StepGroup,
    StepGroupFacts,
    Stop,
    Stream,
    Summary,
    Uniform,
    Workload,
    block_text,
)

from .specification import LoopParams, PtsParams, engine_of

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, RunData, Step


Value = Callable[[Summary], float]
"""Function that takes the tracked figure from a step's journalled summary."""


def run_rounds(
    lab: Lab, p: LoopParams, cells: Sequence[Cell], tracked: Sequence[Tracked], *, group: str = ""
) -> list[Step]:
    """Run rounds until all tracked variables are steady at once, or to the maximum; return their steps."""
    done: list[Step] = []
    series: list[list[float]] = [[] for _ in tracked]
    cursors: dict[str, int] = {}
    number = cut = 0
    epoch: int | None = None
    with lab.on_interruption("re-precondition"):
        while True:
            done.append(lab.group(label=group_label(group, number)))
            before, epoch = epoch, epoch_of(done[-1])
            if number and epoch != before:
                series, cut = [[] for _ in tracked], number
            steady = not p.fixed_rounds and first_steady([each[-WINDOW:] for each in series]) is not None
            if steady or number - cut == p.most_rounds:
                break
            number += 1
            certain = number - cut <= WINDOW or p.fixed_rounds
            found = {}
            for cell in cells:
                workload = _from(cell.workload, cursors.get(cell.label))
                label = round_label(group, number, cell.label)
                found[cell.label] = step = lab.run(workload, label=label, certain=certain)
                done.append(step)
                cursors[cell.label] = _next_cursor(lab, step, cursors.get(cell.label, 0), cell.block_bytes)
            for values, variable in zip(series, tracked, strict=True):
                values += tracked_value(found[variable.cell], variable)
            lab.foresee(_outlook(series, tracked, p.most_rounds, cut))
    lab.foresee("")
    return done


def _outlook(
    series: Sequence[Sequence[float]], tracked: Sequence[Tracked], max_rounds: int, before: int
) -> str:
    """Return in words when steady state is likely; empty while there are too few rounds to tell.

    The `before` rounds preceded an interruption, and do not count.
    """
    expected = forecast(series, max_rounds)
    if expected is None:
        return ""
    if expected.round is None:
        return f"steady state is not likely by round {before + max_rounds}"
    several = expected.last is not None and len(tracked) > 1
    last = f", {tracked[expected.last or 0].name} last" if several else ""
    return f"steady state likely in round {before + expected.round}{last}"


def round_label(group: str, number: int, cell: str) -> str:
    return f"{group}{', ' if group else ''}round {number}, {cell}"


def group_label(group: str, number: int) -> str:
    """Return the label of the step between rounds, which ends a group and begins the next."""
    return f"{group}{', ' if group else ''}{f'after round {number}' if number else 'before round 1'}"


def epoch_of(step: Step) -> int | None:
    """Return the epoch in which a group of steps begins; None in a plan."""
    return step.found(StepGroupFacts).epoch


def epochs_of(data: RunData) -> dict[str, int | None]:
    """Return the epoch in which each group of steps begins, by the group's label."""
    return {step.label: epoch_of(step) for step in data.steps if step.verb == StepGroup.verb}


def cuts_of(data: RunData, group: str, rounds: int) -> tuple[int, ...]:
    """Return the first round after each interruption that let the drive's state change."""
    begun = epochs_of(data)
    epochs = [begun.get(group_label(group, number)) for number in range(rounds)]
    return tuple(at + 2 for at, (before, after) in enumerate(pairwise(epochs)) if before != after)


def tracked_value(step: Step, variable: Tracked) -> list[float]:
    """Return a step's tracked figure in a list, which is empty in a plan."""
    summary = step.summary
    return [] if summary is None else [variable.value(summary)]


def _from(workload: Workload, cursor: int | None) -> Workload:
    """Make a single sequential thread continue where its last step stopped, instead of at LBA 0."""
    (stream,) = workload.streams
    if cursor is None or not isinstance(stream.pattern, Sequential) or stream.workers > 1:
        return workload
    moved = stream.model_copy(update={"pattern": Sequential(cursors=(cursor,))})
    return workload.model_copy(update={"streams": (moved,)})


def _next_cursor(lab: Lab, step: Step, cursor: int, block_bytes: int) -> int:
    """Return the byte offset at which a sequential step stopped, wrapped at the end of the active range."""
    summary = step.summary
    moved = 0 if summary is None else summary.moved_bytes
    length = lab.usable_bytes // block_bytes * block_bytes
    return int(cursor + moved) % length if length else 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One access pattern of a round."""

    label: str
    read_pct: int
    block_bytes: int
    workload: Workload


@dataclass(frozen=True, slots=True)
class Tracked:
    """A variable that must be steady: one figure of one cell."""

    name: str
    unit: str
    cell: str
    value: Value


def access(
    read_pct: int,
    block_bytes: int,
    p: PtsParams,
    *,
    random: bool = True,
    shape: tuple[int, int] | None = None,
    seconds: float | None = None,
) -> Workload:
    """Return an access pattern's workload; threads, depth and seconds default to the parameters'."""
    threads, depth = shape or p.shape
    length_ns = round((p.seconds if seconds is None else seconds) * NS_PER_S)
    stream = Stream(
        ops=Mix(read_pct=read_pct),
        block=(Block(bytes=block_bytes),),
        pattern=Uniform() if random else Sequential(),
        workers=threads,
        depth=depth,
        engine=engine_of(depth),
        stop=Stop(time_ns=length_ns),
    )
    return Workload.of(stream, interval_ns=max(1_000_000, min(NS_PER_S, length_ns // 10)))


def needed(block_bytes: int, logical_block_bytes: int) -> str:
    """Return why the drive cannot do I/O of a block size; empty if it can."""
    if block_bytes % logical_block_bytes:
        return f"the drive's sectors are of {block_text(logical_block_bytes)}"
    return ""


def iops(summary: Summary) -> float:
    return float(summary.iops)


def mb_s(summary: Summary) -> float:
    return float(summary.mb_s)


def mean_ns(summary: Summary) -> float:
    """Return the mean response time over reads and writes, weighted by their I/Os."""
    sides = [side for side in summary.transfers if side.ios]
    done = sum(side.ios for side in sides)
    return sum(side.ios * side.response_mean_ns for side in sides) / done if done else 0.0
