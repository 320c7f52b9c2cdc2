"""Report page of performance consistency: IOPS second by second, for each amount of spare area.

It has the reviews' graphs, of the whole run and from 1400 s on, and one from steady state on. Buttons choose
one drive or all, and one spare area or all. The axes stay the same, so that views can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.analysis.ratios import efficiency as work_per_watt
from ssdlab.methods.consistency.result import LATE_FROM_S
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
_ALL = "all drives"
_SEVERAL = ("both", "all")
"""Labels of the button that compares spare areas: if there are two of them, and if more."""
_TOGETHER = 5
"""Maximum number of drives in one plot; more clouds of dots cannot be told apart, so each gets its own."""


@dataclass(frozen=True)
class _Source:
    """One drive with one amount of spare area; `entry` is None if that was not run."""

    drive: str
    spare: str
    entry: ConsistencyEntry | None = None
    rows: over_time.Rows | None = None


@dataclass(frozen=True)
class _Graph:
    """One of the three graphs, with its scales; `begins_s` returns where the graph begins for a drive."""

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
    spares = list(dict.fromkeys(entry.name for _, result in kept for entry in result.entries))
    return [_source(shown, result, spare) for shown, result in kept for spare in spares]


def _source(shown: Shown, result: ConsistencyResult, spare: str) -> _Source:
    entry = next((entry for entry in result.entries if entry.name == spare), None)
    if entry is None:
        return _Source(shown.style.short, spare)
    found = over_time.rows_of(over_time.Watched(shown, entry.ordinal, spare))
    return _Source(shown.style.short, spare, entry, found[0] if found else None)


def _figure(graph: _Graph, sources: Sequence[_Source], how: Sequence[str]) -> Figure | None:
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
    views = [*([_ALL] if len(drives) > 1 else []), *drives]
    variants = [*spares, *([_SEVERAL[len(spares) > 2]] if len(spares) > 1 else [])]
    choices = tuple(_choices(graph, sources, views, variants))
    view, variant = divmod(_first(choices), len(variants))
    return Figure(
        id=f"consistency-{graph.id}",
        title=graph.title,
        lead=f"{graph.lead} One dot a second, lines of medians; the axes are the same for every view.",
        described=f"IOPS of each second, {counted(len(shown), 'run')}. {_stalls(len(iops) - len(positive))}",
        chart=SeriesChart(
            tuple(Measure("iops", scale, _axis(scale, span)) for scale in graph.scales),
            choices,
            variants=len(variants),
            window_s=window_s,
        ),
        tables=(_table_of(graph, shown),),
        measured=(
            *how,
            _stalls(len(iops) - len(positive)),
        ),
        buttons=(
            Buttons("view", "Drive", tuple(views), view),
            Buttons("variant", "Spare area", tuple(variants), variant),
            Buttons("measure", "Scale", graph.scales, graph.scales.index(graph.pressed)),
        ),
        zoom=True,
        wide=True,
    )


def _how(kept: Sequence[Consistent]) -> tuple[str, ...]:
    """Return how the runs were done, as lines below a figure."""
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
    """Yield the rows of each source that has data in a graph, and the second at which the graph begins."""
    for source in sources:
        if source.entry is None or source.rows is None:
            continue
        begin_s = graph.begins_s(source.entry)
        if begin_s is not None and (source.rows.columns["end_s"] > begin_s).any():
            yield source.rows, begin_s


def _after(rows: over_time.Rows, key: str, begin_s: float) -> list[float]:
    found: list[float] = rows.columns[key][rows.columns["end_s"] > begin_s].tolist()
    return found


def _choices(
    graph: _Graph, sources: Sequence[_Source], drives: Sequence[str], spares: Sequence[str]
) -> Iterator[Choice]:
    """Yield what each pair of buttons shows: one source, or the sources that it compares."""
    pairs = [(drive, spare) for drive in drives for spare in spares]
    for drive, spare in pairs:
        label = f"{drive}, {spare}"
        own = [each for each in sources if drive in (_ALL, each.drive) and spare in (*_SEVERAL, each.spare)]
        reached = [each for each in own if list(_shown(graph, [each]))]
        absent = None if reached else graph.absent
        if drive != _ALL and spare not in _SEVERAL:
            tracks = (
                replace(over_time.track(rows, ("end_s", "iops"), from_s=begin_s), name=spare)
                for rows, begin_s in _shown(graph, own)
            )
            yield Choice(label, tuple(tracks), absent=absent)
        else:
            beside = drive == _ALL and (spare in _SEVERAL or len(reached) > _TOGETHER)
            of = tuple(pairs.index((each.drive, each.spare)) for each in reached)
            yield Choice(label, (), absent=absent, of=of, beside=beside or None)


def _axis(scale: Scale, span: tuple[float, float]) -> Axis:
    if scale == "log":
        return Axis("IOPS in the second, log", "iops", "log", range=span)
    return Axis("IOPS in the second", "iops", range=(0.0, span[1]))


def _first(choices: Sequence[Choice]) -> int:
    """Return the index of the choice that opens first: all drives if several, else all spare areas."""
    filled = [at for at, choice in enumerate(choices) if choice.tracks or choice.of]
    if choices[0].of is not None:
        return filled[0]
    return max(filled, key=lambda at: (len(choices[at].of or ()) > 1, -at))


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
