"""A queue-depth sweep: the whole curve, the reported point, its latency, and who set the limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Dot,
    Line,
    Quantity,
    Rule,
    XyChart,
    XyView,
)
from ssdlab.report.numbers import of_unit
from ssdlab.report.sections import over_time, percentiles, point_tables
from ssdlab.report.still import sweep_still
from ssdlab.report.view import Buttons, Figure, Section
from ssdlab.results.schema import PeakResult
from ssdlab.units import block_text, latency_text, significant, span_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.numbers import Table
    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Point

    Tables = tuple[Table, ...]

_LATENCY_VIEWS = ("mean", "p99", "p99.9", "p99.99")


@dataclass(frozen=True)
class Sweep:
    """A run beside its typed Result."""

    shown: Shown
    result: PeakResult

    @property
    def measured(self) -> tuple[Point, ...]:
        """The points that have figures."""
        return tuple(point for point in self.result.points if point.missing is None)

    @property
    def chosen(self) -> Point:
        """The point that the method reports."""
        return self.result.points[self.result.chosen]

    @property
    def best(self) -> Point:
        """The point of the greatest throughput."""
        return self.result.points[self.result.best]


def section(runs: Sequence[Shown]) -> Section:
    """The section of one sweep method, all its runs in the same charts."""
    sweeps = [Sweep(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, PeakResult)]
    first = sweeps[0].result
    name = f"peak-{first.pattern}-{first.direction}"
    rows = [(sweep.shown, point) for sweep in sweeps for point in sweep.result.points]
    reported = [(sweep.shown, sweep.chosen) for sweep in sweeps]
    tails = [_tail(sweep) for sweep in sweeps]
    shown_in_time = [
        over_time.Watched(sweep.shown, point.ordinal, _depth(point))
        for sweep in sweeps
        for point in sweep.measured
        if point.ordinal is not None
    ]
    figures = (
        _throughput(name, sweeps, (point_tables.throughput(rows),)),
        _hockey(name, sweeps, point_tables.latencies(rows)),
        percentiles.nines(name, tails, point_tables.latencies(reported)),
        _reported(name, sweeps, (point_tables.throughput(_headline(sweeps)),)),
        percentiles.marks(name, "Latency at the reported depth", tails, point_tables.latencies(reported)),
        over_time.figure(name, shown_in_time, _depth(sweeps[0].chosen)),
    )
    return Section(
        id=name,
        title=runs[0].run.manifest.method.title,
        lead=" ".join(finding(sweep) for sweep in sweeps),
        runs=tuple(sweep.shown.index for sweep in sweeps),
        figures=tuple(figure for figure in figures if figure is not None),
        tables=(point_tables.host(rows),),
        caveats=tuple(dict.fromkeys(text for sweep in sweeps for text in sweep.result.caveats)),
    )


def finding(sweep: Sweep) -> str:
    """The sweep in one or two sentences."""
    chosen, best, share = sweep.chosen, sweep.best, significant(sweep.result.share * 100, 2)
    figure = of_unit(_value(chosen, _unit(sweep.result)), _WORDS[_unit(sweep.result)])
    text = (
        f"{sweep.shown.label}: {figure} at {_depth(chosen)}, the lowest depth with at least {share} % of the best "
        f"({of_unit(_value(best, _unit(sweep.result)), _WORDS[_unit(sweep.result)])} at {_depth(best)})."
    )
    if chosen.attribution is not None and chosen.attribution.limit == "host":
        text += f" The host was the limit there: {'; '.join(chosen.attribution.reasons)}."
    return text


_WORDS: dict[Quantity, str] = {"iops": "IOPS", "mb_s": "MB/s"}


def _unit(result: PeakResult) -> Quantity:
    """Random workloads are told in IOPS, sequential ones in MB/s."""
    return "iops" if result.pattern == "random" else "mb_s"


def _units(result: PeakResult) -> tuple[Quantity, Quantity]:
    return ("iops", "mb_s") if result.pattern == "random" else ("mb_s", "iops")


def _value(point: Point, unit: Quantity) -> float | None:
    return point.iops if unit == "iops" else point.mb_s


def _scaled(point: Point, iops: float | None, unit: Quantity) -> float | None:
    """An IOPS figure of a point in the unit shown: every I/O of a sweep has the same size."""
    return iops if iops is None or unit == "iops" else iops * point.block_bytes / 1e6


def _depth(point: Point) -> str:
    return f"QD {point.in_flight_asked}"


def _axis(unit: Quantity) -> Axis:
    return Axis("IOPS" if unit == "iops" else "MB/s (decimal)", unit)


def _throughput(name: str, sweeps: Sequence[Sweep], tables: Tables) -> Figure:
    first = sweeps[0].result
    depths = sorted({point.in_flight_asked for sweep in sweeps for point in sweep.measured})
    x = Axis(
        "queue depth (I/Os in flight), log",
        "count",
        "log",
        tuple((float(depth), str(depth)) for depth in depths),
    )
    views = tuple(
        XyView(
            _WORDS[unit],
            x,
            _axis(unit),
            tuple(_curve(sweep, unit) for sweep in sweeps),
            tuple(_line(sweep, unit, several=len(sweeps) > 1) for sweep in sweeps),
        )
        for unit in _units(first)
    )
    crossed = any(_host(point) for sweep in sweeps for point in sweep.measured)
    cross = " Crosses: the host, not the drive, was the limit." if crossed else ""
    return Figure(
        id=f"{name}-throughput",
        title="Throughput against queue depth",
        lead=(
            f"{block_text(first.block_bytes)} {first.pattern} {first.direction}s; higher is better. "
            f"Ring: the reported depth. Band: slowest to fastest interval.{cross}"
        ),
        described=" ".join(finding(sweep) for sweep in sweeps),
        chart=XyChart(views),
        tables=tables,
        measured=_how(sweeps),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
        wide=True,
        still=sweep_still(views[0], [sweep.shown.style for sweep in sweeps]),
    )


def _curve(sweep: Sweep, unit: Quantity) -> Line:
    dots = []
    for point in sweep.measured:
        spread, value = point.spread_iops, _value(point, unit)
        if value is None:
            continue
        chosen = point is sweep.chosen
        dots.append(
            Dot(
                x=float(point.in_flight_asked),
                y=value,
                low=_scaled(point, spread.min if spread else None, unit),
                high=_scaled(point, spread.max if spread else None, unit),
                label=_depth(point) if chosen else None,
                chosen=chosen or None,
                host=_host(point) or None,
            )
        )
    return Line(sweep.shown.index, "", sweep.result.direction != "read", tuple(dots))


def _host(point: Point) -> bool:
    return point.attribution is not None and point.attribution.limit == "host"


def _line(sweep: Sweep, unit: Quantity, *, several: bool) -> Rule:
    level = _scaled(sweep.best, sweep.result.threshold_iops, unit)
    text = "" if several else f"{significant(sweep.result.share * 100, 2)} % of the best"
    return Rule(sweep.shown.index, level or 0.0, text)


def _hockey(name: str, sweeps: Sequence[Sweep], tables: Tables) -> Figure:
    unit = _unit(sweeps[0].result)
    views = tuple(
        XyView(quantile, _axis(unit), Axis(f"{quantile} response time, log", "ns", "log"), lines)
        for quantile in _LATENCY_VIEWS
        if (lines := tuple(line for sweep in sweeps if (line := _latency_line(sweep, unit, quantile)).points))
    )
    return Figure(
        id=f"{name}-latency",
        title="Latency against throughput",
        lead="Each point is one queue depth; further right and lower is better. Ring: the reported depth.",
        described=" ".join(_bend(sweep) for sweep in sweeps),
        chart=XyChart(views),
        tables=tables,
        measured=(*_how(sweeps), "A point is left out where fewer than 10 I/Os lie beyond the percentile."),
        buttons=(Buttons("view", "Latency", tuple(view.label for view in views)),),
    )


def _latency_line(sweep: Sweep, unit: Quantity, quantile: str) -> Line:
    dots = []
    for point in sweep.measured:
        value, latency = _value(point, unit), (point.response_ns or {}).get(quantile)
        if value is not None and latency is not None:
            chosen = (point is sweep.chosen) or None
            dots.append(Dot(value, latency, label=_depth(point), chosen=chosen, host=_host(point) or None))
    return Line(sweep.shown.index, "", sweep.result.direction != "read", tuple(dots))


def _bend(sweep: Sweep) -> str:
    ends = [point for point in (sweep.measured[0], sweep.chosen, sweep.measured[-1])]
    told = [
        f"{latency_text(mean)} at {_depth(point)}"
        for point in ends
        if (mean := (point.response_ns or {}).get("mean")) is not None
    ]
    return f"{sweep.shown.label}: mean response time {', '.join(dict.fromkeys(told))}."


def _reported(name: str, sweeps: Sequence[Sweep], tables: Tables) -> Figure:
    units = _units(sweeps[0].result)
    views = tuple(BarsView(_WORDS[unit], _axis(unit), "higher", _groups(sweeps, unit)) for unit in units)
    return Figure(
        id=f"{name}-bars",
        title="At the reported depth, at the best and alone",
        lead="Higher is better. The depth is printed behind the value; whisker: slowest to fastest interval.",
        described=" ".join(finding(sweep) for sweep in sweeps),
        chart=BarsChart(views),
        tables=tables,
        measured=_how(sweeps),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
    )


_HEADLINES: tuple[tuple[str, Callable[[Sweep], Point]], ...] = (
    ("Reported depth", lambda sweep: sweep.chosen),
    ("Best of the sweep", lambda sweep: sweep.best),
    ("Lowest depth", lambda sweep: sweep.measured[0]),
)


def _headline(sweeps: Sequence[Sweep]) -> list[tuple[Shown, Point]]:
    """The points of the bars, each once."""
    return [
        (sweep.shown, point)
        for sweep in sweeps
        for depth in dict.fromkeys(pick(sweep).in_flight_asked for _, pick in _HEADLINES)
        for point in sweep.measured
        if point.in_flight_asked == depth
    ]


def _groups(sweeps: Sequence[Sweep], unit: Quantity) -> tuple[BarGroup, ...]:
    ranked = sorted(sweeps, key=lambda sweep: -(_value(sweep.chosen, unit) or 0.0))
    return tuple(
        BarGroup(title, tuple(_bar(sweep, pick(sweep), unit) for sweep in ranked))
        for title, pick in _HEADLINES
    )


def _bar(sweep: Sweep, point: Point, unit: Quantity) -> Bar:
    spread = point.spread_iops
    low, high = (_scaled(point, end, unit) for end in ((spread.min, spread.max) if spread else (None, None)))
    return Bar(sweep.shown.index, _value(point, unit) or 0.0, _depth(point), low, high)


def _tail(sweep: Sweep) -> percentiles.Tail:
    point = sweep.chosen
    return percentiles.Tail(
        sweep.shown,
        "reported depth" if sweep.shown.label == "" else sweep.shown.label,
        _depth(point),
        sweep.result.direction,
        point.ordinal,
        point.service_ns or {},
        point.response_ns or {},
    )


def _how(sweeps: Sequence[Sweep]) -> tuple[str, ...]:
    lines = []
    for sweep in sweeps:
        result, times = sweep.result, [point.seconds for point in sweep.measured if point.seconds]
        issue = (
            "threads of one synchronous I/O each"
            if result.engine == "sync"
            else "io_uring, all I/Os of a depth from few threads"
        )
        span = f"{span_text(min(times))} to {span_text(max(times))}" if times else "unknown time"
        lines.append(
            f"{sweep.shown.label}: {block_text(result.block_bytes)} {result.pattern} {result.direction}s, {issue}; {span} at each depth."
        )
    share = significant(sweeps[0].result.share * 100, 2)
    lines.append(
        f"Reported is the lowest depth whose throughput is at least {share} % of the best; the whole curve is kept."
    )
    return tuple(lines)
