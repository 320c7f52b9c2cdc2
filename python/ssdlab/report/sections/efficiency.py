"""Work for each watt: bars of efficiency, with the mean power they come from behind a button."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView
from ssdlab.report.view import Buttons, Figure
from ssdlab.results import numbers
from ssdlab.results.numbers import Table, of_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal

    from ssdlab.analysis.efficiency import Efficiency
    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Point


@dataclass(frozen=True)
class Worked:
    """What one run did for its watts in one workload."""

    shown: Shown
    group: str
    note: str
    """Printed behind the value, such as the depth."""
    found: Efficiency
    mean_w: float
    view: str = ""
    """Where a button chooses among workloads: which."""


def of_point(shown: Shown, group: str, note: str, point: Point, view: str = "") -> tuple[Worked, ...]:
    """Return what a point did for its watts; nothing without a meter."""
    if point.efficiency is None or point.mean_w is None:
        return ()
    return (Worked(shown, group, note, point.efficiency, point.mean_w, view),)


def figure(section: str, worked: Sequence[Worked]) -> Figure | None:
    """Return the chart of a section; None where nobody metered any run."""
    if not worked:
        return None
    views = tuple(_views(worked))
    return Figure(
        id=f"{section}-efficiency",
        title="Efficiency and power",
        lead="Work for each watt: higher is better. Average power over the same window: lower is better.",
        described="; ".join(
            f"{each.shown.label}, {each.group}: {of_unit(each.found.value, each.found.unit)} "
            f"at {of_unit(each.mean_w, 'W')}"
            for each in worked
        ),
        chart=BarsChart(views),
        tables=(_table(worked),),
        measured=(
            "Mean power over the window of the throughput; a run without a meter has no bar.",
            "Of a simulated drive the power is that of its own model.",
        ),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
    )


def _views(worked: Sequence[Worked]) -> Iterable[BarsView]:
    """Yield for each workload chosen by a button its efficiencies by unit, and the power."""
    for name in dict.fromkeys(each.view for each in worked):
        chosen = [each for each in worked if each.view == name]
        beginning = f"{name}, " if name else ""
        for unit in dict.fromkeys(each.found.unit for each in chosen):
            alike = [each for each in chosen if each.found.unit == unit]
            yield _view(beginning + unit, unit, "higher", alike, lambda each: each.found.value)
        yield _view(f"{beginning}W", "average power, W", "lower", chosen, lambda each: each.mean_w)


def _view(
    label: str,
    title: str,
    better: Literal["higher", "lower"],
    worked: Sequence[Worked],
    value: Callable[[Worked], float],
) -> BarsView:
    groups: dict[str, list[Bar]] = {}
    for each in worked:
        groups.setdefault(each.group, []).append(Bar(each.shown.index, value(each), each.note))
    sign = -1 if better == "higher" else 1
    ranked = tuple(
        BarGroup(name, tuple(sorted(bars, key=lambda bar: sign * bar.value))) for name, bars in groups.items()
    )
    return BarsView(label, Axis(title, "plain"), better, ranked)


def _table(worked: Sequence[Worked]) -> Table:
    rows = tuple(
        (
            numbers.of_run(each.shown.label, each.shown.index),
            numbers.words(", ".join(filter(None, (each.view, each.group)))),
            numbers.words(each.note),
            numbers.plain(each.found.value),
            numbers.words(each.found.unit),
            numbers.plain(each.mean_w),
        )
        for each in worked
    )
    return Table("Efficiency and mean power", ("Run", "Workload", "", "Efficiency", "Unit", "W"), rows)
