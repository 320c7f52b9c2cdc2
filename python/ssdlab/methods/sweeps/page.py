"""Page of a queue-depth sweep: the curve, the reported point and its latency, and what set the limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Axis,
    Bar,
    BarsChart,
    BarsView,
    Buttons,
    Dot,
    Figure,
    Line,
    Rule,
    Section,
    Upright,
    XyChart,
    XyView,
    attribution_of,
    block_text,
    efficiency,
    ends_text,
    fixed_share_text,
    latency_text,
    leads,
    over_time,
    percentiles,
    point_tables,
    rates,
    ratings,
    span_text,
    steady,
    texts_of,
    with_result,
)

from .result import PeakResult, findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.plugin import Point, Quantity, Shown, Table

_WIDE = 10
_APART = 3
"""Ratios of fastest to slowest point, and of fastest to slowest drive, above which the throughput axis is
logarithmic.
"""
_LATENCY_VIEWS = ("mean", "p99", "p99.9", "p99.99")


@dataclass(frozen=True)
class Sweep:
    """A run with its typed result."""

    shown: Shown
    result: PeakResult

    @property
    def measured(self) -> tuple[Point, ...]:
        """The points with figures."""
        return tuple(point for point in self.result.points if point.missing is None)

    @property
    def chosen(self) -> Point:
        return self.result.points[self.result.chosen]

    @property
    def best(self) -> Point:
        return self.result.points[self.result.best]

    @cached_property
    def unproven(self) -> dict[int, str]:
        """For each depth, the labels that forbid ranking its point; empty if none do."""
        unit = rates.WORDS[rates.units(self.result.pattern)[0]]
        return {
            point.in_flight_asked: rates.unproven(self.shown, point.ordinal, unit) for point in self.measured
        }

    @property
    def held_at_once(self) -> int | None:
        """Number of I/Os that the drive can queue; more wait in the host. None: not recorded."""
        steps = [self.shown.run.step(point.ordinal) for point in self.measured if point.ordinal is not None]
        drives = [step.summary.drive for step in steps if step is not None and step.summary is not None]
        simulated = [drive.commands_held for drive in drives if drive is not None and drive.commands_held]
        storage = self.shown.run.manifest.environment.get("storage")
        found = storage.get("conditions") if isinstance(storage, dict) else None
        kernel = found.get("queue_depth") if isinstance(found, dict) else None
        return simulated[0] if simulated else kernel if isinstance(kernel, int) and kernel > 1 else None

    @property
    def dashed(self) -> bool:
        return self.result.direction != "read"

    @property
    def share(self) -> str:
        """The share of the best that the reported depth must reach: `95 % of the best`."""
        return f"{fixed_share_text(self.result.share)} of the best"

    @property
    def workload(self) -> str:
        """The requested workload: `4 KiB random reads`."""
        return f"{block_text(self.result.block_bytes)} {self.result.pattern} {self.result.direction}s"


_REPORTED = "Reported depth"
_HEADLINES: tuple[tuple[str, Callable[[Sweep], Point]], ...] = (
    (_REPORTED, lambda sweep: sweep.chosen),
    ("Best of the sweep", lambda sweep: sweep.best),
    ("Lowest depth", lambda sweep: sweep.measured[0]),
)


def section(runs: Sequence[Shown]) -> Section:
    sweeps = [Sweep(*one) for one in with_result(runs, PeakResult)]
    name = f"peak-{sweeps[0].result.pattern}-{sweeps[0].result.direction}"
    rows = [(sweep.shown, point) for sweep in sweeps for point in sweep.result.points]
    held = [sweep for sweep in sweeps if not sweep.result.moved]
    reported = point_tables.latencies([(sweep.shown, sweep.chosen) for sweep in held])
    tails = [_tail(sweep) for sweep in held]
    watched = [
        over_time.Watched(sweep.shown, point.ordinal, _depth(point))
        for sweep in sweeps
        for point in sweep.measured
        if point.ordinal is not None
    ]
    figures = (
        _throughput(name, sweeps),
        steady.figure(name, [(s.shown, s.result.steady) for s in sweeps if s.result.steady is not None]),
        _hockey_stick(name, sweeps),
        *(_reported(name, sweeps, tails, reported) if held else ()),
        over_time.figure(name, watched, _depth(sweeps[0].chosen)),
    )
    return Section(
        id=name,
        title=runs[0].run.manifest.method.title,
        lead=_leads(sweeps),
        runs=tuple(sweep.shown.index for sweep in sweeps),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=point_tables.host(rows),
    )


def _reported(
    name: str,
    sweeps: Sequence[Sweep],
    tails: Sequence[percentiles.Tail],
    latencies: tuple[Table, ...],
) -> tuple[Figure | None, ...]:
    """Return the figures at the reported depth; latency is not drawn for sweeps whose state moved."""
    return (
        percentiles.nines(name, tails, latencies),
        _bars(name, sweeps),
        percentiles.marks(name, "Latency at the reported depth", tails, latencies),
        efficiency.figure(name, _worked(sweeps)),
    )


def _leads(sweeps: Sequence[Sweep]) -> tuple[str, ...]:
    return leads([(sweep.shown, sweep.result) for sweep in sweeps], findings)


def _depth(point: Point) -> str:
    return f"QD {point.in_flight_asked}"


def _host(point: Point) -> bool:
    return point.attribution is not None and point.attribution.limit == "host"


def _units(sweeps: Sequence[Sweep]) -> tuple[Quantity, Quantity]:
    return rates.units(sweeps[0].result.pattern)


def _throughput(name: str, sweeps: Sequence[Sweep]) -> Figure:
    views = tuple(_throughput_view(sweeps, unit) for unit in _units(sweeps))
    crossed = any(_host(point) for sweep in sweeps for point in sweep.measured)
    cross = " Crosses: the host, not the drive, was the limit." if crossed else ""
    held = [sweep for sweep in sweeps if not sweep.result.moved]
    levels = f" Fine dotted: {sweeps[0].share}, of each." if len(sweeps) > 1 else ""
    tags = " Vertical: I/Os that a drive queues; more wait in the host." if views[0].uprights else ""
    return Figure(
        id=f"{name}-throughput",
        title="Throughput against queue depth",
        lead=(
            f"{sweeps[0].workload}; higher is better. Ring: reported depth. "
            f"Band: slowest to fastest interval.{levels}{tags}{cross}{_hollow(sweeps)}{_limits(held)}"
        ),
        described=" ".join(_leads(sweeps)),
        chart=XyChart(views),
        tables=(
            point_tables.throughput(
                [(sweep.shown, point) for sweep in sweeps for point in sweep.result.points]
            ),
        ),
        measured=_how(sweeps),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
        wide=True,
    )


def _throughput_view(sweeps: Sequence[Sweep], unit: Quantity) -> XyView:
    depths = sorted({point.in_flight_asked for sweep in sweeps for point in sweep.measured})
    ticks = tuple((float(depth), str(depth)) for depth in depths)
    return XyView(
        rates.WORDS[unit],
        Axis("queue depth (I/Os in flight), log", "count", "log", ticks),
        rates.axis(unit),
        tuple(_curve(sweep, unit) for sweep in sweeps),
        tuple(_level(sweep, unit, named=len(sweeps) == 1) for sweep in sweeps),
        tuple(_held(sweeps)),
    )


def _held(sweeps: Sequence[Sweep]) -> Iterator[Upright]:
    """Yield a vertical line at the number of I/Os that drives can queue, if the sweep exceeds it."""
    interfaces: dict[int, dict[str, None]] = {}
    for sweep in sweeps:
        held = sweep.held_at_once
        if held is not None and held < max(point.in_flight_asked for point in sweep.measured):
            interfaces.setdefault(held, {})[sweep.shown.style.interface or ""] = None
    for held, names in interfaces.items():
        yield Upright(float(held), ": ".join(filter(None, (", ".join(names), f"{held} tags"))))


def _curve(sweep: Sweep, unit: Quantity) -> Line:
    dots = []
    for point in sweep.measured:
        low, high = rates.spread(point, unit)
        chosen = point is sweep.chosen and not sweep.result.moved
        dots.append(
            Dot(
                x=float(point.in_flight_asked),
                y=rates.rate(point, unit) or 0.0,
                low=low,
                high=high,
                label=_depth(point) if chosen else None,
                chosen=chosen or None,
                host=_host(point) or None,
                unproven=bool(sweep.unproven[point.in_flight_asked]) or None,
            )
        )
    return Line(sweep.shown.index, "", sweep.dashed, tuple(dots))


def _hollow(sweeps: Sequence[Sweep]) -> str:
    return rates.hollow(each for sweep in sweeps for each in sweep.unproven.values())


def _level(sweep: Sweep, unit: Quantity, *, named: bool) -> Rule:
    level = rates.of_iops(sweep.best, sweep.result.threshold_iops, unit)
    return Rule(sweep.shown.index, level or 0.0, sweep.share if named else "")


def _hockey_stick(name: str, sweeps: Sequence[Sweep]) -> Figure:
    unit = _units(sweeps)[0]
    across = _across(sweeps, unit)
    views = []
    for quantile in _LATENCY_VIEWS:
        lines = tuple(_latency_line(sweep, unit, quantile) for sweep in sweeps)
        if any(line.points for line in lines):
            axis = Axis(f"{quantile} response time, log", "ns", "log")
            views.append(XyView(quantile, across, axis, lines))
    return Figure(
        id=f"{name}-latency",
        title="Latency against throughput",
        lead="Each point is one queue depth; further right and lower is better. Ring: the reported depth."
        + _hollow(sweeps),
        described=" ".join(_bend(sweep) for sweep in sweeps),
        chart=XyChart(tuple(views)),
        tables=point_tables.latencies(
            [(sweep.shown, point) for sweep in sweeps for point in sweep.result.points]
        ),
        measured=(*_how(sweeps), "Points with fewer than 10 I/Os beyond the percentile are left out."),
        buttons=(Buttons("view", "Latency", tuple(view.label for view in views)),),
    )


def _across(sweeps: Sequence[Sweep], unit: Quantity) -> Axis:
    """Return the axis of throughput, logarithmic if the fastest drive would crowd the others."""
    found = [rates.rate(point, unit) or 0.0 for sweep in sweeps for point in sweep.measured]
    bests = [rates.rate(sweep.best, unit) or 0.0 for sweep in sweeps]
    apart = max(bests) > _APART * min(bests) and max(found) > _WIDE * min(found) > 0
    return rates.axis(unit, log=apart)


def _latency_line(sweep: Sweep, unit: Quantity, quantile: str) -> Line:
    dots = []
    for point in sweep.measured:
        value, latency = rates.rate(point, unit), (point.response_ns or {}).get(quantile)
        if value is not None and latency is not None:
            chosen = (point is sweep.chosen and not sweep.result.moved) or None
            unproven = bool(sweep.unproven[point.in_flight_asked]) or None
            host = _host(point) or None
            dots.append(Dot(value, latency, None, None, _depth(point), chosen, host, unproven=unproven))
    return Line(sweep.shown.index, "", sweep.dashed, tuple(dots))


def _bend(sweep: Sweep) -> str:
    parts = []
    for point in (sweep.measured[0], sweep.chosen, sweep.measured[-1]):
        mean = (point.response_ns or {}).get("mean")
        if mean is not None:
            parts.append(f"{latency_text(mean)} at {_depth(point)}")
    return f"{sweep.shown.label}: mean response time {', '.join(dict.fromkeys(parts))}."


def _bars(name: str, sweeps: Sequence[Sweep]) -> Figure:
    held = [sweep for sweep in sweeps if not sweep.result.moved]
    first, second = _units(sweeps)
    views = tuple(
        BarsView(label, rates.axis(unit), "higher", rates.groups(_drawn(sweeps, unit, title)))
        for label, unit, title in (
            (rates.WORDS[first], first, _REPORTED),
            (rates.WORDS[second], second, _REPORTED),
            *((title.lower(), first, title) for title, _ in _HEADLINES[1:]),
        )
    )
    return Figure(
        id=f"{name}-bars",
        title="Throughput at the reported depth",
        lead="Higher is better. The value is followed by its depth. Whisker: slowest to fastest interval.",
        described=" ".join(_leads(held)),
        chart=BarsChart(views),
        tables=(point_tables.throughput(_headline_points(held)),),
        measured=_how(held),
        buttons=(Buttons("view", "Unit and depth", tuple(view.label for view in views)),),
    )


def _worked(sweeps: Sequence[Sweep]) -> list[efficiency.Worked]:
    return [
        each
        for title, pick in _HEADLINES
        for sweep in sweeps
        for each in efficiency.of_point(
            sweep.shown, title, _depth(pick(sweep)), pick(sweep), "" if title == _REPORTED else title.lower()
        )
    ]


def _headline_points(sweeps: Sequence[Sweep]) -> list[tuple[Shown, Point]]:
    """Return the points that have bars, each once, in order of depth."""
    found = []
    for sweep in sweeps:
        points = {pick(sweep).in_flight_asked: pick(sweep) for _, pick in _HEADLINES}
        found += [(sweep.shown, points[depth]) for depth in sorted(points)]
    return found


def _drawn(sweeps: Sequence[Sweep], unit: Quantity, title: str) -> list[rates.Drawn]:
    pick = dict(_HEADLINES)[title]
    return [_bar(sweep, title, pick(sweep), unit) for sweep in sweeps]


def _bar(sweep: Sweep, title: str, point: Point, unit: Quantity) -> rates.Drawn:
    low, high = rates.spread(point, unit)
    rated = _rated(sweep, unit) if point is sweep.chosen else None
    bar = Bar(sweep.shown.index, rates.rate(point, unit) or 0.0, _depth(point), low, high, rated)
    own = rates.figure_of(sweep.shown, point.ordinal, rates.WORDS[unit])
    return rates.Drawn(sweep.shown, title, bar, own)


def _rated(sweep: Sweep, unit: Quantity) -> float | None:
    """Return the drive's rating for this workload in one of the two units; None if unknown."""
    found = [each for each in ratings.shares(sweep.shown) if each.unit == rates.WORDS[unit].split()[0]]
    return found[0].rated.value if found else None


def _tail(sweep: Sweep) -> percentiles.Tail:
    point = sweep.chosen
    return percentiles.Tail(
        sweep.shown,
        sweep.workload,
        _depth(point),
        sweep.result.direction,
        point.ordinal,
        point.service_ns or {},
        point.response_ns or {},
    )


def _how(sweeps: Sequence[Sweep]) -> tuple[str, ...]:
    reported = f"Reported: the lowest depth with at least {sweeps[0].share}. The whole curve is kept."
    held = any(not sweep.result.moved for sweep in sweeps)
    return (*texts_of([(sweep.shown, _asked(sweep)) for sweep in sweeps]), *((reported,) if held else ()))


def _asked(sweep: Sweep) -> str:
    times = [point.seconds for point in sweep.measured if point.seconds]
    each = f"; {ends_text(span_text(min(times)), span_text(max(times)))} at each depth" if times else ""
    sync = sweep.result.engine == "sync"
    return f"{sweep.workload}, {'threads of one synchronous I/O each' if sync else 'io_uring'}{each}."


def _limits(sweeps: Sequence[Sweep]) -> str:
    """Return a sentence on what set the limit at the reported depths; empty if unknown."""
    found = []
    for sweep in sweeps:
        limit = attribution_of(sweep.chosen, sweep.shown.style.link_mb_s)
        found.append((sweep.shown, f"the {limit.limit}" if limit else ""))
    texts = texts_of(found)
    return f" The limit at the reported depth: {'; '.join(texts)}." if texts else ""
