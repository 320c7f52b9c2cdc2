"""Performance consistency: IOPS second by second, for each amount of spare area.

The reviews' three graphs, the third from where the drive is steady as well: buttons choose the drive and the
spare area, and the axes stay, so that switching compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.analysis.consistency import LATE_FROM_S
from ssdlab.analysis.efficiency import efficiency as work_per_watt
from ssdlab.plugin import (
    Axis,
    Buttons,
    Choice,
    Exhibit,
    Figure,
    Measure,
    Scale,
    Section,
    SeriesChart,
    Table,
    block_text,
    cells,
    counted,
    efficiency,
    leads,
    over_time,
    together,
    with_result,
)

from . import result as consistency
from .result import ConsistencyResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

    from .result import ConsistencyEntry

Consistent = tuple["Shown", ConsistencyResult]
_SCALES: tuple[Scale, ...] = ("log", "linear")


@dataclass(frozen=True)
class _Source:
    """One drive with one amount of spare area: what the buttons choose; without an entry it was not run."""

    drive: str
    spare: str
    entry: ConsistencyEntry | None = None
    rows: over_time.Rows | None = None


@dataclass(frozen=True)
class _Graph:
    """One of the three graphs: from when on each source is shown, and on which scales."""

    id: str
    title: str
    lead: str
    begins_s: Callable[[ConsistencyEntry], float | None]
    scales: tuple[Scale, ...]
    pressed: Scale
    absent: str


_GRAPHS = (
    _Graph("whole", "Whole run", "From the first second on.", lambda entry: 0.0, ("log",), "log", "not run"),
    _Graph(
        "late",
        f"From {LATE_FROM_S:g} s",
        "What is left when the fresh blocks are used up.",
        lambda entry: LATE_FROM_S,
        _SCALES,
        "log",
        f"not run, or not for {LATE_FROM_S:g} s",
    ),
    _Graph(
        "steady",
        "From steady state",
        "From where SNIA's rule holds; each drive from its own time.",
        lambda entry: entry.steady_from_s,
        _SCALES,
        "linear",
        "not run, or not shown to be steady",
    ),
)


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of consistency; buttons choose the drive and the spare area, on the same axes."""
    kept = with_result(runs, ConsistencyResult)
    sources = _sources(kept)
    how = _how(kept)
    found = [*(_figure(graph, sources, how) for graph in _GRAPHS), _efficiency(kept)]
    return Section(
        id="consistency",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, consistency.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in found if figure is not None),
        exhibits=(
            Exhibit(
                "Floor and spread",
                "The slowest second and per cent count more than the mean: an application waits for them.",
                (together(kept, consistency.stretches),),
            ),
        ),
    )


def _efficiency(kept: Sequence[Consistent]) -> Figure | None:
    worked = []
    for shown, result in kept:
        for entry in result.entries:
            found = work_per_watt("random", entry.iops, entry.mb_s, entry.mean_w)
            if found is not None and entry.mean_w is not None:
                worked.append(
                    efficiency.Worked(shown, entry.name, "whole run", found, entry.mean_w, "", entry.ordinal)
                )
    return efficiency.figure("consistency", worked)


def _sources(kept: Sequence[Consistent]) -> list[_Source]:
    """Return every spare area of every drive, by drive."""
    spares = list(dict.fromkeys(entry.name for _, result in kept for entry in result.entries))
    return [_source(shown, result, spare) for shown, result in kept for spare in spares]


def _source(shown: Shown, result: ConsistencyResult, spare: str) -> _Source:
    entry = next((entry for entry in result.entries if entry.name == spare), None)
    if entry is None:
        return _Source(shown.style.short, spare)
    found = over_time.rows_of(over_time.Watched(shown, entry.ordinal, spare))
    return _Source(shown.style.short, spare, entry, found[0] if found else None)


def _figure(graph: _Graph, sources: Sequence[_Source], how: Sequence[str]) -> Figure | None:
    """Return a graph; None where no source reaches into it."""
    shown = list(_shown(graph, sources))
    if not shown:
        return None
    iops = [value for rows, begin_s in shown for value in _after(rows, "iops", begin_s)]
    positive = [value for value in iops if value > 0]
    span = (min(positive, default=1.0), max(positive, default=1.0))
    ends = [float(rows.columns["end_s"][-1]) for rows, _ in shown]
    window_s = (min(begin_s for _, begin_s in shown), max(ends))
    drives = list(dict.fromkeys(source.drive for source in sources))
    spares = list(dict.fromkeys(source.spare for source in sources))
    return Figure(
        id=f"consistency-{graph.id}",
        title=graph.title,
        lead=f"{graph.lead} One dot a second; the axes are the same for every view.",
        described=f"IOPS of each second, {counted(len(shown), 'run')}. {_stalls(len(iops) - len(positive))}",
        chart=SeriesChart(
            tuple(Measure("iops", scale, _axis(scale, span)) for scale in graph.scales),
            tuple(_choice(graph, source) for source in sources),
            variants=len(spares),
            window_s=window_s,
        ),
        tables=(_table_of(graph, shown),),
        measured=(
            *how,
            _stalls(len(iops) - len(positive)),
        ),
        buttons=tuple(_buttons(graph, drives, spares, _first(graph, sources))),
        zoom=True,
        wide=True,
    )


def _how(kept: Sequence[Consistent]) -> tuple[str, ...]:
    """Return what was done, as the runs have it."""
    lines = []
    for _, result in kept:
        lines.append(
            f"{block_text(result.block_bytes)} random writes over all that was filled, {result.depth} in "
            "flight, data that does not compress."
        )
        if not result.purged:
            lines.append("The drive was not purged before.")
    return tuple(dict.fromkeys(lines))


def _shown(graph: _Graph, sources: Sequence[_Source]) -> Iterator[tuple[over_time.Rows, float]]:
    """Yield the rows of the sources that reach into a graph, with the time that it begins for them."""
    for source in sources:
        if source.entry is None or source.rows is None:
            continue
        begin_s = graph.begins_s(source.entry)
        if begin_s is not None and (source.rows.columns["end_s"] > begin_s).any():
            yield source.rows, begin_s


def _after(rows: over_time.Rows, key: str, begin_s: float) -> list[float]:
    found: list[float] = rows.columns[key][rows.columns["end_s"] > begin_s].tolist()
    return found


def _choice(graph: _Graph, source: _Source) -> Choice:
    label = f"{source.drive}, {source.spare}"
    for rows, begin_s in _shown(graph, [source]):
        track = over_time.track(rows, ("end_s", "iops"), from_s=begin_s)
        return Choice(label, (track,))
    return Choice(label, (), absent=graph.absent)


def _axis(scale: Scale, span: tuple[float, float]) -> Axis:
    if scale == "log":
        return Axis("IOPS in the second, log", "iops", "log", range=span)
    return Axis("IOPS in the second", "iops", range=(0.0, span[1]))


def _first(graph: _Graph, sources: Sequence[_Source]) -> int:
    """Return the place of the first source that a graph has something of: the page opens with it."""
    return next(at for at, source in enumerate(sources) if list(_shown(graph, [source])))


def _buttons(graph: _Graph, drives: Sequence[str], spares: Sequence[str], first: int) -> Iterator[Buttons]:
    drive, spare = divmod(first, len(spares))
    if len(drives) > 1:
        yield Buttons("view", "Drive", tuple(drives), drive)
    if len(spares) > 1:
        yield Buttons("variant", "Spare area", tuple(spares), spare)
    if len(graph.scales) > 1:
        yield Buttons("measure", "Scale", graph.scales, graph.scales.index(graph.pressed))


def _stalls(count: int) -> str:
    return f"{counted(count, 'second')} completed no I/O; marked." if count else "Every second completed I/O."


def _table_of(graph: _Graph, shown: Sequence[tuple[over_time.Rows, float]]) -> Table:
    rows = []
    for source, begin_s in shown:
        iops = sorted(_after(source, "iops", begin_s))
        who = source.watched.shown
        rows.append(
            (
                cells.of_run(who.label, who.index),
                cells.words(source.watched.button),
                cells.seconds(begin_s),
                cells.count(len(iops)),
                cells.iops(iops[0]),
                cells.iops(iops[len(iops) // 2]),
                cells.iops(iops[-1]),
            )
        )
    head = ("Run", "Spare", "From", "Seconds", "Slowest", "Median", "Fastest")
    return Table(f"{graph.title}: IOPS; every second is in the CSV", head, tuple(rows))
