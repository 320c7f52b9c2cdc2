"""SNIA PTS, cross stimulus recovery: MB/s over time, both transitions, response times, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.methods.results.pts_series import PtsCrossStimulusResult
from ssdlab.model.units import span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.sections.pts_records import Clock, dots, how, scaled
from ssdlab.report.sections.pts_section import of_kind, section_of
from ssdlab.report.view import Buttons, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.charts import Quantity
    from ssdlab.report.runs import Shown

    Crossed = tuple[Shown, PtsCrossStimulusResult]

ID = "pts-cross-stimulus-recovery"
AROUND_S = 2 * 3600.0
"""Shown on each side of a transition at most: a third of the shortest load."""


def section(runs: Sequence[Shown]) -> Section:
    """Return the pages of the test."""
    kept = of_kind(runs, PtsCrossStimulusResult)
    return section_of(kept, finding, list(_pages(kept)))


def finding(shown: Shown, result: PtsCrossStimulusResult) -> str:
    """Return whether, and when, the drive was as fast as before, as a sentence."""
    first, between, last = result.groups
    if result.recovery_s is None:
        back = f"not back at that after {span_text(last.records.ends_s()[-1])}"
    else:
        back = f"back at that after {span_text(result.recovery_s)}"
    return (
        f"{shown.label}, {result.setting} of {result.specification}: {of_unit(first.mean_mb_s, 'MB/s')} of "
        f"{first.name} on average, then {of_unit(between.end_mb_s, 'MB/s')} at the end of {between.name}; "
        f"{back}."
    )


def _pages(kept: Sequence[Crossed]) -> Iterator[Figure]:
    said = " ".join(finding(*one) for one in kept)
    longest = max(sum(group.records.ends_s()[-1] for group in result.groups) for _, result in kept)
    clock = Clock.up_to(longest)
    measured = (how(kept[0][1], kept[0][1].groups[0].records.seconds),)
    rules = tuple(Rule(shown.index, result.groups[0].mean_mb_s, "") for shown, result in kept)
    yield scaled(
        f"{ID}-course",
        "Cross stimulus recovery: MB/s over time, all groups",
        "Three loads without pauses: sequential, random, sequential. Dotted: the mean of group 1.",
        said,
        clock.axis,
        ("MB/s (decimal)", "mb_s"),
        _lines(kept, "mb_s", clock),
        measured=measured,
        tables=(_table(kept),),
        rules=rules,
    )
    for number in (1, 2):
        yield _transition(kept, number, said, clock, measured)
    for column, name in (
        ("mean_ns", "average response time (ART)"),
        ("max_ns", "maximum response time (MRT)"),
    ):
        yield scaled(
            f"{ID}-{column.removesuffix('_ns')}",
            f"Cross stimulus recovery: {name}",
            "Of each record, over all three loads.",
            said,
            clock.axis,
            (name, "ns"),
            _lines(kept, column, clock),
            measured=measured,
        )


def _lines(
    kept: Sequence[Crossed], column: str, clock: Clock, within_s: tuple[float, float] | None = None
) -> list[Line]:
    """Return a column of all loads, one after the other; only what lies within some seconds."""
    found = []
    for shown, result in kept:
        begin_s = 0.0
        for number, group in enumerate(result.groups, 1):
            ends_s = [begin_s + each for each in group.records.ends_s()]
            every = dots(ends_s, getattr(group.records, column))
            shown_dots = tuple(
                Dot(dot.x / clock.unit_s, dot.y, quiet=True)
                for dot in every
                if within_s is None or within_s[0] <= dot.x <= within_s[1]
            )
            if shown_dots:
                found.append(
                    Line(shown.index, f"group {number}", True, shown_dots, faint=number == 2 or None)
                )
            begin_s = ends_s[-1] if ends_s else begin_s
    return found


def _transition(
    kept: Sequence[Crossed], number: int, said: str, clock: Clock, measured: tuple[str, ...]
) -> Figure:
    """Return what is around the end of a load: throughput, and both response times."""
    result = kept[0][1]
    at_s = sum(group.records.ends_s()[-1] for group in result.groups[:number])
    around_s = min(AROUND_S, min(group.records.ends_s()[-1] for group in result.groups) / 3)
    within_s = (at_s - around_s, at_s + around_s)
    x = replace(clock.axis, range=(within_s[0] / clock.unit_s, within_s[1] / clock.unit_s))
    named: tuple[tuple[str, str, Quantity], ...] = (
        ("mb_s", "MB/s (decimal)", "mb_s"),
        ("mean_ns", "ART, log", "ns"),
        ("max_ns", "MRT, log", "ns"),
    )
    views = tuple(
        XyView(
            title.removesuffix(", log").removesuffix(" (decimal)"),
            x,
            Axis(title, quantity, "log" if quantity == "ns" else "linear"),
            tuple(_lines(kept, column, clock, within_s)),
        )
        for column, title, quantity in named
    )
    before, after = result.groups[number - 1], result.groups[number]
    return Figure(
        id=f"{ID}-transition-{number}",
        title=f"Cross stimulus recovery: from {before.name} to {after.name}",
        lead=f"{span_text(around_s)} on each side of the change.",
        described=said,
        chart=XyChart(views),
        tables=(),
        measured=measured,
        buttons=(Buttons("view", "Figure", tuple(view.label for view in views)),),
        wide=True,
    )


def _table(kept: Sequence[Crossed]) -> Table:
    head = (
        "Run",
        "Group",
        "Stimulus",
        "Lasted",
        "Mean MB/s",
        "End MB/s",
        "Peak ART",
        "Peak MRT",
        "Recovered after",
    )
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.count(number),
            numbers.words(group.name),
            numbers.seconds(group.records.ends_s()[-1] if group.records.iops else None),
            numbers.throughput(group.mean_mb_s),
            numbers.throughput(group.end_mb_s),
            numbers.latency(group.peak_mean_ns),
            numbers.latency(group.peak_max_ns),
            _recovered(result) if number == len(result.groups) else numbers.words(""),
        )
        for shown, result in kept
        for number, group in enumerate(result.groups, 1)
    )
    return Table("Each group; recovered when a record reaches the mean of group 1", head, rows)


def _recovered(result: PtsCrossStimulusResult) -> numbers.Cell:
    return numbers.words("not yet") if result.recovery_s is None else numbers.seconds(result.recovery_s)
