"""Page of SNIA PTS write saturation: IOPS over time, bytes written, drive fills, and what ended the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ssdlab.plugin import Axis, Buttons, Figure, Line, Section, XyChart, XyView, leads, together, with_result

from .charts import (
    LEAD,
    NINES_NOTE,
    RULE,
    Clock,
    Judged,
    dots,
    histogram_figure,
    how,
    responses,
    scaled,
    unbroken,
    window_table,
    window_view,
)
from .header import section_of
from .result import PtsSaturationResult
from .series_findings import course_table, ends, fills_of, saturation_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

    Saturated = tuple[Shown, PtsSaturationResult]
    Places = Callable[[PtsSaturationResult], Sequence[float]]

ID = "pts-write-saturation"
_WRITTEN = Axis("total written (TGBW)", "capacity")
_FILLS = Axis("drive fills: written / user capacity", "plain")


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, PtsSaturationResult)
    return section_of(kept, saturation_findings, list(_pages(kept)))


def _pages(kept: Sequence[Saturated]) -> Iterator[Figure]:
    finding_text = " ".join(leads(kept, saturation_findings))
    measured = (how(kept[0][1], unbroken(kept[0][1].records.seconds)),)
    ringed = (
        "Ringed: the samples that steady state is judged by. Faint: the load continued for the histogram."
    )
    clock = _clock(kept)
    over: tuple[tuple[str, str, Axis, Places], ...] = (
        ("time", "IOPS over time", clock.axis, lambda result: clock.of(result.records.ends_s())),
        ("written", "IOPS over total written", _WRITTEN, lambda result: result.records.total_bytes()),
        ("fills", "IOPS over drive fills (normalised capacity)", _FILLS, fills_of),
    )
    for name, title, axis, places in over:
        lines = [line for one in kept for line in _iops(*one, places(one[1]))]
        tables = (
            (together(kept, ends),)
            if name == "time"
            else (together(kept, course_table),)
            if name == "fills"
            else ()
        )
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


def _iops(shown: Shown, result: PtsSaturationResult, xs: Sequence[float]) -> list[Line]:
    """Return the IOPS lines: the load with its samples ringed, then the histogram's writes, drawn faintly."""
    until, iops = result.ended, result.records.iops
    ringed = range(result.samples.at, until, result.samples.every)
    lines = [Line(shown.index, "", True, dots(xs[:until], iops[:until], ringed))]
    joined = max(0, until - 1)  # the lines meet, because the load had no pause
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
            ("drive fills", _FILLS, fills_of),
            ("time", clock.axis, lambda result: clock.of(result.records.ends_s())),
        )
    )
    return Figure(
        id=f"{ID}-response",
        title="Write saturation: response times (ART, 5 9s, MRT)",
        lead="Of each record: the mean, the 99.999th percentile, and the longest.",
        described=finding_text,
        chart=XyChart(views),
        tables=(),
        measured=(
            *measured,
            NINES_NOTE,
            "Count and bounds of the five nines are in the table.",
        ),
        buttons=(Buttons("view", "Over", tuple(window_view.label for window_view in views)),),
        wide=True,
    )


def _judged(kept: Sequence[Saturated]) -> list[Judged]:
    return [
        Judged(
            shown,
            result.samples.variable,
            result.samples.verdict,
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
