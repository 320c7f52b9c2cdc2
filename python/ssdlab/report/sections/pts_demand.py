"""SNIA PTS: pages 1 to 14 of demand intensity, and 15 of the composite, in the specification's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.pts_demand import DemandResult
from ssdlab.model.units import span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, XyChart, XyView
from ssdlab.report.numbers import Table
from ssdlab.report.sections import pts_demand_grid, pts_window
from ssdlab.report.sections.pts_demand_page import finding, page
from ssdlab.report.sections.pts_demand_points import pages_of_points, summary
from ssdlab.report.sections.pts_section import of_kind, section_of
from ssdlab.report.sections.pts_window import Judged
from ssdlab.report.view import Exhibit, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.pts_demand_page import Tested
    from ssdlab.report.view import Figure


def section(runs: Sequence[Shown]) -> Section:
    """Return the pages of one of the two tests, all runs in the same charts."""
    kept = of_kind(runs, DemandResult)
    test = kept[0][1].test
    figures = (
        _preconditioning(kept),
        _samples_window(kept),
        _pre_writes(kept),
        pts_demand_grid.convergence(kept),
        _rounds_window(kept),
        pts_demand_grid.variation(kept),
        pts_demand_grid.intensity(kept),
        pts_demand_grid.system_cpu(kept),
        *pages_of_points(kept),
        *((pts_demand_grid.outstanding(kept),) if test == "composite" else ()),
    )
    return section_of(kept, finding, figures, exhibits=(summary(kept), _load(kept)))


def _preconditioning(kept: Sequence[Tested]) -> Figure:
    lines = tuple(_samples(*one) for one in kept)
    result = kept[0][1]
    lead = (
        f"Random writes, {result.threads} threads of {result.depth}. Ringed: the samples of the window, one "
        f"each {span_text(result.samples.every * result.writes.seconds)}."
    )
    chart = XyChart((XyView("IOPS", Axis("time since the purge", "s"), Axis("IOPS", "iops"), lines),))
    tables = tuple(_samples_table(*one) for one in kept)
    return page(kept, 1, "preconditioning, IOPS over time", lead, chart, tables=tables)


def _samples_table(shown: Shown, result: DemandResult) -> Table:
    ends_s = result.writes.ends_s()[:: result.samples.every]
    rows = tuple(
        (numbers.count(at), numbers.seconds(ends), numbers.iops(value))
        for at, (ends, value) in enumerate(zip(ends_s, result.samples.variable.values, strict=True), start=1)
    )
    return Table(f"{shown.label}: samples", ("Sample", "Ends after", "IOPS"), rows)


def _samples(shown: Shown, result: DemandResult) -> Line:
    cycle = result.samples.every
    window = range((result.samples.first - 1) * cycle, (result.samples.last - 1) * cycle + 1, cycle)
    told = zip(result.writes.ends_s(), result.writes.iops, strict=True)
    dots = tuple(
        Dot(ends_s, value, chosen=(at in window) or None, quiet=(at % cycle != 0) or None)
        for at, (ends_s, value) in enumerate(told)
    )
    return Line(shown.index, "", True, dots)


def _samples_window(kept: Sequence[Tested]) -> Figure:
    found = [
        Judged(shown, each.variable, each.steady, each.first, each.last, "sample")
        for shown, result in kept
        for each in (result.samples,)
    ]
    return _window(kept, 2, "preconditioning, steady-state window", found)


def _rounds_window(kept: Sequence[Tested]) -> Figure:
    found = [
        Judged(shown, result.rounds.tracked[0], result.rounds.steady, result.rounds.first, result.rounds.last)
        for shown, result in kept
    ]
    return _window(kept, 5, "demand variation, steady-state window", found)


def _window(kept: Sequence[Tested], number: int, title: str, found: Sequence[Judged]) -> Figure:
    views = tuple(pts_window.view(judged, judged.shown.label) for judged in found)
    return page(
        kept,
        number,
        title,
        pts_window.LEAD,
        XyChart(views),
        tables=(pts_window.table(found),),
        measured=(pts_window.RULE,),
    )


def _pre_writes(kept: Sequence[Tested]) -> Figure:
    values = ((shown.index, result.pre_writes.iops) for shown, result in kept)
    lines = tuple(Line(run, "", True, pts_demand_grid.by_round(iops)) for run, iops in values)
    chart = XyChart((XyView("IOPS", pts_demand_grid.rounds_axis(kept), Axis("IOPS", "iops"), lines),))
    lead = f"Mean IOPS of the writes before each round, {kept[0][1].threads} threads of {kept[0][1].depth}."
    tables = tuple(
        pts_demand_grid.rounds_table(shown.label, {"IOPS": result.pre_writes.iops}) for shown, result in kept
    )
    return page(kept, 3, "pre-writes between rounds", lead, chart, tables=tables)


def _load(kept: Sequence[Tested]) -> Exhibit:
    result = kept[0][1]
    sizes = tuple((numbers.block(each.block_bytes), numbers.share(each.share)) for each in result.blocks)
    tables = [Table("Block sizes", ("Block", "Share of the I/Os"), sizes)]
    if result.ranges:
        rows, begun = [], 0.0
        for each in result.ranges:
            ends = begun + each.range_share
            rows.append((numbers.words(f"{begun:.0%} to {ends:.0%}"), numbers.share(each.share)))
            begun = ends
        tables.append(Table("Places", ("LBAs in use", "Share of the I/Os"), tuple(rows)))
    lead = f"At random, {result.read_pct} % reads in the rounds and histograms; writes only before them."
    if result.left_out:
        lead += f" Left out: {', '.join(result.left_out)} ({result.left_out_why})."
    return Exhibit("What is asked of the drive", lead, tuple(tables))
