"""Findings and tables of measured points, for jobs and for methods without a kind of result of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lab.presented.steady import check_claim
from ssdlab.model.units import counted
from ssdlab.model.workload import flush_words
from ssdlab.results import cells
from ssdlab.results.cells import Cell, Table
from ssdlab.results.claim import Amount, Claim, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ssdlab.lab.kinds import PointsResult
    from ssdlab.lab.outcome import UnknownResult
    from ssdlab.results.metric import Metric
    from ssdlab.results.points import FlushPoint
    from ssdlab.results.schema import (
        JobResult,
        Latencies,
        Point,
        ResultBase,
    )

LATENCIES = ("min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")
OF_POWER = ("W", "kIOPS/W", "MB/s/W")
"""Units of power and efficiency."""
_THROUGHPUT = (
    "Block",
    "Workers",
    "Depth each",
    "IOPS",
    "MB/s",
    "Slowest interval",
    "Mean interval",
    "Fastest interval",
    "Deviation",
    "Intervals",
    "In flight",
    "Little",
    "I/Os",
    "Failed",
    "Time",
)
_HOST = (
    "Threads",
    "Cores",
    "Threads per core",
    "CPU busy",
    "Run-queue delay",
    "Own CPU time",
    "CPU per I/O",
    "Limit",
    "Why",
)


def throughput(points: Sequence[Point], marked: int | None = None) -> Table:
    """Return a table of IOPS, MB/s, their spread over the intervals, and the depth that was reached.

    "Little" is IOPS x mean service time / I/Os in flight: 1 when rate, latency and depth agree.
    """
    rows = tuple((cells.words(point.label), *_throughput_cells(point)) for point in points)
    return Table(
        "Throughput and depth; intervals in IOPS",
        ("Point", *_THROUGHPUT),
        rows,
        brief=("Point", "IOPS", "MB/s", "Slowest interval", "Fastest interval", "In flight", "Failed"),
        marked=marked,
    )


def _throughput_cells(point: Point) -> tuple[Cell, ...]:
    asked = (cells.block(point.block_bytes), cells.count(point.workers), cells.count(point.depth))
    if point.missing is not None:
        return (*asked, Cell(point.missing, numeric=False, span=len(_THROUGHPUT) - len(asked)))
    spread = point.spread_iops
    return (
        *asked,
        cells.iops(point.iops),
        cells.throughput(point.mb_s),
        cells.iops(spread.min if spread else None),
        cells.iops(spread.mean if spread else None),
        cells.iops(spread.max if spread else None),
        cells.iops(spread.sd if spread else None),
        cells.count(spread.n if spread else None),
        cells.plain(point.in_flight),
        cells.plain(point.little_ratio),
        cells.count(point.ios),
        cells.count(point.failed),
        cells.seconds(point.seconds),
    )


def latencies(points: Sequence[Point]) -> tuple[Table, ...]:
    """Return tables of the points' service times, and of their response times if those differ."""
    measured = [point for point in points if point.missing is None]
    if not differ(measured):
        title = "Latency: service and response times are equal, as every I/O starts when due"
        return (_latency(title, [(point, point.service_ns) for point in measured]),)
    return (
        _latency("Service time (submit to complete)", [(each, each.service_ns) for each in measured]),
        _latency(
            "Response time (intended start to complete)", [(each, each.response_ns) for each in measured]
        ),
    )


def differ(points: Iterable[Point]) -> bool:
    """Return whether response times differ from service times, as in an open loop or with think time."""
    return any(point.service_ns != point.response_ns for point in points)


def _latency(title: str, rows: Sequence[tuple[Point, Latencies | None]]) -> Table:
    body = tuple(
        (cells.words(point.label), *(cells.latency((stored or {}).get(name)) for name in LATENCIES))
        for point, stored in rows
    )
    brief = ("Point", "mean", "p50", "p99", "p99.9", "p99.99", "max")
    return Table(title, ("Point", *LATENCIES), body, brief=brief)


def flushes(found: Sequence[FlushPoint]) -> Table:
    """Return a table of the flushes after writes, which are not I/Os and appear in no other figure."""
    rows = tuple(
        (
            cells.words(each.label),
            cells.words(flush_words(each.call, each.every)),
            cells.count(each.flushes),
            cells.count(each.failed),
            *(cells.latency(each.latency_ns.get(name)) for name in LATENCIES),
        )
        for each in found
    )
    brief = ("Point", "Flush", "Flushes", "Failed", "mean", "p50", "p99", "p99.9", "max")
    return Table("Latency of flushes", ("Point", "Flush", "Flushes", "Failed", *LATENCIES), rows, brief=brief)


def host(points: Sequence[Point]) -> Table:
    """Return a table of the host's load at each measured point, and whether it was the limit."""
    rows = tuple((cells.words(point.label), *_host_cells(point)) for point in points if point.missing is None)
    return Table("Load of the host at each point", ("Point", *_HOST), rows, brief=("Point", "Limit", "Why"))


def _host_cells(point: Point) -> tuple[Cell, ...]:
    load, verdict = point.host, point.attribution
    return (
        cells.count(load.threads if load else None),
        cells.count(load.cores if load else None),
        cells.plain(load.threads / load.cores if load and load.cores else None),
        cells.share(load.cpu_busy_share if load else None),
        cells.share(load.run_queue_delay_share if load else None),
        cells.seconds(load.own_cpu_s if load else None),
        cells.latency(point.cpu_per_io_ns),
        cells.words(verdict.limit if verdict else cells.NOTHING),
        cells.words("; ".join(verdict.reasons) if verdict else ""),
    )


def tables_of_points(points: Sequence[Point], marked: int | None = None) -> tuple[Table, ...]:
    """Return tables of each point's throughput and latency, and of the host's load if it was the limit."""
    limited = [point for point in points if point.attribution and point.attribution.limit == "host"]
    return (throughput(points, marked), *latencies(points), *((host(limited),) if limited else ()))


def figure_words(figure: Metric) -> str:
    return figure.words


def scalars_table(result: ResultBase) -> Table:
    rows = tuple((cells.words(each.marked), cells.words(figure_words(each))) for each in result.scalars)
    return Table("Headline figures", ("Figure", "Value"), rows)


def scalars_tables(result: ResultBase) -> tuple[Table, ...]:
    """Return the headline figures as tables, for a kind that has no tables of its own."""
    return (scalars_table(result),)


def speed(point: Point) -> Amount:
    """Return a point's throughput: IOPS for random I/O, else MB/s."""
    if point.pattern == "random":
        return Amount(point.iops, "IOPS")
    return Amount(point.mb_s, "MB/s")


def job_findings(result: JobResult) -> Iterator[Claim]:
    """Yield the throughput of each step, and the latency of its flushes."""
    for point in result.points:
        yield Claim(
            "{name} {figure}",
            figure=speed(point),
            evidence=Evidence(() if point.ordinal is None else (point.ordinal,)),
            others={"name": point.label},
        )
    for each in result.flushes:
        key = next((key for key in ("p99", "mean") if each.latency_ns.get(key) is not None), None)
        if key is not None:
            yield Claim(
                "{name}, {key} of {call} {figure}",
                figure=Amount(each.latency_ns[key], "ns"),
                evidence=Evidence((each.ordinal,)),
                others={"name": each.label, "key": key, "call": each.call},
            )


def points_findings(result: PointsResult) -> Iterator[Claim]:
    """Yield whether the drive's state lasted, and the headline figures without those of power."""
    yield from map(check_claim, result.checks)
    figures = [each for each in result.scalars if each.unit not in OF_POWER]
    steps = tuple(point.ordinal for point in result.points if point.ordinal is not None)
    for each in figures:
        yield Claim(
            "{name} {figure}",
            figure=Amount(each.value, each.unit),
            evidence=Evidence(steps),
            others={"name": each.marked},
        )
    if not figures:
        yield Claim(counted(len(result.points), "point"), evidence=Evidence(steps))


def points_tables(result: PointsResult | JobResult) -> tuple[Table, ...]:
    """Return tables of every point, and of the flushes of jobs."""
    flushed = getattr(result, "flushes", ())
    return (*tables_of_points(result.points), *((flushes(flushed),) if flushed else ()))


def unknown_findings(result: UnknownResult) -> Iterator[Claim]:
    """Yield why only the headline figures can be shown."""
    yield Claim("{why}", others={"why": result.unknown.rstrip(".")})


def headline_findings(result: ResultBase) -> Iterator[Claim]:
    """Yield the headline figures, for a kind that has no findings of its own."""
    for each in result.scalars:
        yield Claim(
            "{name}: {figure}",
            figure=Amount(each.value, each.unit),
            others={"name": each.marked},
        )
