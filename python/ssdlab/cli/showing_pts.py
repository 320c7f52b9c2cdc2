"""The results of SNIA PTS in a terminal.

Tests of rounds: the verdict on steady state, and the table of cells. Tests of one long load: its course.
Demand tests: steady state, the grid, and the three points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.write_saturation import REASONS
from ssdlab.cli.output import print_line, print_table
from ssdlab.model import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.methods.results.pts import (
        DemandCell,
        DemandPoint,
        DemandResult,
        PtsCell,
        PtsCrossStimulusResult,
        PtsIdleRecoveryResult,
        PtsRecords,
        PtsResult,
        PtsRounds,
        PtsSamples,
        PtsSaturationResult,
        PtsSeriesResult,
        TrackedVariable,
    )


_PARTS = 8
"""Lines that the course of a load is printed in."""


def print_pts(result: PtsResult) -> None:
    """Print the outcome of every group."""
    print_line()
    print_line(
        f"{result.specification}, {result.setting}: thread count {result.threads}, depth {result.depth}, "
        f"active range {result.active_range_pct} %, {units.significant(result.fills)} capacities written"
    )
    for group in result.groups:
        name = f"{group.group}: " if group.group else ""
        verdict = f"steady state in rounds {group.first} to {group.last}"
        if not group.steady:
            verdict = f"steady state NOT ACHIEVED in {group.rounds} rounds; of the last five"
        if group.reported != (group.first, group.last):
            verdict += f"; below, means of rounds {group.reported[0]} to {group.reported[1]}"
        print_line(f"{name}{verdict}", "bold")
        for each in group.tracked:
            if each.mean is None or each.range_share is None or each.rise_share is None:
                continue
            mean = units.latency_text(each.mean) if each.unit == "ns" else _rate(each.mean, each.unit)
            print_line(
                f"  {each.name}: {mean}, range {each.range_share:.2%} (at most 20 %), rise "
                f"{each.rise_share:.2%} (at most 10 %)"
            )
    named = {"iops": ("IOPS",), "throughput": ("throughput",), "latency": ("mean latency", "maximum")}
    for what in named[result.test]:
        print_line()
        _print_cells(result, what)


def _rate(value: float, unit: str) -> str:
    return units.throughput_text(value) if unit == "MB/s" else f"{units.count_text(value)} {unit}"


def _print_cells(result: PtsResult, what: str) -> None:
    every = [(group, cell) for group in result.groups for cell in group.cells]
    mixes = sorted({cell.read_pct for _, cell in every}, reverse=True)
    rows = []
    for size in sorted({cell.block_bytes for _, cell in every}):
        found = {cell.read_pct: (group, cell) for group, cell in every if cell.block_bytes == size}
        missing = next((cell.missing for _, cell in found.values() if cell.missing), None)
        if missing is not None:
            rows.append((units.block_text(size), f"not measured: {missing}", *("" for _ in mixes[1:])))
            continue
        cells = (_cell(what, *found[mix]) if mix in found else "" for mix in mixes)
        rows.append((units.block_text(size), *cells))
    heads = (what, *(f"{mix}/{100 - mix}" for mix in mixes))
    print_table(rows, heads, right=tuple(range(1, len(heads))))


def _cell(what: str, group: PtsRounds, cell: PtsCell) -> str:
    if what == "maximum":
        highest = group.max_of_window(cell.max_ns)
        return "-" if highest is None else units.latency_text(highest)
    values = {"IOPS": cell.iops, "throughput": cell.mb_s, "mean latency": cell.mean_ns}[what]
    mean = group.of_window(values)
    if mean is None:
        return "-"
    if what == "mean latency":
        return units.latency_text(mean)
    return units.count_text(mean) if what == "IOPS" else units.throughput_text(mean)


def print_saturation(result: PtsSaturationResult) -> None:
    """Print what ended the writing, its course, and the histogram that followed."""
    _print_head(result)
    records, until = result.records, result.ended
    why = "it was cut short" if result.reason is None else f"ended by {REASONS[result.reason]}"
    print_line(f"{result.stimulus}: {why} after {units.span_text(until * records.seconds)}", "bold")
    _print_samples(result.samples)
    print_line()
    _print_course(result, records, until)
    if result.histogram is None:
        return
    found = result.histogram
    tail = ", ".join(f"{name} % {_latency_or_none(ns)}" for name, ns in found.percentiles_ns.items())
    print_line()
    print_line(
        f"{units.span_text(found.seconds)} more without a pause: {units.count_text(found.iops)} IOPS, mean "
        f"{_latency_or_none(found.mean_ns)}, {tail}, maximum {_latency_or_none(found.max_ns)}"
    )


def print_idle_recovery(result: PtsIdleRecoveryResult) -> None:
    """Print what the bursts of each rest reach, against the baseline."""
    _print_head(result)
    print_line(f"baseline: {units.count_text(result.baseline_iops)} IOPS", "bold")
    _print_samples(result.samples)
    print_line()
    rows = [
        (
            units.span_text(wait.idle_s),
            units.count_text(wait.mean_iops),
            f"{wait.of_baseline:.1%}",
            _latency_or_none(wait.mean_ns),
            _latency_or_none(wait.max_ns),
            units.count_text(wait.back_iops),
        )
        for wait in result.waits
    ]
    heads = ("rests", "IOPS of the bursts", "of baseline", "mean", "maximum", "IOPS after them")
    print_table(rows, heads, right=range(1, len(heads)))


def print_cross_stimulus(result: PtsCrossStimulusResult) -> None:
    """Print the three loads, and when the third was as fast as the first."""
    _print_head(result)
    back = "not yet" if result.recovery_s is None else f"after {units.span_text(result.recovery_s)}"
    mean = units.throughput_text(result.groups[0].mean_mb_s)
    print_line(f"group 3 as fast as group 1 on average ({mean}): {back}", "bold")
    print_line()
    rows = [
        (
            str(number),
            group.name,
            units.span_text(group.records.ends_s()[-1]) if group.records.iops else "-",
            units.throughput_text(group.mean_mb_s),
            units.throughput_text(group.end_mb_s),
            _latency_or_none(group.peak_mean_ns),
            _latency_or_none(group.peak_max_ns),
        )
        for number, group in enumerate(result.groups, 1)
    ]
    heads = ("group", "load", "lasted", "mean", "at the end", "peak mean", "maximum")
    print_table(rows, heads, right=range(2, len(heads)))


def _print_head(result: PtsSeriesResult) -> None:
    print_line()
    print_line(
        f"{result.specification}, {result.setting}: {result.threads} threads of {result.depth} I/Os in "
        f"flight, active range {result.active_range_pct} %, {units.significant(result.fills)} capacities "
        "written"
    )


def _print_samples(samples: PtsSamples) -> None:
    found, count = samples.variable, len(samples.variable.values)
    if found.mean is None or found.range_share is None or found.rise_share is None:
        print_line(f"  {count} samples: too few to judge steady state")
        return
    verdict = "steady state" if samples.steady else "steady state NOT ACHIEVED"
    print_line(
        f"  {verdict}, samples {samples.first} to {samples.last} of {count}: "
        f"{units.count_text(found.mean)} IOPS, range {found.range_share:.2%} (at most 20 %), rise "
        f"{found.rise_share:.2%} (at most 10 %), by then {units.significant(samples.fills)} capacities"
    )


def _print_course(result: PtsSaturationResult, records: PtsRecords, until: int) -> None:
    totals = records.total_bytes()
    picked = sorted({round((at + 1) * until / _PARTS) - 1 for at in range(_PARTS)} - {-1})
    rows = [
        (
            units.span_text((at + 1) * records.seconds),
            units.significant(totals[at] / result.capacity_bytes),
            units.count_text(records.iops[at]),
            units.throughput_text(records.mb_s[at]),
            _latency_or_none(records.mean_ns[at]),
            _latency_or_none(records.five_nines_ns[at]),
            _latency_or_none(records.max_ns[at]),
        )
        for at in picked
    ]
    heads = ("time", "drive fills", "IOPS", "throughput", "mean", "99.999 %", "maximum")
    print_table(rows, heads, right=range(len(heads)))


def _latency_or_none(latency_ns: float | None) -> str:
    return "-" if latency_ns is None else units.latency_text(latency_ns)


def print_demand(result: DemandResult) -> None:
    """Print the outcome of a demand test."""
    print_line()
    print_line(
        f"{result.specification}, {result.setting}: R/W {result.read_pct}/{100 - result.read_pct}, active "
        f"range {result.active_range_pct} %, {units.significant(result.fills)} capacities written"
    )
    _print_steady(result)
    print_line()
    _print_grid(result, "IOPS", lambda cell: _iops(result.rounds.of_window(cell.iops)))
    print_line()
    _print_grid(result, "ART", lambda cell: _latency(result.rounds.of_window(cell.mean_ns)))
    print_line()
    rows = [_point(point) for point in result.points]
    heads = ("", "demand", "IOPS", "ART", "histogram IOPS", "ART", "99.9 %", "99.99 %", "99.999 %", "MRT")
    print_table(rows, heads, right=tuple(range(2, len(heads))))
    print_line()
    print_line(f"system CPU: {_cpu(result)}")


def _print_steady(result: DemandResult) -> None:
    samples, rounds = result.samples, result.rounds
    ended = f"NOT ACHIEVED in {len(samples.variable.values)} samples"
    if samples.steady:
        ended = f"steady state in samples {samples.first} to {samples.last}"
    print_line(f"preconditioning: {ended}{_judged(samples.variable)}", "bold")
    ended = f"NOT ACHIEVED in {rounds.rounds} rounds"
    if rounds.steady:
        ended = f"steady state in rounds {rounds.first} to {rounds.last}"
    print_line(f"rounds: {ended}{_judged(rounds.tracked[0])}", "bold")


def _judged(each: TrackedVariable) -> str:
    if each.mean is None or each.range_share is None or each.rise_share is None:
        return ""
    return (
        f"; {units.count_text(each.mean)} IOPS, range {each.range_share:.2%} (at most 20 %), rise "
        f"{each.rise_share:.2%} (at most 10 %)"
    )


def _print_grid(result: DemandResult, what: str, of: Callable[[DemandCell], str]) -> None:
    cells = {(cell.threads, cell.depth): cell for cell in result.cells}
    depths = sorted({depth for _, depth in cells})
    rows = [
        (f"TC{threads}", *(of(cells[threads, depth]) for depth in depths))
        for threads in sorted({threads for threads, _ in cells})
    ]
    heads = (what, *(f"QD{depth}" for depth in depths))
    print_table(rows, heads, right=tuple(range(1, len(heads))))


def _point(point: DemandPoint) -> tuple[str, ...]:
    found = point.histogram
    if point.missing is not None or found is None:
        return (point.name, "none", *("" for _ in range(8)))
    tails = (found.percentiles_ns.get(name) for name in ("99.9", "99.99", "99.999"))
    return (
        point.name,
        f"TC{point.threads} QD{point.depth}",
        _iops(point.window_iops),
        _latency(point.window_mean_ns),
        _iops(found.iops),
        *(_latency(each) for each in (found.mean_ns, *tails, found.max_ns)),
    )


def _cpu(result: DemandResult) -> str:
    if result.simulated:
        return "not applicable: the drive is simulated"
    known = [share for cell in result.cells for share in cell.cpu_busy_share if share is not None]
    if not known:
        return "unknown: the cells are too short to tell"
    return f"{min(known):.0%} to {max(known):.0%} of all CPUs busy in the cells"


def _iops(value: float | None) -> str:
    return "-" if value is None else units.count_text(value)


def _latency(value_ns: float | None) -> str:
    return "-" if value_ns is None else units.latency_text(value_ns)
