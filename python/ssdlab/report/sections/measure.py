"""Single workloads: `ssdlab measure --save`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.lab.presented.points import LATENCIES
from ssdlab.model.summary import DIRECTIONS
from ssdlab.report.runs import with_result
from ssdlab.report.sections import over_time, percentiles
from ssdlab.report.tree import flat
from ssdlab.report.view import Exhibit, Section
from ssdlab.results import cells
from ssdlab.results.cells import Cell, Table
from ssdlab.results.schema import MeasureResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.model.summary import Side, Summary
    from ssdlab.report.runs import Shown

_COUNTS = ("requested", "ios", "failed", "dropped", "late")
_INSIDE = {"service_ns", "response_ns", "errors", *_COUNTS, "bytes"}


def measured(runs: Sequence[Shown]) -> Section:
    """All runs of `measure`, side by side."""
    kept = with_result(runs, MeasureResult)
    latencies = tuple(_latencies(shown, result.summary, many=len(kept) > 1) for shown, result in kept)
    tables = tuple(table for shown, result in kept for table in _tables(shown, result, many=len(kept) > 1))
    tails = [tail for shown, result in kept for tail in _tails(shown, result.summary)]
    watched = [over_time.Watched(shown, step, "the run") for shown, _ in kept for step in _steps(shown)]
    figures = (
        percentiles.marks("measure", "Latency", tails, latencies) if tails else None,
        percentiles.nines("measure", tails, latencies),
        over_time.figure("measure", watched, "the run"),
    )
    return Section(
        id="measure",
        title="One workload",
        lead=tuple(_finding(shown, result.summary) for shown, result in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(Exhibit("The measurement", "Everything that ssdlab measure returned.", tables),),
    )


def sides(summary: Summary) -> list[tuple[str, Side]]:
    """Return the directions of a measurement that did something, with their figures."""
    return [(name, side) for name, side in summary.sides.items() if side.requested]


def _steps(shown: Shown) -> list[int]:
    return [step.ordinal for step in shown.run.steps if step.result.measurement is not None]


def _finding(shown: Shown, summary: Summary) -> str:
    figures = (cells.of_unit(summary.iops, "IOPS"), cells.of_unit(summary.mb_s, "MB/s"))
    text = f"{shown.label}: {', '.join(figures)}"
    asked = summary.requested_iops
    return text + (f" of {cells.of_unit(asked, 'IOPS')} requested." if asked is not None else ".")


def _tails(shown: Shown, summary: Summary) -> list[percentiles.Tail]:
    steps = _steps(shown)
    ordinal = steps[0] if len(steps) == 1 else None
    return [
        percentiles.Tail(shown, name, "", name, ordinal, side.service_ns, side.response_ns)
        for name, side in sides(summary)
    ]


def _latencies(shown: Shown, summary: Summary, *, many: bool) -> Table:
    of = f", {shown.label}" if many else ""
    rows = tuple(
        (cells.words(f"{name} {clock}"), *(cells.latency(times.get(key)) for key in LATENCIES))
        for name, side in sides(summary)
        for clock, times in (("service", side.service_ns), ("response", side.response_ns))
    )
    return Table(f"Latency{of}", ("Direction", *LATENCIES), rows)


def _tables(shown: Shown, result: MeasureResult, *, many: bool) -> tuple[Table, ...]:
    of = f", {shown.label}" if many else ""
    active = sides(result.summary)
    counts = tuple(
        (
            cells.words(name),
            *(cells.count(getattr(side, key)) for key in _COUNTS),
            cells.count(side.bytes),
            cells.words(", ".join(f"{errno}: {n}" for errno, n in side.errors.items()) or cells.NOTHING),
        )
        for name, side in active
    )
    rest = {
        key: value
        for key, value in result.measurement.items()
        if key not in (*DIRECTIONS, "drive", "warnings")
    }
    whole = tuple((cells.words(name), _plain(value)) for name, value in flat(rest))
    return (
        Table(
            f"I/Os{of}",
            ("Direction", "Requested", "Done", "Failed", "Dropped", "Late", "Bytes", "Errors"),
            counts,
        ),
        Table(f"The whole measurement{of}", ("Key", "Value"), whole),
    )


def _plain(value: Any) -> Cell:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float):
        return cells.words(cells.NOTHING if value in (None, {}, []) else str(value))
    return cells.count(value) if isinstance(value, int) else Cell(repr(value), repr(value))
