"""Trace replay: data rate, service time, energy; what became of the trace, how far the host kept up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.replay import TraceResult
from ssdlab.model.units import capacity_text, count_text, latency_text, span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.runs import with_result
from ssdlab.report.sections import over_time, percentiles
from ssdlab.report.view import Buttons, Exhibit, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.methods.results.replay import Replayed
    from ssdlab.report.runs import Shown

Traced = tuple["Shown", TraceResult]
_FROM_DIRECTION = {"read": "reads", "write": "writes", "trim": "trims"}


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of replays, all of them in the same charts."""
    kept = with_result(runs, TraceResult)
    tables = (_table(kept), _tail_table(kept))
    tails = [
        percentiles.Tail(
            shown,
            _FROM_DIRECTION[name],
            "",
            name,
            result.done.ordinal,
            service,
            result.done.response_ns[name],
        )
        for shown, result in kept
        for name, service in result.done.service_ns.items()
    ]
    watched = [over_time.Watched(shown, result.done.ordinal, "replay") for shown, result in kept]
    figures = (
        _bars(kept, tables),
        percentiles.nines("trace", tails, (tables[1],)),
        over_time.figure("trace", watched, "replay"),
    )
    return Section(
        id="trace",
        title=runs[0].run.manifest.method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(_exhibit(kept),),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def finding(shown: Shown, result: TraceResult) -> str:
    """Return the figures of a storage-bench page as a sentence."""
    done = result.done
    text = f"{shown.label}: {of_unit(done.mb_s, 'MB/s')} while busy, {_service(done)} mean service time"
    if done.energy_j is not None:
        text += f", {of_unit(done.energy_j, 'J')}"
    return f"{text}, {speed_text(result.laid.speed)}. {_kept_up(done)}"


def speed_text(speed: str) -> str:
    """Return how fast a trace was replayed."""
    if speed == "max":
        return "as fast as possible"
    return "as timed" if float(speed) == 1 else f"{speed} times as fast as timed"


def _kept_up(done: Replayed) -> str:
    if not done.late and not done.dropped:
        return "No I/O was late."
    parts = [f"{count_text(done.late)} I/Os were late"] if done.late else []
    parts += [f"{count_text(done.dropped)} were dropped"] if done.dropped else []
    return f"{' and '.join(parts)}."


def _service(done: Replayed) -> str:
    return "no" if done.service_mean_ns is None else latency_text(done.service_mean_ns)


def _bars(kept: Sequence[Traced], tables: tuple[Table, ...]) -> Figure:
    sides = [name for name in _FROM_DIRECTION if any(name in result.done.service_ns for _, result in kept)]

    def tail(name: str) -> Callable[[Replayed], float | None]:
        return lambda done: done.service_ns.get(name, {}).get("p99")

    service = Axis("service time", "ns")
    views = (
        _view("Data rate", Axis("MB/s (decimal) while busy", "mb_s"), kept, {"": lambda done: done.mb_s}),
        _view("Mean service", service, kept, {"": lambda done: done.service_mean_ns}),
        _view("p99 service", service, kept, {_FROM_DIRECTION[name]: tail(name) for name in sides}),
        _view("Energy", Axis("J over the whole replay", "count"), kept, {"": lambda done: done.energy_j}),
    )
    shown = tuple(view for view in views if view.groups)
    return Figure(
        id="trace-bench",
        title="Storage bench",
        lead="Data rate: higher is better. Service time and energy: lower is better.",
        described=" ".join(finding(*one) for one in kept),
        chart=BarsChart(shown),
        tables=tables,
        measured=(
            "Data rate: bytes read and written over the time with at least one I/O in flight.",
            "Service time runs from the submission of an I/O to its completion.",
            "Energy stands only where the drive was metered.",
        ),
        buttons=(Buttons("view", "Figure", tuple(view.label for view in shown)),),
    )


def _view(
    label: str, axis: Axis, kept: Sequence[Traced], figures: dict[str, Callable[[Replayed], float | None]]
) -> BarsView:
    groups = []
    for name, figure in figures.items():
        bars = tuple(
            Bar(shown.index, value, speed_text(result.laid.speed))
            for shown, result in kept
            if (value := figure(result.done)) is not None
        )
        if bars:
            groups.append(BarGroup(name, bars))
    return BarsView(label, axis, "higher" if label == "Data rate" else "lower", tuple(groups))


def _table(kept: Sequence[Traced]) -> Table:
    head = ("Run", "Speed", "MB/s busy", "Service", "Busy", "Whole", "In flight", "J", "W")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(speed_text(result.laid.speed)),
            numbers.throughput(result.done.mb_s),
            numbers.latency(result.done.service_mean_ns),
            numbers.seconds(result.done.busy_s),
            numbers.seconds(result.done.seconds),
            numbers.plain(result.done.in_flight),
            numbers.plain(result.done.energy_j),
            numbers.plain(result.done.mean_w),
        )
        for shown, result in kept
    )
    return Table("Data rate, mean service time, energy", head, rows)


def _tail_table(kept: Sequence[Traced]) -> Table:
    clocks = (("service", "service_ns"), ("response", "response_ns"))
    keys = ("mean", "p50", "p99", "p99.9", "p99.99", "max")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(f"{_FROM_DIRECTION[name]}, {clock}"),
            *(numbers.latency(found.get(key)) for key in keys),
        )
        for shown, result in kept
        for clock, place in clocks
        for name, found in getattr(result.done, place).items()
    )
    return Table("Service and response time", ("Run", "", *keys), rows)


def _exhibit(kept: Sequence[Traced]) -> Exhibit:
    return Exhibit(
        title="The trace, and how far the host kept up",
        lead="Late: issued more than 1 ms after it was due. Dropped: later than the backlog allows.",
        tables=(_trace_table(kept), _kept_table(kept)),
    )


def _trace_table(kept: Sequence[Traced]) -> Table:
    head = (
        "Run",
        "Trace",
        "Format",
        "I/Os",
        "Left out",
        "Wrapped",
        "Extent",
        "Length",
        "Gaps cut",
        "Cut away",
    )
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(result.source.file.rpartition("/")[2]),
            numbers.words(result.source.format),
            numbers.count(result.laid.ios),
            numbers.count(sum(result.laid.left_out.values())),
            numbers.count(result.laid.wrapped),
            numbers.words(capacity_text(result.laid.extent_bytes)),
            numbers.seconds(result.laid.trace_ns / 1e9),
            numbers.count(result.laid.gaps_cut),
            numbers.words(span_text(result.laid.gaps_cut_ns / 1e9)),
        )
        for shown, result in kept
    )
    return Table("The trace as recorded, and what became of it", head, rows)


def _kept_table(kept: Sequence[Traced]) -> Table:
    keys = ("mean", "p50", "p99", "p99.9", "max")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            *(numbers.count(getattr(result.done, name)) for name in ("ios", "late", "dropped", "failed")),
            *(numbers.latency(result.done.lateness_ns.get(key)) for key in keys),
        )
        for shown, result in kept
    )
    head = ("Run", "Done", "Late", "Dropped", "Failed", *(f"Lateness {key}" for key in keys))
    return Table("Lateness: from the intended start to the submission", head, rows)
