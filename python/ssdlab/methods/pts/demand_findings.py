"""Findings of SNIA's demand tests, with tables of the grid and the three points."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from ssdlab.plugin import Amount, Claim, Evidence, Table, cells, numbered_text

from .findings import (
    Window,
    cut_claim,
    failed_text,
    found_text,
    open_points,
    rounds_since_cut,
    window_claim,
    window_table,
)
from .series_findings import window_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ssdlab.plugin import Cell

    from .result import DemandCell, DemandPoint, DemandResult


def findings(result: DemandResult) -> Iterator[Claim]:
    samples, rounds = result.samples, result.rounds
    before = (
        f"steady in {numbered_text('sample', samples.first, samples.last)}"
        if samples.steady
        else f"steady state {found_text(samples)}"
    )
    after = (
        f"steady in {numbered_text('round', rounds.first, rounds.last)}"
        if rounds.steady
        else f"steady state {rounds.verdict} in {rounds_since_cut(rounds)}"
    ) + failed_text(Window.each_of(rounds), rounds)
    yield window_claim(
        "By {of}: preconditioning, {verdict}",
        window_of(samples),
        Evidence((result.writes.ordinal,)),
        {"of": f"{result.setting} of {result.specification}", "verdict": before},
    )
    yield window_claim(
        "Demand variation, {verdict}",
        Window.of_rounds(rounds),
        Evidence(
            tuple(ordinal for cell in result.cells for ordinal in cell.ordinals),
            (rounds.first - 1, rounds.last - 1),
        ),
        {"verdict": after},
    )
    for point in result.points:
        if point.missing is None:
            yield Claim(
                "{name} {figure} at {demand}, ART {art}",
                figure=Amount(point.window_iops, "IOPS"),
                evidence=_of_window(result, point),
                others={
                    "name": point.name,
                    "demand": demand(point),
                    "art": Amount(point.window_mean_ns, "ns"),
                },
            )
    yield from _lost(result)


def _lost(result: DemandResult) -> Iterator[Claim]:
    """Yield claims on interruptions, on missing points, and on reads from unwritten blocks."""
    if result.rounds.cuts:
        yield cut_claim(result.rounds)
    if result.measured_anew:
        yield Claim(
            "{names} measured after an interruption: the drive was preconditioned again, without new rounds",
            others={"names": " and ".join(result.measured_anew)},
        )
    missing = [point for point in result.points if point.missing is not None]
    if missing:
        names = " and ".join(point.name for point in missing)
        yield Claim("{names} not measured: {why}", others={"names": names, "why": missing[0].missing or ""})
    if result.unwritten_share is not None:
        yield Claim(
            "Up to {figure} of the reads went to blocks not written since the purge: the test has no "
            "sequential preconditioning, and such reads touch no flash",
            figure=Amount(100 * result.unwritten_share, "%"),
            evidence=Evidence((result.writes.ordinal,)),
        )


def _of_window(result: DemandResult, point: DemandPoint) -> Evidence:
    """Return the evidence of a point's mean: the steps of its cell in the window's rounds."""
    rounds = result.rounds
    steps = (
        cell.ordinals[rounds.first - 1 : rounds.last]
        for cell in result.cells
        if (cell.threads, cell.depth) == (point.threads, point.depth)
    )
    return Evidence(tuple(ordinal for each in steps for ordinal in each), (rounds.first - 1, rounds.last - 1))


def demand(point: DemandPoint) -> str:
    """Return a point's demand: ``TC32 QD16``."""
    return f"TC{point.threads} QD{point.depth}"


def iops(result: DemandResult, cell: DemandCell) -> float | None:
    return result.rounds.of_window(cell.iops)


def mb_s(result: DemandResult, cell: DemandCell) -> float | None:
    return result.rounds.of_window(cell.mb_s)


def art_ns(result: DemandResult, cell: DemandCell) -> float | None:
    return result.rounds.of_window(cell.mean_ns)


def cpu_share(result: DemandResult, cell: DemandCell) -> float | None:
    """Return the mean busy share of all CPUs (0 to 1) in the window; None if unknown."""
    window = cell.cpu_busy_share[result.rounds.first - 1 : result.rounds.last]
    known = [share for share in window if share is not None]
    return fmean(known) if known else None


def grid(result: DemandResult, what: str, of: Callable[[DemandResult, DemandCell], Cell]) -> Table:
    """Return a table with a row for each thread count, a column for each depth, and `of` as the cells."""
    by_pair = {(cell.threads, cell.depth): cell for cell in result.cells}
    depths = sorted({depth for _, depth in by_pair})
    rows = tuple(
        (cells.words(f"TC{threads}"), *(of(result, by_pair[threads, depth]) for depth in depths))
        for threads in sorted({threads for threads, _ in by_pair})
    )
    return Table(what, ("Threads", *(f"QD{depth}" for depth in depths)), rows)


def iops_grid(result: DemandResult) -> Table:
    return grid(result, "IOPS", lambda *each: cells.iops(iops(*each)))


def art_grid(result: DemandResult) -> Table:
    return grid(result, "ART", lambda *each: cells.latency(art_ns(*each)))


def cpu_grid(result: DemandResult) -> Table:
    return grid(result, "busy share of all CPUs", lambda *each: cells.share(cpu_share(*each)))


def by_flight(result: DemandResult) -> Table:
    rows = tuple(
        (
            cells.count(cell.in_flight),
            cells.words(f"TC{cell.threads} QD{cell.depth}"),
            cells.iops(iops(result, cell)),
            cells.throughput(mb_s(result, cell)),
            cells.latency(art_ns(result, cell)),
        )
        for cell in sorted(result.cells, key=lambda cell: (cell.in_flight, cell.threads))
    )
    return Table("by I/Os in flight", ("TOIO", "Demand", "IOPS", "MB/s", "ART"), rows)


def three_points(result: DemandResult) -> Table:
    head = ("Point", "Demand", "IOPS", "ART", "IOPS of the histogram", "Why missing")
    rows = tuple(
        (
            cells.words(point.name),
            cells.words(cells.NOTHING if point.missing else demand(point)),
            cells.iops(None if point.missing else point.window_iops),
            cells.latency(None if point.missing else point.window_mean_ns),
            cells.iops(None if point.histogram is None else point.histogram.iops),
            cells.words(point.missing or ""),
        )
        for point in result.points
    )
    return Table("The three points", head, rows)


def tables(result: DemandResult) -> tuple[Table, ...]:
    rounds = result.rounds
    windows = [
        window_of(result.samples),
        *Window.each_of(rounds),
    ]
    return (
        window_table([window for window in windows if window.variable.mean is not None]),
        three_points(result),
        iops_grid(result),
        art_grid(result),
        cpu_grid(result),
        *open_points(result),
    )
