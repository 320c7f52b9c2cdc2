"""SNIA PTS: what was measured in the cells of a round: maps with values, lines over block sizes, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.model.units import block_text
from ssdlab.report import numbers
from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Dot,
    HeatChart,
    HeatView,
    Line,
    XyChart,
    XyView,
)
from ssdlab.report.numbers import Table
from ssdlab.report.view import Buttons, Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.methods.results.pts import PtsCell, PtsResult, PtsRounds
    from ssdlab.report.charts import Quantity
    from ssdlab.report.runs import Shown

    Tested = tuple[Shown, PtsResult]


@dataclass(frozen=True)
class Measure:
    """A figure of a cell over the reported rounds."""

    title: str
    short: str
    quantity: Quantity
    better: Literal["higher", "lower"]
    of: Callable[[PtsRounds, PtsCell], float | None]
    cell: Callable[[float | None], numbers.Cell]


IOPS = Measure("IOPS", "IOPS", "iops", "higher", lambda g, c: g.of_window(c.iops), numbers.iops)
MB_S = Measure(
    "MB/s (decimal)", "MB/s", "mb_s", "higher", lambda g, c: g.of_window(c.mb_s), numbers.throughput
)
ART = Measure(
    "average response time", "ART", "ns", "lower", lambda g, c: g.of_window(c.mean_ns), numbers.latency
)
NINES = Measure(
    "99.999 %, worst round",
    "99.999 %",
    "ns",
    "lower",
    lambda g, c: g.most_of_window(c.five_nines_ns),
    numbers.latency,
)
MRT = Measure(
    "maximum response time", "MRT", "ns", "lower", lambda g, c: g.most_of_window(c.max_ns), numbers.latency
)


def heat_map(name: str, title: str, kept: Sequence[Tested], measures: Sequence[Measure], how: str) -> Figure:
    """Return blocks down and mixes across, each cell with its value; a view for each measure and run."""
    mixes = _mixes(kept)
    sizes = _sizes(kept)
    views = tuple(
        _heat_view(one, measure, kept, mixes, sizes, several=len(kept) > 1)
        for measure in measures
        for one in kept
    )
    return Figure(
        id=name,
        title=title,
        lead="Mean over the reported rounds; of maxima, the greatest in them. The better, the lighter.",
        described=f"{title}: {len(sizes)} block sizes by {len(mixes)} mixes; the numbers are in the table.",
        chart=HeatChart(
            tuple(block_text(size) for size in sizes), tuple(_mix(mix) for mix in mixes), "R/W mix, %", views
        ),
        tables=tuple(grid(one, measure) for one in kept for measure in measures),
        measured=(how,),
        buttons=(Buttons("view", "Shown", tuple(view.label for view in views)),) if len(views) > 1 else (),
        wide=True,
    )


def _heat_view(
    one: Tested,
    measure: Measure,
    kept: Sequence[Tested],
    mixes: Sequence[int],
    sizes: Sequence[int],
    *,
    several: bool,
) -> HeatView:
    shown, result = one
    every = [v for other in kept for v in _values(other[1], measure).values() if v]
    found = _values(result, measure)
    missing = [cell.missing for group in result.groups for cell in group.cells if cell.missing]
    return HeatView(
        label=f"{measure.short}, {shown.label}" if several else measure.short,
        run=shown.index,
        title=measure.title,
        quantity=measure.quantity,
        values=tuple(tuple(found.get((mix, size)) for mix in mixes) for size in sizes),
        range=(min(every, default=1.0), max(every, default=1.0)),
        better=measure.better,
        absent=f"not measured: {missing[0]}" if missing else None,
    )


def over_blocks(name: str, title: str, kept: Sequence[Tested], measure: Measure, how: str) -> Figure:
    """Return lines over block sizes: a line for each mix; of several runs, a view for each mix."""
    sizes = _sizes(kept)
    ticks = tuple((float(size), block_text(size)) for size in sizes)
    axes = (Axis("block, log", "bytes", "log", ticks), Axis(f"{measure.title}, log", measure.quantity, "log"))
    lines = {
        mix: tuple(
            Line(shown.index, _mix(mix) if len(kept) == 1 else "", mix < 50, _dots(result, measure, mix))
            for shown, result in kept
        )
        for mix in _mixes(kept)
    }
    if len(kept) > 1:
        views = [XyView(f"R/W {_mix(mix)}", *axes, of_mix) for mix, of_mix in lines.items()]
    else:
        views = [XyView(measure.short, *axes, tuple(line for of_mix in lines.values() for line in of_mix))]
    return Figure(
        id=name,
        title=title,
        lead="Each line is a share of reads; mixes with more writes than reads are dashed.",
        described=f"{title}: {measure.title} over {len(sizes)} block sizes.",
        chart=XyChart(tuple(views)),
        tables=tuple(grid(one, measure) for one in kept),
        measured=(how,),
        buttons=(Buttons("view", "Mix", tuple(view.label for view in views)),) if len(views) > 1 else (),
        wide=True,
    )


def bars(name: str, title: str, kept: Sequence[Tested], group: str, measure: Measure, how: str) -> Figure:
    """Return a group's cells as bars, reads and writes apart."""
    of_group = [(shown, each) for shown, result in kept for each in result.groups if each.group == group]
    names = dict.fromkeys(cell.read_pct for _, each in of_group for cell in each.cells)
    groups = tuple(
        BarGroup(
            f"R/W {_mix(mix)}",
            tuple(
                Bar(shown.index, value, "")
                for shown, each in of_group
                for cell in each.cells
                if cell.read_pct == mix and (value := measure.of(each, cell)) is not None
            ),
        )
        for mix in names
    )
    view = BarsView(measure.short, Axis(measure.title, measure.quantity), measure.better, groups)
    return Figure(
        id=name,
        title=title,
        lead="Mean over the reported rounds; further right is better.",
        described=f"{title}: see the table.",
        chart=BarsChart((view,)),
        tables=tuple(grid(one, measure, group) for one in kept),
        measured=(how,),
        wide=True,
    )


def grid(one: Tested, measure: Measure, group: str | None = None) -> Table:
    """Return blocks down and mixes across, as the specification prints them."""
    shown, result = one
    every = [(each, cell) for each in result.groups if group in (None, each.group) for cell in each.cells]
    mixes = sorted({cell.read_pct for _, cell in every}, reverse=True)
    rows: list[tuple[numbers.Cell, ...]] = []
    for size in sorted({cell.block_bytes for _, cell in every}):
        found = {cell.read_pct: (each, cell) for each, cell in every if cell.block_bytes == size}
        missing = next((cell.missing for _, cell in found.values() if cell.missing), None)
        if missing is not None:
            reason = numbers.Cell(f"not measured: {missing}", numeric=False, span=len(mixes))
            rows.append((numbers.block(size), reason))
            continue
        cells = (
            measure.cell(measure.of(*found[mix])) if mix in found else numbers.words("") for mix in mixes
        )
        rows.append((numbers.block(size), *cells))
    head = ("Block", *(_mix(mix) for mix in mixes))
    return Table(f"{shown.label}: {measure.title}, by R/W mix", head, tuple(rows))


def _values(result: PtsResult, measure: Measure) -> dict[tuple[int, int], float]:
    return {
        (cell.read_pct, cell.block_bytes): value
        for group in result.groups
        for cell in group.cells
        if not cell.missing and (value := measure.of(group, cell)) is not None
    }


def _dots(result: PtsResult, measure: Measure, mix: int) -> tuple[Dot, ...]:
    found = sorted((size, value) for (of, size), value in _values(result, measure).items() if of == mix)
    return tuple(Dot(float(size), value) for size, value in found)


def _mixes(kept: Sequence[Tested]) -> list[int]:
    return sorted(
        {cell.read_pct for _, r in kept for group in r.groups for cell in group.cells}, reverse=True
    )


def _sizes(kept: Sequence[Tested]) -> list[int]:
    return sorted({cell.block_bytes for _, r in kept for group in r.groups for cell in group.cells})


def _mix(read_pct: int) -> str:
    return f"{read_pct}/{100 - read_pct}"
