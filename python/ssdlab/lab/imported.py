"""Results imported from another program: the figures that it reported, and what is missing.

Latency clocks keep fio's names. Tables and exports show clat as service time, although fio starts clat only
after the submission. In a closed loop, lat is the response time. With a rate it is not, because fio does not
start lat when the I/O is due.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from ssdlab.lab.presented.points import LATENCIES
from ssdlab.model.frozen import Stored
from ssdlab.model.summary import Direction
from ssdlab.model.units import capacity_text
from ssdlab.results import cells
from ssdlab.results.cells import Cell, Table
from ssdlab.results.claim import Amount, Claim, Evidence
from ssdlab.results.schema import Latencies, Point, ResultBase, Spread

Clock = Literal["slat", "clat", "lat"]
FILES = "Files"
PROSE = """What fio measured, imported from its output by `ssdlab import`.

Question
    Whatever the job file asked. Each job gives a row for each direction.

Procedure
    None of ssdlab's. Counts, bytes and times are those of the file, which is kept with the run. Percentiles
    of several jobs are of their bins, added up; without bins there are none.

Source
    The file, with its SHA-256, and the logs beside it.

What it cannot show
    In which state the drive was, what else the host did, and whether I/Os came late.
"""


class ImportedFile(Stored):
    """An imported file; the first one is kept in the run folder."""

    name: str
    bytes: int
    sha256: str


class ImportedPoint(Stored):
    """The result of one job in one direction; None: fio does not report the value."""

    label: str
    job: str
    ordinal: int = Field(description="step of the run for the job")
    direction: Direction
    pattern: Literal["random", "sequential"] | None
    block: str | None = Field(description="as in the job: 4k, or the value of bssplit")
    jobs: int | None
    depth: int | None = Field(description="iodepth of each of its jobs")
    engine: str | None
    seconds: float
    ios: int | None
    bytes: int
    short: int = Field(description="I/Os that moved less than requested")
    dropped: int
    iops: float
    mb_s: float
    spread_iops: Spread | None = Field(default=None, description="over the intervals of logs or statuses")
    clock: Clock | None = Field(
        default=None,
        description="clock of headline figures and charts: lat, else the one with percentiles",
    )
    clocks: dict[Clock, Latencies] = Field(default={}, description="reported latencies by clock")
    closed: bool = Field(description="no rate and no think time: lat is the response time")

    @property
    def latencies(self) -> Latencies:
        """Latencies of the clock that the headline figures use; empty without such a clock."""
        return self.clocks.get(self.clock, {}) if self.clock else {}

    @property
    def drawn(self) -> Point:
        """The point for charts; its latencies are given as both service and response times."""
        return Point(
            label=self.label,
            direction=self.direction,
            pattern=self.pattern or "random",
            block_bytes=round(self.bytes / self.ios) if self.ios else 1,
            workers=self.jobs or 1,
            depth=self.depth or 1,
            engine=self.engine or "",
            ordinal=self.ordinal,
            seconds=self.seconds,
            ios=self.ios,
            iops=self.iops,
            mb_s=self.mb_s,
            spread_iops=self.spread_iops,
            service_ns=self.latencies,
            response_ns=self.latencies,
        )


class ImportedSync(Stored):
    """The fsync, fdatasync or sync_file_range calls of a job, which are not counted as I/Os."""

    label: str
    job: str
    ordinal: int
    syncs: int | None
    latencies: Latencies


class ImportedResult(ResultBase):
    """The content of one result file of another program."""

    kind: Literal["imported"] = "imported"
    program: str = Field(description="as it calls itself: fio-3.33")
    files: tuple[ImportedFile, ...] = Field(min_length=1)
    points: tuple[ImportedPoint, ...]
    syncs: tuple[ImportedSync, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what is missing, and why")


def findings(result: ImportedResult) -> Iterator[Claim]:
    """Yield each job's throughput and p99 latency, the latency of its syncs, and the notes."""
    for point in result.points:
        amount = Amount(point.iops, "IOPS")
        if point.pattern == "sequential":
            amount = Amount(point.mb_s, "MB/s")
        tail = point.latencies.get("p99")
        more = "" if tail is None else f", {point.clock} p99 {Amount(tail, 'ns')}"
        yield Claim(
            "job {name}: {figure}{more}",
            figure=amount,
            evidence=Evidence((point.ordinal,)),
            others={"name": point.label, "more": more},
        )
    for sync in result.syncs:
        which = "mean" if sync.latencies.get("p99") is None else "p99"
        yield Claim(
            "job {name}: {which} {figure}",
            figure=Amount(sync.latencies.get(which), "ns"),
            evidence=Evidence((sync.ordinal,)),
            others={"name": sync.label, "which": which},
        )
    for why in result.notes:
        yield Claim("note on {why}", others={"why": why})


def tables(result: ImportedResult) -> tuple[Table, ...]:
    """Return the tables of throughput, latencies, syncs and files, without empty tables."""
    found = (
        throughput(result.points),
        latencies(result.points),
        _syncs(result.syncs),
        Table(
            FILES,
            ("File", "Size", "SHA-256"),
            tuple(
                (
                    cells.words(each.name),
                    Cell(capacity_text(each.bytes), str(each.bytes)),
                    cells.words(each.sha256),
                )
                for each in result.files
            ),
        ),
    )
    return tuple(table for table in found if table.rows)


def throughput(points: tuple[ImportedPoint, ...]) -> Table:
    """Return a table of each job's load and throughput."""
    head = ("Job", "Block", "Order", "Jobs", "Depth each", "Engine", "IOPS", "MB/s", "Slowest interval",
            "Fastest interval", "Intervals", "I/Os", "Short", "Dropped", "Time")  # fmt: skip
    rows = tuple(
        (
            cells.words(point.label),
            cells.words(point.block or cells.NOTHING),
            cells.words(point.pattern or cells.NOTHING),
            cells.count(point.jobs),
            cells.count(point.depth),
            cells.words(point.engine or cells.NOTHING),
            cells.iops(point.iops),
            cells.throughput(point.mb_s),
            cells.iops(point.spread_iops.min if point.spread_iops else None),
            cells.iops(point.spread_iops.max if point.spread_iops else None),
            cells.count(point.spread_iops.n if point.spread_iops else None),
            cells.count(point.ios),
            cells.count(point.short),
            cells.count(point.dropped),
            cells.seconds(point.seconds),
        )
        for point in points
    )
    brief = ("Job", "Block", "Depth each", "IOPS", "MB/s", "Short")
    return Table("Throughput of imported jobs; intervals in IOPS", head, rows, brief=brief)


def latencies(points: tuple[ImportedPoint, ...]) -> Table:
    """Return a table of latencies, with a row for each job and clock."""
    rows = tuple(
        (cells.words(point.label), cells.words(clock), *_latencies(stated))
        for point in points
        for clock, stated in point.clocks.items()
    )
    brief = ("Job", "Clock", "mean", "p50", "p99", "p99.9", "max")
    title = "Latency by fio's clocks: slat to submit, clat from submission to completion, lat in all"
    return Table(title, ("Job", "Clock", *LATENCIES), rows, brief=brief)


def _syncs(syncs: tuple[ImportedSync, ...]) -> Table:
    rows = tuple(
        (cells.words(each.label), cells.count(each.syncs), *_latencies(each.latencies)) for each in syncs
    )
    return Table("Latency of syncs", ("Job", "Syncs", *LATENCIES), rows)


def _latencies(stated: Latencies) -> tuple[Cell, ...]:
    return tuple(cells.latency(stated.get(name)) for name in LATENCIES)
