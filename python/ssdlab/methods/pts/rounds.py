"""Tests of rounds: the same cells again and again, until what is tracked of them is steady.

A round is one pass over all cells in the written order. From the fifth round on the last five are judged by
SNIA's rule; all tracked variables have to be steady in the same window. An interruption that lets the drive's
state change ends that: the round that it fell into is done again, and rounds count anew from there, so that
no window holds rounds of both sides (`lab.stretch`). What is reported of a cell is its
mean over the rounds of the window that proves steady state; where none does, over the last five. The
conclusion is pure: every cell's values, the window that is judged, the header's lines and headline figures.

Source: SNIA SSS PTS 2.0.2, sections 2.1.13 (measurement window) and 2.1.24 (steady state).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ssdlab.analysis.forecast import forecast
from ssdlab.analysis.records import FIVE_NINES, merged
from ssdlab.analysis.steady_state import WINDOW, first_steady, judge_window
from ssdlab.methods.presented.pts import cut_claim, not_achieved
from ssdlab.methods.pts.specification import (
    SETTINGS,
    SPECIFICATION,
    LoopParams,
    PtsParams,
    RoundsParams,
    engine_of,
    fills_until,
    written_bytes,
)
from ssdlab.methods.results.pts import PtsCell, PtsResult, PtsRounds, Stimulus, TrackedVariable
from ssdlab.methods.verbs.purge import PurgeFacts
from ssdlab.methods.verbs.stretch import Stretch, StretchFacts
from ssdlab.model.pattern import Sequential, Uniform
from ssdlab.model.summary import Summary
from ssdlab.model.units import NS_PER_S, block_text, significant
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload
from ssdlab.results.claim import Claim, clauses
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab
    from ssdlab.methods.method import RunData
    from ssdlab.results.run_folder import Step


Value = Callable[[Summary], float]
"""What is tracked of a cell: a figure of its journalled summary."""
Test = Literal["iops", "throughput", "latency"]
PATTERN = {"iops": "RND", "throughput": "SEQ", "latency": "RND"}


def run_rounds(
    lab: Lab, p: LoopParams, cells: Sequence[Cell], tracked: Sequence[Tracked], *, group: str = ""
) -> list[Step]:
    """Do rounds until all tracked variables are steady at once, or the most are done; returns their steps."""
    done: list[Step] = []
    series: list[list[float]] = [[] for _ in tracked]
    cursors: dict[str, int] = {}
    number = cut = 0
    sitting: int | None = None
    with lab.on_interruption("re-precondition"):
        while True:
            done.append(lab.stretch(label=stretch_label(group, number)))
            before, sitting = sitting, sitting_of(done[-1])
            if number and sitting != before:
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
    """Say in which round steady state is likely; nothing while too few rounds are done.

    `before` rounds were done before an interruption, and do not count.
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
    """Return the label of a cell's step in a round."""
    return f"{group}{', ' if group else ''}round {number}, {cell}"


def stretch_label(group: str, number: int) -> str:
    """Return the label of the step after a round, where one thing ends and another may begin."""
    return f"{group}{', ' if group else ''}{f'after round {number}' if number else 'before round 1'}"


def sitting_of(step: Step) -> int | None:
    """Return in which sitting a stretch begins; None in a plan."""
    return step.found(StretchFacts).sitting


def sittings_of(data: RunData) -> dict[str, int | None]:
    """Return in which sitting each stretch of a run begins, by its label."""
    return {step.label: sitting_of(step) for step in data.steps if step.verb == Stretch.verb}


def cuts_of(data: RunData, group: str, rounds: int) -> tuple[int, ...]:
    """Return the rounds that were the first after an interruption which let the drive's state change."""
    begun = sittings_of(data)
    sittings = [begun.get(stretch_label(group, number)) for number in range(rounds)]
    return tuple(at + 2 for at, (before, after) in enumerate(pairwise(sittings)) if before != after)


def tracked_value(step: Step, variable: Tracked) -> list[float]:
    """Return the tracked figure of a step; none of a planned one."""
    summary = step.summary
    return [] if summary is None else [variable.value(summary)]


def _from(workload: Workload, cursor: int | None) -> Workload:
    """Let sequential I/O of one thread go on where it stopped; a minute must not begin at LBA 0 again."""
    (stream,) = workload.streams
    if cursor is None or not isinstance(stream.pattern, Sequential) or stream.workers > 1:
        return workload
    moved = stream.model_copy(update={"pattern": Sequential(cursors=(cursor,))})
    return workload.model_copy(update={"streams": (moved,)})


def _next_cursor(lab: Lab, step: Step, cursor: int, block_bytes: int) -> int:
    """Return where a sequential step stopped; it wraps at the end of the part in use."""
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
    """A variable that has to be steady: a figure of one cell."""

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
    """Return one access pattern, by default at threads and depth of the setting for the time of a cell."""
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


def cell_label(read_pct: int, block_bytes: int) -> str:
    """Return a cell's name as the specification writes it: R/W mix and block."""
    return f"{read_pct}/{100 - read_pct} {block_text(block_bytes)}"


def needed(block_bytes: int, logical_block_bytes: int) -> str:
    """Return why a block cannot be asked of the drive; empty if it can."""
    if block_bytes % logical_block_bytes:
        return f"the drive's sectors are of {block_text(logical_block_bytes)}"
    return ""


def iops(summary: Summary) -> float:
    """Return reads and writes together, a second."""
    return float(summary.iops)


def mb_s(summary: Summary) -> float:
    """Return the throughput of both directions, decimal."""
    return float(summary.mb_s)


def mean_ns(summary: Summary) -> float:
    """Return the mean response time of both directions, weighted by their I/Os."""
    sides = [side for side in summary.transfers if side.ios]
    done = sum(side.ios for side in sides)
    return sum(side.ios * side.response_mean_ns for side in sides) / done if done else 0.0


def worst(summary: Summary, key: str) -> float | None:
    """Return a percentile or the maximum of the slower direction; None where too few I/Os were done."""
    sides = [side for side in summary.transfers if side.ios]
    found = [value for side in sides if (value := side.response_ns.get(key)) is not None]
    return max(found, default=None)


def collect(
    data: RunData,
    cells: Sequence[Cell],
    tracked: Sequence[Tracked],
    missing: Sequence[PtsCell],
    *,
    group: str,
    reported: Literal["window", "four-after"] = "window",
    tails: bool = False,
) -> PtsRounds:
    """Put the rounds of a group together: every cell's values, and the window that is judged.

    With `tails` the five nines of mixed cells are those of the merged histogram of reads and writes; without,
    for which no histogram has to be read, those of the slower direction.
    """
    rounds = 0
    while data.step(round_label(group, rounds + 1, cells[-1].label)) is not None:
        rounds += 1
    steps = {cell.label: _steps(data, group, cell, rounds) for cell in cells}
    variables = [_followed(each, steps[each.cell]) for each in tracked]
    cuts = cuts_of(data, group, rounds)
    begins = cuts[-1] - 1 if cuts else 0
    first = first_steady([each.values[begins:] for each in variables])
    at = max(begins, rounds - WINDOW) if first is None else begins + first
    last = min(rounds, at + WINDOW)
    return PtsRounds(
        group=group,
        rounds=rounds,
        cuts=cuts,
        steady=first is not None,
        first=at + 1,
        last=last,
        reported=(at + 1, last) if reported == "window" else _four_after(last, rounds),
        fills=fills_until(data, max(steps[cell.label][last - 1].ordinal for cell in cells)),
        tracked=tuple(judged(each, at) for each in variables),
        cells=(*(_cell(data, cell, steps[cell.label], tails=tails) for cell in cells), *missing),
    )


def _steps(data: RunData, group: str, cell: Cell, rounds: int) -> list[Step]:
    """Return a cell's steps, round by round."""
    found = (data.step(round_label(group, number, cell.label)) for number in range(1, rounds + 1))
    return [step for step in found if step is not None]


def _followed(variable: Tracked, steps: Sequence[Step]) -> TrackedVariable:
    """Return a tracked variable with its value of each round."""
    values = tuple(value for step in steps for value in tracked_value(step, variable))
    return TrackedVariable(name=variable.name, unit=variable.unit, values=values)


def _four_after(last: int, rounds: int) -> tuple[int, int]:
    """Return the first and the last of the four rounds after a window, or of the last four there are."""
    return (last + 1, last + 4) if last + 4 <= rounds else (max(1, rounds - 3), rounds)


def judged(variable: TrackedVariable, first: int) -> TrackedVariable:
    """Add what the rule finds in the window that begins at that position, from 0."""
    values = variable.values[first : first + WINDOW]
    if len(values) < WINDOW:
        return variable
    found = judge_window(values, first)
    return variable.model_copy(
        update={
            "mean": found.mean,
            "range_share": found.range_share,
            "rise_share": found.rise_share,
            "slope": found.slope,
            "intercept": found.intercept,
            "correlation": found.correlation,
        }
    )


def _cell(data: RunData, cell: Cell, steps: Sequence[Step], *, tails: bool) -> PtsCell:
    summaries = [step.measured for step in steps]
    return PtsCell(
        read_pct=cell.read_pct,
        block_bytes=cell.block_bytes,
        ordinals=tuple(step.ordinal for step in steps),
        iops=tuple(iops(each) for each in summaries),
        mb_s=tuple(mb_s(each) for each in summaries),
        mean_ns=tuple(mean_ns(each) for each in summaries),
        five_nines_ns=tuple(_five_nines(data, step) for step in steps)
        if tails and 0 < cell.read_pct < 100
        else tuple(worst(each, "p99.999") for each in summaries),
        max_ns=tuple(worst(each, "max") for each in summaries),
        written_bytes=tuple(each.written_bytes for each in summaries),
    )


def _five_nines(data: RunData, step: Step) -> float | None:
    """Return the 99.999 % response time of reads and writes together."""
    buckets = data.buckets(step)
    return merged(buckets, buckets["clock"] == "response").percentile(FIVE_NINES)


Group = tuple[str, Sequence[Cell], Sequence[Tracked], Sequence[PtsCell]]
"""A group's name, cells in the written order, tracked variables, and cells that cannot be measured."""


def conclude_rounds(
    data: RunData,
    p: RoundsParams,
    test: Test,
    groups: Sequence[Group],
    *,
    shape: tuple[int, int] | None = None,
) -> PtsResult:
    """Return the result of a test of rounds; `shape` is that of its cells, where not the parameters'."""
    found = tuple(
        collect(data, cells, tracked, missing, group=group, reported=p.reported, tails=test == "latency")
        for group, cells, tracked, missing in groups
    )
    threads, depth = shape or p.shape
    missing = [cell for group in found for cell in group.cells if cell.missing]
    return PtsResult(
        quick=data.quick,
        test=test,
        specification=SPECIFICATION,
        setting=SETTINGS[p.setting],
        threads=threads,
        depth=depth,
        active_range_pct=p.range_pct,
        seconds=p.seconds,
        groups=found,
        purged=was_purged(data),
        fills=written_bytes(data.steps) / data.capacity_bytes,
        preconditioning=tuple(_preconditioning(p, found, (threads, depth))),
        stimuli=tuple(_stimulus(p, test, each, (threads, depth)) for each in found),
        left_out=tuple(dict.fromkeys(block_text(cell.block_bytes) for cell in missing)),
        left_out_why=next((cell.missing or "" for cell in missing), ""),
        caveats=clauses(_caveats(found)),
        scalars=tuple(_scalars(test, found)),
    )


def was_purged(data: RunData) -> bool:
    """Return whether the drive was, by anything that counts as one."""
    return any(step.verb == "purge" and step.found(PurgeFacts).purged for step in data.steps)


def rounds_text(rounds: PtsRounds) -> str:
    """Return the verdict on steady state as the header of a page gives it."""
    if rounds.reported != (rounds.first, rounds.last):
        verdict = f"steady in {rounds.first} to {rounds.last}" if rounds.steady else "NOT ACHIEVED"
        return f"{verdict}; mean of rounds {rounds.reported[0]} to {rounds.reported[1]} of {rounds.rounds}"
    if rounds.steady:
        return f"steady state in rounds {rounds.first} to {rounds.last}"
    return f"NOT ACHIEVED in {rounds.rounds} rounds; rounds {rounds.first} to {rounds.last}"


def _preconditioning(
    p: RoundsParams, groups: Sequence[PtsRounds], shape: tuple[int, int]
) -> Iterator[Stimulus]:
    for group in groups:
        threads, depth = p.shape
        block = group.group or "128 KiB"
        if p.overwrites > 0:
            lasted = f"{significant(p.overwrites)} x {p.overwrites_of.replace('-', ' ')}"
            what = f"SEQ {block} write"
            yield Stimulus(group=group.group, what=what, threads=threads, depth=depth, lasted=lasted)
        yield Stimulus(
            group=group.group,
            dependent=True,
            what="the test's own loop",
            threads=shape[0],
            depth=shape[1],
            outcome=rounds_text(group),
        )


def _stimulus(p: RoundsParams, test: Test, group: PtsRounds, shape: tuple[int, int]) -> Stimulus:
    mixes = dict.fromkeys(f"{cell.read_pct}/{100 - cell.read_pct}" for cell in group.cells)
    blocks = dict.fromkeys(block_text(cell.block_bytes) for cell in group.cells)
    return Stimulus(
        group=group.group,
        what=f"{PATTERN[test]}, R/W {', '.join(mixes)} (outer) x {', '.join(blocks)} (inner)",
        threads=shape[0],
        depth=shape[1],
        lasted=f"{significant(p.seconds)} s a cell, {group.rounds} rounds",
        outcome=rounds_text(group),
    )


def _caveats(groups: Sequence[PtsRounds]) -> Iterator[Claim]:
    for group in groups:
        if not group.steady:
            yield not_achieved(group)
        if group.cuts:
            yield cut_claim(group)


def _scalars(test: Test, groups: Sequence[PtsRounds]) -> Iterator[Scalar]:
    """Yield what was tracked, as headline figures: the mean over the reported rounds."""
    for group in groups:
        for each in group.tracked:
            key = each.name.replace("/", "_").replace(" ", "_").lower()
            mean = group.of_window(each.values)
            value = mean if mean is None or test != "latency" else mean / 1000
            yield Scalar(
                name=f"pts_{test}_{key}",
                label=f"{each.name}{'' if group.steady else ' (not steady)'}",
                value=value,
                unit="µs" if test == "latency" else each.unit,
                better="lower" if test == "latency" else "higher",
            )
