"""The results of SNIA's demand tests in a terminal: steady state, the grid, and the three points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.output import print_line, print_table
from ssdlab.model import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.methods.results.pts import TrackedVariable
    from ssdlab.methods.results.pts_demand import DemandCell, DemandPoint, DemandResult


def print_demand(result: DemandResult) -> None:
    """Print what a demand test came to."""
    print_line()
    print_line(
        f"{result.specification}, {result.setting}: R/W {result.read_pct}/{100 - result.read_pct}, active "
        f"range {result.active_range_pct} %, {units.significant(result.fills)} capacities written"
    )
    _print_steady(result)
    print_line()
    _print_grid(result, "IOPS", lambda cell: _iops(result.rounds.of_window(cell.iops)))
    print_line()
    _print_grid(result, "ART", lambda cell: _latency(result.rounds.of_window(cell.mean_ns)))
    print_line()
    rows = [_point(point) for point in result.points]
    heads = ("", "demand", "IOPS", "ART", "histogram IOPS", "ART", "99.9 %", "99.99 %", "99.999 %", "MRT")
    print_table(rows, heads, right=tuple(range(2, len(heads))))
    print_line()
    print_line(f"system CPU: {_cpu(result)}")


def _print_steady(result: DemandResult) -> None:
    samples, rounds = result.samples, result.rounds
    ended = f"NOT ACHIEVED in {len(samples.variable.values)} samples"
    if samples.steady:
        ended = f"steady state in samples {samples.first} to {samples.last}"
    print_line(f"preconditioning: {ended}{_judged(samples.variable)}", "bold")
    ended = f"NOT ACHIEVED in {rounds.rounds} rounds"
    if rounds.steady:
        ended = f"steady state in rounds {rounds.first} to {rounds.last}"
    print_line(f"rounds: {ended}{_judged(rounds.tracked[0])}", "bold")


def _judged(each: TrackedVariable) -> str:
    if each.mean is None or each.range_share is None or each.rise_share is None:
        return ""
    return (
        f"; {units.count_text(each.mean)} IOPS, range {each.range_share:.2%} (at most 20 %), rise "
        f"{each.rise_share:.2%} (at most 10 %)"
    )


def _print_grid(result: DemandResult, what: str, of: Callable[[DemandCell], str]) -> None:
    cells = {(cell.threads, cell.depth): cell for cell in result.cells}
    depths = sorted({depth for _, depth in cells})
    rows = [
        (f"TC{threads}", *(of(cells[threads, depth]) for depth in depths))
        for threads in sorted({threads for threads, _ in cells})
    ]
    heads = (what, *(f"QD{depth}" for depth in depths))
    print_table(rows, heads, right=tuple(range(1, len(heads))))


def _point(point: DemandPoint) -> tuple[str, ...]:
    found = point.histogram
    if point.missing is not None or found is None:
        return (point.name, "none", *("" for _ in range(8)))
    tails = (found.percentiles_ns.get(name) for name in ("99.9", "99.99", "99.999"))
    return (
        point.name,
        f"TC{point.threads} QD{point.depth}",
        _iops(point.window_iops),
        _latency(point.window_mean_ns),
        _iops(found.iops),
        *(_latency(each) for each in (found.mean_ns, *tails, found.max_ns)),
    )


def _cpu(result: DemandResult) -> str:
    if result.simulated:
        return "not applicable: the drive is simulated"
    known = [share for cell in result.cells for share in cell.cpu_busy_share if share is not None]
    if not known:
        return "unknown: the cells are too short to tell"
    return f"{min(known):.0%} to {max(known):.0%} of all CPUs busy in the cells"


def _iops(value: float | None) -> str:
    return "-" if value is None else units.count_text(value)


def _latency(value_ns: float | None) -> str:
    return "-" if value_ns is None else units.latency_text(value_ns)
