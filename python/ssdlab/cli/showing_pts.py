"""The results of SNIA PTS in a terminal: the verdict on steady state, and the table of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.output import print_line, print_table
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.methods.results.pts import PtsCell, PtsResult, PtsRounds


def print_pts(result: PtsResult) -> None:
    """Print what every group came to."""
    print_line()
    print_line(
        f"{result.specification}, {result.setting}: thread count {result.threads}, depth {result.depth}, "
        f"active range {result.active_range_pct} %, {units.significant(result.fills)} capacities written"
    )
    for group in result.groups:
        name = f"{group.group}: " if group.group else ""
        verdict = f"steady state in rounds {group.first} to {group.last}"
        if not group.steady:
            verdict = f"steady state NOT ACHIEVED in {group.rounds} rounds; of the last five"
        if group.reported != (group.first, group.last):
            verdict += f"; below, means of rounds {group.reported[0]} to {group.reported[1]}"
        print_line(f"{name}{verdict}", "bold")
        for each in group.tracked:
            if each.mean is None or each.range_share is None or each.rise_share is None:
                continue
            mean = units.latency_text(each.mean) if each.unit == "ns" else _rate(each.mean, each.unit)
            print_line(
                f"  {each.name}: {mean}, range {each.range_share:.2%} (at most 20 %), rise "
                f"{each.rise_share:.2%} (at most 10 %)"
            )
    named = {"iops": ("IOPS",), "throughput": ("throughput",), "latency": ("mean latency", "maximum")}
    for what in named[result.test]:
        print_line()
        _print_cells(result, what)


def _rate(value: float, unit: str) -> str:
    return units.throughput_text(value) if unit == "MB/s" else f"{units.count_text(value)} {unit}"


def _print_cells(result: PtsResult, what: str) -> None:
    every = [(group, cell) for group in result.groups for cell in group.cells]
    mixes = sorted({cell.read_pct for _, cell in every}, reverse=True)
    rows = []
    for size in sorted({cell.block_bytes for _, cell in every}):
        found = {cell.read_pct: (group, cell) for group, cell in every if cell.block_bytes == size}
        missing = next((cell.missing for _, cell in found.values() if cell.missing), None)
        if missing is not None:
            rows.append((units.block_text(size), f"not measured: {missing}", *("" for _ in mixes[1:])))
            continue
        cells = (_cell(what, *found[mix]) if mix in found else "" for mix in mixes)
        rows.append((units.block_text(size), *cells))
    heads = (what, *(f"{mix}/{100 - mix}" for mix in mixes))
    print_table(rows, heads, right=tuple(range(1, len(heads))))


def _cell(what: str, group: PtsRounds, cell: PtsCell) -> str:
    if what == "maximum":
        most = group.most_of_window(cell.max_ns)
        return "-" if most is None else units.latency_text(most)
    values = {"IOPS": cell.iops, "throughput": cell.mb_s, "mean latency": cell.mean_ns}[what]
    mean = group.of_window(values)
    if mean is None:
        return "-"
    if what == "mean latency":
        return units.latency_text(mean)
    return units.count_text(mean) if what == "IOPS" else units.throughput_text(mean)
