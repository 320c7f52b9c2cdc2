"""Results of tests of rounds: each cell's values, and the window that is judged and reported.

A cell reports its mean over the rounds of the window that proves steady state. Without such a window, it
reports the last five rounds. In an interrupted run, only the rounds after the last interruption are judged.

Source: SNIA SSS PTS 2.0.2, sections 2.1.13 (measurement window) and 2.1.24 (steady state).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Literal

import numpy as np

from ssdlab.analysis.records import FIVE_NINES, merged
from ssdlab.analysis.steady_state import MIN_CAPACITIES, WINDOW, first_lasting, judge_window
from ssdlab.plugin import (
    Metric,
    PurgeFacts,
    block_text,
    counted,
    doubts,
    ends_text,
    evidence_of,
    numbered_text,
    significant,
    unprepared,
    why_faulty,
)

from .findings import Window, failed_text, rounds_since_cut
from .result import FiveNines, PtsCell, PtsResult, PtsRounds, Stimulus, TrackedVariable, cell_label
from .rounds import Cell, Tracked, cuts_of, iops, mb_s, mean_ns, round_label, tracked_value
from .specification import KIB, SETTINGS, RoundsParams, written_until

if TYPE_CHECKING:
    from ssdlab.plugin import Qualifier, RunData, Step


Test = Literal["iops", "throughput", "latency"]
PATTERN = {"iops": "RND", "throughput": "SEQ", "latency": "RND"}
_UNITS: dict[Test, str] = {"iops": "IOPS", "throughput": "MB/s", "latency": "µs"}
_MIXES: dict[Test, tuple[int, ...]] = {"iops": (100, 50, 0), "latency": (65,)}
"""Read shares of the 4 KiB cells that reviews print in addition to the tracked cells."""


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
    """Collect the rounds of a group of cells: each cell's values, and the window that is judged.

    With `tails`, each cell also gets the 99.999 % response time of its I/Os in all reported rounds, reads and
    writes together.
    """
    rounds = 0
    while data.step(round_label(group, rounds + 1, cells[-1].label)) is not None:
        rounds += 1
    steps = {cell.label: _steps(data, group, cell, rounds) for cell in cells}
    variables = [_followed(each, steps[each.cell]) for each in tracked]
    cuts = cuts_of(data, group, rounds)
    begins = cuts[-1] - 1 if cuts else 0
    first = first_lasting([each.values[begins:] for each in variables])
    at = max(begins, rounds - WINDOW) if first is None else begins + first
    last = min(rounds, at + WINDOW)
    reported_rounds = (at + 1, last) if reported == "window" else _four_after(last, rounds)
    ends = max(steps[cell.label][last - 1].ordinal for cell in cells)
    fills = written_until(data, ends) / data.capacity_bytes
    window = [step for each in tracked for step in steps[each.cell][at:last]]
    failed = why_faulty(window) or unprepared(data.steps, ends)
    doubted = doubts((each.ordinal for each in window), host=_by_the_host(window), failed=failed)
    return PtsRounds(
        group=group,
        rounds=rounds,
        cuts=cuts,
        steady=first is not None and fills >= MIN_CAPACITIES and not doubted,
        doubts=doubted,
        first=at + 1,
        last=last,
        reported=reported_rounds,
        fills=fills,
        tracked=tuple(judged(each, at) for each in variables),
        cells=(
            *(_cell(data, cell, steps[cell.label], reported_rounds if tails else None) for cell in cells),
            *missing,
        ),
    )


def _by_the_host(steps: Sequence[Step]) -> str:
    """Return in how many steps of a window the host was the limit, and why; empty if in none."""
    found = [(step, why) for step in steps if (why := evidence_of(step).not_the_drive())]
    if not found:
        return ""
    step, why = found[0]
    return f"in {len(found)} of {len(steps)} tracked steps, first {step.label}: {why}"


def _steps(data: RunData, group: str, cell: Cell, rounds: int) -> list[Step]:
    found = (data.step(round_label(group, number, cell.label)) for number in range(1, rounds + 1))
    return [step for step in found if step is not None]


def _followed(variable: Tracked, steps: Sequence[Step]) -> TrackedVariable:
    values = tuple(value for step in steps for value in tracked_value(step, variable))
    return TrackedVariable(name=variable.name, unit=variable.unit, values=values)


def _four_after(last: int, rounds: int) -> tuple[int, int]:
    """Return the first and last of the four rounds after a window; if they are missing, the last four."""
    return (last + 1, last + 4) if last + 4 <= rounds else (max(1, rounds - 3), rounds)


def judged(variable: TrackedVariable, first: int) -> TrackedVariable:
    """Return the variable with the steady-state rule applied to the window from index `first` on.

    A window with too few values leaves the variable unchanged.
    """
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


def _cell(data: RunData, cell: Cell, steps: Sequence[Step], pooled: tuple[int, int] | None) -> PtsCell:
    summaries = [step.measured for step in steps]
    return PtsCell(
        read_pct=cell.read_pct,
        block_bytes=cell.block_bytes,
        ordinals=tuple(step.ordinal for step in steps),
        iops=tuple(iops(each) for each in summaries),
        mb_s=tuple(mb_s(each) for each in summaries),
        mean_ns=tuple(mean_ns(each) for each in summaries),
        five_nines_ns=tuple(each.slower("p99.999") for each in summaries),
        pooled=None if pooled is None else _five_nines(data, steps[pooled[0] - 1 : pooled[1]]),
        max_ns=tuple(each.slower("max") for each in summaries),
        written_bytes=tuple(each.written_bytes for each in summaries),
    )


def _five_nines(data: RunData, steps: Sequence[Step]) -> FiveNines | None:
    """Return the 99.999 % response time over all I/Os of some steps, reads and writes together."""
    parts = [data.buckets(step) for step in steps]
    buckets = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    longest = max((value for step in steps if (value := step.measured.slower("max"))), default=inf)
    found = merged(buckets, buckets["clock"] == "response", longest).estimate(FIVE_NINES)
    if found is None:
        return None
    return FiveNines(value_ns=found.value_ns, ios=found.samples, low_ns=found.low_ns, high_ns=found.high_ns)


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
    """Return the result of a test of rounds.

    `shape` is the threads and depth of the cells, if they differ from those of the parameters.
    """
    found = tuple(
        collect(data, cells, tracked, missing, group=group, reported=p.reported, tails=test == "latency")
        for group, cells, tracked, missing in groups
    )
    threads, depth = shape or p.shape
    missing = [cell for group in found for cell in group.cells if cell.missing]
    return PtsResult(
        quick=data.quick,
        test=test,
        specification=p.source,
        setting=SETTINGS[p.setting],
        threads=threads,
        depth=depth,
        active_range_pct=p.range_pct,
        active_range_bytes=p.range_bytes(data.capacity_bytes),
        open_points=p.open_points,
        seconds=p.seconds,
        groups=found,
        purged=was_purged(data),
        fills=data.written_bytes / data.capacity_bytes,
        preconditioning=tuple(_preconditioning(p, found, (threads, depth))),
        stimuli=tuple(_stimulus(p, test, each, (threads, depth)) for each in found),
        left_out=tuple(dict.fromkeys(block_text(cell.block_bytes) for cell in missing)),
        left_out_why=next((cell.missing or "" for cell in missing), ""),
        scalars=tuple(_scalars(test, found)),
    )


def was_purged(data: RunData) -> bool:
    """Return whether the drive was purged, by any method that counts as a purge."""
    return any(step.verb == "purge" and step.found(PurgeFacts).purged for step in data.steps)


def rounds_text(rounds: PtsRounds) -> str:
    """Return the verdict on steady state, as printed in the header of a page."""
    failed = failed_text(Window.each_of(rounds), rounds)
    if not rounds.reports_window:
        verdict = (
            f"steady in {ends_text(str(rounds.first), str(rounds.last))}"
            if rounds.steady
            else f"{rounds.verdict}{failed}"
        )
        return f"{verdict}; mean of {numbered_text('round', *rounds.reported)} of {rounds.rounds}"
    window = numbered_text("round", rounds.first, rounds.last)
    if rounds.steady:
        return f"steady state in {window}"
    return f"{rounds.verdict} in {rounds_since_cut(rounds)}{failed or f'; {window}'}"


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
        lasted=f"{significant(p.seconds)} s a cell, {counted(group.rounds, 'round')}",
        outcome=rounds_text(group),
    )


def _scalars(test: Test, groups: Sequence[PtsRounds]) -> Iterator[Metric]:
    """Yield the headline figures: the tracked variables, and the 4 KiB cells that reviews print.

    Each is the mean over the reported rounds. A latency cell of reads and writes also has its maximum.
    """
    for group in groups:
        own = {cell.name: cell for cell in group.cells}
        unproven = group.unproven(own[each.name].ordinals for each in group.tracked)
        for name, values in _headline_cells(test, group, own):
            yield _scalar(test, group, own[name], values, unproven)
            longest = own[name].max_ns
            if test == "latency" and 0 < own[name].read_pct < 100 and None not in longest:
                yield _scalar(test, group, own[name], longest, unproven, greatest=True)


def _headline_cells(
    test: Test, group: PtsRounds, own: Mapping[str, PtsCell]
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield the cells with headline figures, each with its values by round in the tracked unit."""
    tracked = {each.name: each.values for each in group.tracked}
    yield from tracked.items()
    for mix in _MIXES.get(test, ()):
        cell = own.get(cell_label(mix, 4 * KIB))
        if cell is not None and cell.name not in tracked:
            yield cell.name, cell.iops if test == "iops" else cell.mean_ns


def _scalar(
    test: Test,
    group: PtsRounds,
    cell: PtsCell,
    values: Sequence[float | None],
    unproven: Sequence[Qualifier],
    *,
    greatest: bool = False,
) -> Metric:
    """Return the mean or maximum of a cell over the reported rounds; latencies are in µs."""
    rounds = tuple(each or 0.0 for each in values)
    found = group.max_of_window(rounds) if greatest else group.of_window(rounds)
    value = found if found is None or test != "latency" else found / 1000
    key = cell.name.replace("/", "_").replace(" ", "_").lower()
    return Metric(
        name=f"pts_{test}_{key}{'_max' if greatest else ''}",
        label=f"{cell.name}{', maximum' if greatest else ''}",
        value=value,
        unit=_UNITS[test],
        better="lower" if test == "latency" else "higher",
        steps=group.reported_of(cell.ordinals),
        varies=group.range_of(value, rounds),
        qualifiers=tuple(unproven),
    )
