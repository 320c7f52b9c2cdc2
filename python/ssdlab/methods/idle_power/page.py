"""Report page of idle power: power and wake-up of each kind of rest; tables of power features and states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Exhibit,
    Figure,
    Section,
    latency_text,
    leads,
    rates,
    significant,
    together,
    with_result,
)

from . import result as idle_power
from .result import IdlePowerResult, Rested

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.plugin import Shown

Kept = tuple["Shown", IdlePowerResult]


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, IdlePowerResult)
    tables = (together(kept, idle_power.features), together(kept, idle_power.states))
    figures = (_power(kept), _wake_up(kept))
    return Section(
        id="idle-power",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, idle_power.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(Exhibit("Power features and states", "As the drive reports them.", tables),),
    )


def _power(kept: Sequence[Kept]) -> Figure | None:
    groups = _groups(kept, lambda rest: rest.mean_w, "W")
    if not groups:
        return None
    described = "; ".join(
        f"{shown.label}, {each.label}: {significant(each.mean_w)} W"
        for shown, result in kept
        for each in result.rests
        if each.mean_w is not None
    )
    return Figure(
        id="idle-power-watts",
        title="Power at rest",
        lead="Lower is better.",
        described=described,
        chart=BarsChart((_view("W", Axis("power at rest, W", "plain"), groups),)),
        tables=(together(kept, idle_power.rests),),
        measured=("Mean power with no I/O, after a time to settle.",),
    )


def _wake_up(kept: Sequence[Kept]) -> Figure | None:
    groups = _groups(kept, lambda rest: rest.wake_ns, "ns")
    if not groups:
        return None
    described = "; ".join(
        f"{shown.label}, {each.label}: "
        f"{idle_power.IN_THE_NOISE if each.wake_ns is None else latency_text(each.wake_ns)}"
        for shown, result in kept
        for each in result.rests
    )
    return Figure(
        id="idle-power-wake-up",
        title="Wake-up latency",
        lead="Lower is better.",
        described=described,
        chart=BarsChart((_view("wake-up", Axis("wake-up", "ns"), groups),)),
        tables=(together(kept, idle_power.rests),),
        measured=(
            "Median of the first reads after a rest, less that of the reads right after them. No bar: not "
            "significant by a Mann-Whitney test at 0.01.",
        ),
    )


def _groups(
    kept: Sequence[Kept], figure: Callable[[Rested], float | None], unit: str
) -> tuple[BarGroup, ...]:
    return rates.groups(
        (
            rates.Drawn(
                shown, each.label, Bar(shown.index, value, ""), rates.figure_of(shown, each.ordinal, unit)
            )
            for shown, result in kept
            for each in result.rests
            if (value := figure(each)) is not None
        ),
        "lower",
    )


def _view(label: str, axis: Axis, groups: tuple[BarGroup, ...]) -> BarsView:
    return BarsView(label, axis, "lower", groups)
