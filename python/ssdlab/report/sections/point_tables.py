"""The tables under the charts: everything that is known of each measured point."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ssdlab.report import numbers
from ssdlab.report.numbers import Cell, Table
from ssdlab.report.view import Exhibit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Latencies, Point

    Rows = Sequence[tuple[Shown, Point]]

LATENCIES = ("min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")
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


def tables_of(rows: Rows) -> tuple[Table, ...]:
    """Throughput and latency of every point."""
    return (throughput(rows), *latencies(rows))


def throughput(rows: Rows) -> Table:
    """IOPS, MB/s, their spread over the intervals, and whether the depth was reached.

    "Little" is IOPS x mean service time / I/Os in flight: 1 when rate, latency and depth agree.
    """
    many = _several(rows)
    body = tuple((*_named(shown, point, many), *_throughput_cells(point)) for shown, point in rows)
    return Table("Throughput and depth; intervals in IOPS", (*_name_head(many), *_THROUGHPUT), body)


def _throughput_cells(point: Point) -> tuple[Cell, ...]:
    asked = (numbers.block(point.block_bytes), numbers.count(point.workers), numbers.count(point.depth))
    if point.missing is not None:
        return (*asked, Cell(point.missing, numeric=False, span=len(_THROUGHPUT) - len(asked)))
    spread = point.spread_iops
    return (
        *asked,
        numbers.iops(point.iops),
        numbers.throughput(point.mb_s),
        numbers.iops(spread.min if spread else None),
        numbers.iops(spread.mean if spread else None),
        numbers.iops(spread.max if spread else None),
        numbers.iops(spread.sd if spread else None),
        numbers.count(spread.n if spread else None),
        numbers.plain(point.in_flight),
        numbers.plain(point.little_ratio),
        numbers.count(point.ios),
        numbers.count(point.failed),
        numbers.seconds(point.seconds),
    )


def latencies(rows: Rows) -> tuple[Table, ...]:
    """Service times, and response times where they are not the same."""
    measured = [(shown, point) for shown, point in rows if point.missing is None]
    if not differ(point for _, point in measured):
        title = "Latency; service and response are one here, as every I/O starts when it is due"
        return (_latency(title, [(shown, point, point.service_ns) for shown, point in measured]),)
    return (
        _latency("Service time (submit to complete)", [(s, p, p.service_ns) for s, p in measured]),
        _latency("Response time (intended start to complete)", [(s, p, p.response_ns) for s, p in measured]),
    )


def differ(points: Iterable[Point]) -> bool:
    """Return whether some response times are not the service times: under an open loop, or think time."""
    return any(point.service_ns != point.response_ns for point in points)


def _latency(title: str, rows: Sequence[tuple[Shown, Point, Latencies | None]]) -> Table:
    many = len({shown.index for shown, _, _ in rows}) > 1
    body = tuple(
        (*_named(shown, point, many), *(numbers.latency((stored or {}).get(name)) for name in LATENCIES))
        for shown, point, stored in rows
    )
    return Table(title, (*_name_head(many), *LATENCIES), body)


def host(rows: Rows) -> tuple[Exhibit, ...]:
    """Return what the host did at each point, and whether it was the limit; nothing of simulated drives.

    Those keep their own time, in which no host stands between thread and drive.
    """
    rows = [(shown, point) for shown, point in rows if not shown.run.manifest.drive.capabilities.virtual_time]
    if not rows:
        return ()
    many = _several(rows)
    body = tuple(
        (*_named(shown, point, many), *_host_cells(point)) for shown, point in rows if point.missing is None
    )
    limits = Counter(point.attribution.limit for _, point in rows if point.attribution is not None)
    counts = ", ".join(f"{name} {times}" for name, times in limits.most_common())
    exhibit = Exhibit(
        "Drive or host?",
        f"Points by limit: {counts or 'unknown'}. A tail belongs to the drive only where threads did not "
        "wait for a CPU: run-queue delay is the time they were ready but not running, as a share of the time "
        "they ran or were ready.",
        (Table("Load of the host at each point", (*_name_head(many), *_HOST), body),),
    )
    return (exhibit,)


def _host_cells(point: Point) -> tuple[Cell, ...]:
    load, verdict = point.host, point.attribution
    return (
        numbers.count(load.threads if load else None),
        numbers.count(load.cores if load else None),
        numbers.plain(load.threads / load.cores if load and load.cores else None),
        numbers.share(load.cpu_busy_share if load else None),
        numbers.share(load.run_queue_delay_share if load else None),
        numbers.seconds(load.own_cpu_s if load else None),
        numbers.latency(point.cpu_per_io_ns),
        numbers.words(verdict.limit if verdict else numbers.NOTHING),
        numbers.words("; ".join(verdict.reasons) if verdict else ""),
    )


def _several(rows: Rows) -> bool:
    return len({shown.index for shown, _ in rows}) > 1


def _name_head(many: bool) -> tuple[str, ...]:
    return ("Run", "Point") if many else ("Point",)


def _named(shown: Shown, point: Point, many: bool) -> tuple[Cell, ...]:
    name = numbers.words(point.label)
    return (numbers.of_run(shown.label, shown.index), name) if many else (name,)
