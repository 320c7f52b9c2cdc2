"""SNIA PTS, write saturation: IOPS over time, what was written and drive fills, and what ended it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from ssdlab.analysis.write_saturation import REASONS
from ssdlab.methods.results.pts import PtsSaturationResult
from ssdlab.model.units import span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Line, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.runs import with_result
from ssdlab.report.sections.pts_charts import (
    LEAD,
    RULE,
    Clock,
    Judged,
    dots,
    fills_text,
    histogram_figure,
    how,
    responses,
    scaled,
    window_table,
    window_view,
)
from ssdlab.report.sections.pts_header import section_of
from ssdlab.report.view import Buttons, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown

    Saturated = tuple[Shown, PtsSaturationResult]
    Places = Callable[[PtsSaturationResult], Sequence[float]]

ID = "pts-write-saturation"
_WRITTEN = Axis("total written (TGBW)", "capacity")
_FILLS = Axis("drive fills: written / user capacity", "plain")


def section(runs: Sequence[Shown]) -> Section:
    """Return the pages of the test."""
    kept = with_result(runs, PtsSaturationResult)
    return section_of(kept, finding, list(_pages(kept)))


def finding(shown: Shown, result: PtsSaturationResult) -> str:
    """Return what ended the test, and where the drive was then, as a sentence."""
    records, ended = result.records, result.ended
    if not ended:
        return f"{shown.label}, {result.stimulus}: cut short before the first record."
    why = "cut short" if result.reason is None else f"ended by {REASONS[result.reason]}"
    return (
        f"{shown.label}, {result.stimulus} by {result.setting} of {result.specification}: {why} after "
        f"{span_text(ended * records.seconds)} and {fills_text(_fills(result)[ended - 1])}; "
        f"{of_unit(records.iops[0], 'IOPS')} in the first record, {of_unit(records.iops[ended - 1], 'IOPS')} "
        "in the last."
    )


def _pages(kept: Sequence[Saturated]) -> Iterator[Figure]:
    finding_text = " ".join(finding(*one) for one in kept)
    measured = (how(kept[0][1], kept[0][1].records.seconds),)
    ringed = (
        "Ringed: the samples that steady state is judged by. Faint: the load that goes on for the histogram."
    )
    clock = _clock(kept)
    over: tuple[tuple[str, str, Axis, Places], ...] = (
        ("time", "IOPS over time", clock.axis, lambda result: clock.of(result.records.ends_s())),
        ("written", "IOPS over total written", _WRITTEN, lambda result: result.records.total_bytes()),
        ("fills", "IOPS over drive fills (normalised capacity)", _FILLS, _fills),
    )
    for name, title, axis, places in over:
        lines = [line for one in kept for line in _iops(*one, places(one[1]))]
        tables = (_ends(kept),) if name == "time" else (_course(kept),) if name == "fills" else ()
        yield scaled(
            f"{ID}-{name}",
            f"Write saturation: {title}",
            ringed,
            finding_text,
            axis,
            ("IOPS", "iops"),
            lines,
            measured=measured,
            tables=tables,
        )
    yield _response_times(kept, finding_text, measured)
    judged = _judged(kept)
    if judged:
        yield _window(judged)
    counted = [(shown, result.histogram) for shown, result in kept if result.histogram is not None]
    if counted:
        title = f"Write saturation: histogram of {kept[0][1].stimulus}"
        yield histogram_figure(f"{ID}-histogram", title, counted)


def _clock(kept: Sequence[Saturated]) -> Clock:
    return Clock.up_to(
        max((result.records.ends_s()[-1] for _, result in kept if result.records.iops), default=0.0)
    )


def _fills(result: PtsSaturationResult) -> list[float]:
    return [total / result.capacity_bytes for total in result.records.total_bytes()]


def _iops(shown: Shown, result: PtsSaturationResult, xs: Sequence[float]) -> list[Line]:
    """Return the load until its end, its samples ringed, and what follows faintly."""
    until, iops = result.ended, result.records.iops
    ringed = range(result.samples.at, until, result.samples.every)
    lines = [Line(shown.index, "", True, dots(xs[:until], iops[:until], ringed))]
    joined = max(0, until - 1)  # no gap between the two: there was none
    if until < len(iops):
        lines.append(Line(shown.index, "histogram", True, dots(xs[joined:], iops[joined:]), faint=True))
    return lines


def _response_times(kept: Sequence[Saturated], finding_text: str, measured: tuple[str, ...]) -> Figure:
    axis, clock = Axis("response time, log", "ns", "log"), _clock(kept)
    views = tuple(
        XyView(
            name,
            x,
            axis,
            tuple(line for one in kept for line in responses(one[0], one[1].records, places(one[1]))),
        )
        for name, x, places in (
            ("drive fills", _FILLS, _fills),
            ("time", clock.axis, lambda result: clock.of(result.records.ends_s())),
        )
    )
    return Figure(
        id=f"{ID}-response",
        title="Write saturation: response times (ART, 5 9s, MRT)",
        lead="Of each record: the mean, the time that 99.999 % of its I/Os keep, and the longest.",
        described=finding_text,
        chart=XyChart(views),
        tables=(),
        measured=(*measured, "Five nines are left out where fewer than 10 I/Os of a record lie beyond them."),
        buttons=(Buttons("view", "Over", tuple(window_view.label for window_view in views)),),
        wide=True,
    )


def _judged(kept: Sequence[Saturated]) -> list[Judged]:
    return [
        Judged(
            shown,
            result.samples.variable,
            result.samples.steady,
            result.samples.first,
            result.samples.last,
            "sample",
        )
        for shown, result in kept
        if result.samples.variable.mean is not None
    ]


def _window(judged: Sequence[Judged]) -> Figure:
    views = tuple(window_view(one, one.shown.label) for one in judged)
    return Figure(
        id=f"{ID}-window",
        title="Write saturation: window of samples",
        lead=LEAD,
        described="The last five samples, or the five that were steady.",
        chart=XyChart(views),
        tables=(window_table(judged),),
        measured=(RULE,),
        buttons=(Buttons("view", "Run", tuple(window_view.label for window_view in views)),)
        if len(views) > 1
        else (),
    )


def _ends(kept: Sequence[Saturated]) -> Table:
    head = ("Run", "Stimulus", "Ended by", "After", "Drive fills", "Samples", "Steady", "Fills of the window")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(result.stimulus),
            numbers.words("cut short" if result.reason is None else REASONS[result.reason]),
            numbers.seconds(result.ended * result.records.seconds),
            numbers.plain(_fills(result)[result.ended - 1] if result.ended else None),
            numbers.count(len(result.samples.variable.values)),
            numbers.words("yes" if result.samples.steady else "NOT ACHIEVED"),
            numbers.plain(result.samples.fills),
        )
        for shown, result in kept
    )
    return Table("Reason for the stop", head, rows)


def _course(kept: Sequence[Saturated]) -> Table:
    head = ("Run", "Drive fills", "Time", "IOPS", "MB/s", "ART", "5 9s", "MRT")
    rows = []
    for shown, result in kept:
        records, fills = result.records, _fills(result)
        for at in course(fills[: result.ended]):
            rows.append(
                (
                    numbers.of_run(shown.label, shown.index),
                    numbers.plain(fills[at]),
                    numbers.seconds((at + 1) * records.seconds),
                    numbers.iops(records.iops[at]),
                    numbers.throughput(records.mb_s[at]),
                    numbers.latency(records.mean_ns[at]),
                    numbers.latency(records.five_nines_ns[at]),
                    numbers.latency(records.max_ns[at]),
                )
            )
    return Table("Every half drive fill, and the last record", head, tuple(rows))


def course(fills: Sequence[float]) -> list[int]:
    """Return the first record of every half drive fill, and the last one."""
    halves = [int(2 * each) for each in fills]
    found = [at for at, (before, now) in enumerate(pairwise([0, *halves])) if now > before]
    return list(dict.fromkeys([*found, *range(len(fills))[-1:]]))
