"""The results of SNIA's tests of one long load in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.write_saturation import REASONS
from ssdlab.cli.output import print_line, print_table
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.methods.results.pts_series import (
        PtsCrossStimulusResult,
        PtsIdleRecoveryResult,
        PtsRecords,
        PtsSamples,
        PtsSaturationResult,
        PtsSeriesResult,
    )

_PARTS = 8
"""Lines that the course of a load is told in."""


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
    tail = ", ".join(f"{name} % {_latency(ns)}" for name, ns in found.percentiles_ns.items())
    print_line()
    print_line(
        f"{units.span_text(found.seconds)} more without a pause: {units.count_text(found.iops)} IOPS, mean "
        f"{_latency(found.mean_ns)}, {tail}, maximum {_latency(found.max_ns)}"
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
            _latency(wait.mean_ns),
            _latency(wait.max_ns),
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
            _latency(group.peak_mean_ns),
            _latency(group.peak_max_ns),
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
            _latency(records.mean_ns[at]),
            _latency(records.five_nines_ns[at]),
            _latency(records.max_ns[at]),
        )
        for at in picked
    ]
    heads = ("time", "drive fills", "IOPS", "throughput", "mean", "99.999 %", "maximum")
    print_table(rows, heads, right=range(len(heads)))


def _latency(latency_ns: float | None) -> str:
    return "-" if latency_ns is None else units.latency_text(latency_ns)
