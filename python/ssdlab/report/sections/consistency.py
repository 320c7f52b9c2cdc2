"""Performance consistency: IOPS second by second, for each amount of spare area."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.report import numbers
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.sections import over_time
from ssdlab.report.view import Exhibit, Section
from ssdlab.results.outcome import ConsistencyResult
from ssdlab.units import span_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.outcome import ConsistencyEntry

Consistent = tuple["Shown", ConsistencyResult]


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of consistency; buttons choose the drive and the spare area, on the same axes."""
    kept = [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, ConsistencyResult)]
    many = len(kept) > 1
    watched = [
        over_time.Watched(shown, entry.ordinal, f"{shown.label}, {entry.name}" if many else entry.name)
        for shown, result in kept
        for entry in result.entries
    ]
    series = over_time.figure("consistency", watched, watched[0].button)
    return Section(
        id="consistency",
        title=runs[0].run.manifest.method.title,
        lead=tuple(_finding(shown, entry) for shown, result in kept for entry in result.entries),
        runs=tuple(shown.index for shown, _ in kept),
        figures=() if series is None else (series,),
        exhibits=(
            Exhibit(
                "Floor and spread",
                "The slowest second and per cent count more than the mean: an application waits for them.",
                (_table(kept),),
            ),
        ),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def _finding(shown: Shown, entry: ConsistencyEntry) -> str:
    last = next(part for part in entry.stretches if part.name == "last")
    steady = (
        "no steady state was found"
        if entry.steady_from_s is None
        else f"steady from {span_text(entry.steady_from_s)} on"
    )
    return (
        f"{shown.label}, {entry.name}: {of_unit(last.mean, 'IOPS')} at the end, never under "
        f"{of_unit(last.floor, 'IOPS')} in its slowest second; {steady}."
    )


def _table(kept: Sequence[Consistent]) -> Table:
    head = (
        "Run",
        "Spare",
        "Stretch",
        "From",
        "Seconds",
        "Floor",
        "1 %",
        "Mean",
        "Deviation",
        "Mean/deviation",
    )
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(entry.name),
            numbers.words(part.name),
            numbers.seconds(part.from_s),
            numbers.count(part.rows),
            numbers.iops(part.floor),
            numbers.iops(part.p1),
            numbers.iops(part.mean),
            numbers.iops(part.deviation),
            numbers.plain(part.evenness),
        )
        for shown, result in kept
        for entry in result.entries
        for part in entry.stretches
    )
    return Table("IOPS of the one-second rows", head, rows)
