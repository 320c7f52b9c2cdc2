"""The tables below the charts, with all data of each measured point."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.lab.presented import points
from ssdlab.report.links import attribution_of
from ssdlab.report.together import joined
from ssdlab.report.view import Exhibit
from ssdlab.results.cells import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Point

    Rows = Sequence[tuple[Shown, Point]]


def tables_of(rows: Rows) -> tuple[Table, ...]:
    """Return the tables of throughput and latency of all points."""
    return (throughput(rows), *latencies(rows))


def throughput(rows: Rows) -> Table:
    """Return IOPS, MB/s, their spread over the intervals, and whether the depth was reached."""
    return _with_runs(rows, points.throughput([point for _, point in rows]))


def latencies(rows: Rows) -> tuple[Table, ...]:
    """Return the service times of the measured points, and their response times if different."""
    measured = [(shown, point) for shown, point in rows if point.missing is None]
    return tuple(_with_runs(measured, table) for table in points.latencies([point for _, point in measured]))


def _with_runs(rows: Rows, table: Table) -> Table:
    """Return the table of these points, with a column for the run if there are several runs."""
    if not _several(rows):
        return table
    runs = [shown for shown, _ in rows]
    return joined([(shown, replace(table, rows=(row,))) for shown, row in zip(runs, table.rows, strict=True)])


def host(rows: Rows) -> tuple[Exhibit, ...]:
    """Return the host's load at each point, and whether the host limited it.

    Simulated drives have no rows, since virtual time has no host.
    """
    rows = [(shown, point) for shown, point in rows if not shown.run.manifest.drive.capabilities.virtual_time]
    if not rows:
        return ()
    rows = [
        (shown, point.model_copy(update={"attribution": attribution_of(point, shown.style.link_mb_s)}))
        for shown, point in rows
    ]
    measured = [(shown, point) for shown, point in rows if point.missing is None]
    limits = Counter(point.attribution.limit for _, point in rows if point.attribution is not None)
    counts = ", ".join(f"{name} {times}" for name, times in limits.most_common())
    exhibit = Exhibit(
        "Drive or host?",
        f"Points by limit: {counts or 'unknown'}. A tail is the drive's only if threads did not wait for a "
        "CPU. Run-queue delay is the share of runnable time that threads spent waiting.",
        (_with_runs(measured, points.host([point for _, point in measured])),),
    )
    return (exhibit,)


def _several(rows: Rows) -> bool:
    return len({shown.index for shown, _ in rows}) > 1
