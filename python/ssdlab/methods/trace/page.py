"""Page of a trace replay: data rate, service time, energy, changes to the trace, and the host's lag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Axis,
    Bar,
    BarsChart,
    BarsView,
    Buttons,
    Exhibit,
    Figure,
    Section,
    Table,
    leads,
    over_time,
    percentiles,
    rates,
    together,
    with_result,
)

from . import result as trace
from .result import TraceResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from ssdlab.plugin import Shown

    from .result import Replayed

Traced = tuple["Shown", TraceResult]
_UNITS = {"Data rate": "MB/s", "Mean service": "ns", "p99 service": "ns", "Energy": "J"}


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, TraceResult)
    tables = (together(kept, trace.data_rate), together(kept, trace.tails))
    tails = [
        percentiles.Tail(
            shown,
            trace.FROM_DIRECTION[name],
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
        lead=leads(kept, trace.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(_exhibit(kept),),
    )


def _bars(kept: Sequence[Traced], tables: tuple[Table, ...]) -> Figure:
    sides = [
        name for name in trace.FROM_DIRECTION if any(name in result.done.service_ns for _, result in kept)
    ]

    def tail(name: str) -> Callable[[Replayed], float | None]:
        return lambda done: done.service_ns.get(name, {}).get("p99")

    service = Axis("service time", "ns")
    views = (
        _view("Data rate", Axis("MB/s (decimal) while busy", "mb_s"), kept, {"": lambda done: done.mb_s}),
        _view("Mean service", service, kept, {"": lambda done: done.service_mean_ns}),
        _view("p99 service", service, kept, {trace.FROM_DIRECTION[name]: tail(name) for name in sides}),
        _view("Energy", Axis("J over the whole replay", "plain"), kept, {"": lambda done: done.energy_j}),
    )
    shown = tuple(view for view in views if view.groups)
    return Figure(
        id="trace-bench",
        title="Storage bench",
        lead="Data rate: higher is better. Service time and energy: lower is better.",
        described=" ".join(leads(kept, trace.findings)),
        chart=BarsChart(shown),
        tables=tables,
        measured=(
            "Data rate: bytes read and written over the time with at least one I/O in flight.",
            "Service time runs from the submission of an I/O to its completion.",
            "Energy is given only if the drive was metered.",
        ),
        buttons=(Buttons("view", "Figure", tuple(view.label for view in shown)),),
    )


def _view(
    label: str, axis: Axis, kept: Sequence[Traced], figures: dict[str, Callable[[Replayed], float | None]]
) -> BarsView:
    better: Literal["higher", "lower"] = "higher" if label == "Data rate" else "lower"
    drawn = (
        rates.Drawn(
            shown,
            name,
            Bar(shown.index, value, trace.speed_text(result.laid.speed)),
            rates.figure_of(shown, result.done.ordinal, _UNITS[label]),
        )
        for name, figure in figures.items()
        for shown, result in kept
        if (value := figure(result.done)) is not None
    )
    return BarsView(label, axis, better, rates.groups(drawn, better))


def _exhibit(kept: Sequence[Traced]) -> Exhibit:
    return Exhibit(
        title="The trace, and how well the host kept up",
        lead="Late: issued over 1 ms after it was due. Dropped: later than the backlog allows.",
        tables=(together(kept, trace.trace), together(kept, trace.lateness)),
    )
