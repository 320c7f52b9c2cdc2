"""Measured points in a terminal: sweeps, single depths, mixes and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.efficiency import efficiency
from ssdlab.cli.output import paint, print_line, print_table
from ssdlab.cli.showing_power import power_cells
from ssdlab.model import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.mixed import MixedResult
    from ssdlab.methods.results.outcome import UnknownResult
    from ssdlab.methods.results.points import PointsResult
    from ssdlab.methods.results.rate_limit import RateLimitResult
    from ssdlab.results.schema import JobResult, PeakResult, Point, Qd1Result

_TAILS = ("mean", "p99", "p99.99")


def print_peak(result: PeakResult) -> None:
    """Print the chosen depth and the whole curve."""
    chosen, best = result.points[result.chosen], result.points[result.best]
    print_line()
    print_line(
        f"{units.count_text(chosen.iops or 0)} IOPS, {units.throughput_text(chosen.mb_s or 0)} at depth "
        f"{chosen.in_flight_asked}: the lowest with {result.share:.0%} of the best "
        f"({units.count_text(best.iops or 0)} IOPS at depth {best.in_flight_asked})",
        "bold",
    )
    print_points(result.points, mark=result.chosen)


def print_qd1(result: Qd1Result) -> None:
    """Print the four corners and the sweep of block sizes."""
    print_points(result.corners)
    print_points(result.block_sizes)


def print_measured(result: JobResult | PointsResult) -> None:
    """Print the points of a result that is nothing else."""
    print_points(result.points)


def print_unknown(result: UnknownResult) -> None:
    """Print the headline figures of a result of a kind that is not known here."""
    print_line()
    print_line(result.unknown, "bold")
    print_table(
        [(each.label, units.figure_text(each.value, each.unit)) for each in result.scalars], right=(1,)
    )


def print_mixed(result: MixedResult) -> None:
    """Print throughput and power at every mix."""
    print_line()
    rows = []
    for point in result.points:
        name = f"{point.read_pct} % reads, depth {point.depth}"
        marked = point.read_pct == result.headline_read_pct
        speeds = (units.throughput_text(each) for each in (point.mb_s, point.read_mb_s, point.write_mb_s))
        power = power_cells(point.mean_w, efficiency("mixed", point.iops, point.mb_s, point.mean_w))
        rows.append((f"{name} {paint('<', 'accent')}" if marked else name, *speeds, *power))
    print_table(rows, ("", "throughput", "reads", "writes", "power", "efficiency"), right=(1, 2, 3, 4, 5))


def print_rates(result: RateLimitResult) -> None:
    """Print the highest rate that held and every rate tried."""
    print_line()
    bound = f"{result.percentile} under {units.latency_text(result.bound_ns)}"
    held = "no rate" if result.highest_held is None else f"{units.count_text(result.highest_held)} IOPS"
    print_line(f"{held} with {bound}", "bold")
    print_line()
    rows = [
        (
            units.count_text(each.rate),
            *(latency_cell(each.response_ns.get(key)) for key in ("mean", "p99", "p99.9")),
            "held" if each.held else each.why,
        )
        for each in result.tries
    ]
    print_table(rows, ("offered IOPS", "mean", "p99", "p99.9", ""), right=(0, 1, 2, 3))


def print_points(points: Sequence[Point], mark: int | None = None) -> None:
    """Print measured points, each with its latencies and power; the one at index `mark` is pointed out."""
    print_line()
    rows: list[tuple[str, ...]] = []
    metered = any(point.mean_w is not None for point in points)
    heads = ("", "IOPS", "throughput", *_TAILS, *(("power", "efficiency") if metered else ()), "")
    for index, point in enumerate(points):
        name = f"{point.label} {paint('<', 'accent')}" if index == mark else point.label
        if point.missing is not None:
            rows.append((name, "-", *("" for _ in heads[3:]), point.missing))
            continue
        limit = point.attribution.limit if point.attribution else ""
        tails = [latency_cell((point.response_ns or {}).get(key)) for key in _TAILS]
        iops, mb_s = units.count_text(point.iops or 0), units.throughput_text(point.mb_s or 0)
        power = power_cells(point.mean_w, point.efficiency) if metered else ()
        rows.append((name, iops, mb_s, *tails, *power, "host in the tail" if limit == "host" else ""))
    print_table(rows, heads, right=range(1, len(heads) - 1))


def latency_cell(latency_ns: float | None) -> str:
    """Return a latency; a dash where there is none."""
    return "-" if latency_ns is None else units.latency_text(latency_ns)
