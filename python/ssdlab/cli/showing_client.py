"""The results of the client-drive methods in a terminal: TRIM, paced bursts, consistency, fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.efficiency import efficiency
from ssdlab.cli.output import paint, print_line, print_table
from ssdlab.cli.showing_points import latency_cell
from ssdlab.cli.showing_power import print_power
from ssdlab.methods.results.trim import VERDICTS
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.methods.results.consistency import ConsistencyResult
    from ssdlab.methods.results.fill import FillResult
    from ssdlab.methods.results.paced import PacedBurstResult
    from ssdlab.methods.results.trim import TrimResult

_REACHED = {
    True: "reached the device",
    False: "did not reach the device",
    None: "may have reached the device",
}


def print_trim(result: TrimResult) -> None:
    """Print the verdict and the speeds that it rests on."""
    print_line()
    regained = ""
    if result.regained is not None:
        regained = f", {units.significant(100 * result.regained)} % of what was lost"
    print_line(
        f"TRIM {VERDICTS[result.verdict]}: {units.significant(100 * result.recovered)} % of the clean speed"
        f"{regained}; it {_REACHED[result.trim.reached_device]}",
        "bold",
    )
    print_line()
    rows = [
        (
            plot.name,
            units.throughput_text(plot.sustained_mb_s),
            units.throughput_text(plot.mean_mb_s),
            units.throughput_text(min(plot.parts_mb_s)),
        )
        for plot in (result.clean, result.before, result.after)
        if plot is not None
    ]
    first = f"first {units.span_text(result.sustained_s)}"
    print_table(rows, ("", first, "all blocks", "slowest part"), right=(1, 2, 3))
    for plot in (result.clean, result.before, result.after):
        if plot is not None:
            print_power(f"{plot.name}: ", plot.mean_w, plot.efficiency)


def print_paced(result: PacedBurstResult) -> None:
    """Print load time, speeds inside bursts, and every sustained rate that was tried."""
    print_line()
    reads = f"{len(result.reads_s)} reads of {units.capacity_text(result.read_bytes)}"
    safe = "no rate" if result.safe_mb_s is None else units.throughput_text(result.safe_mb_s)
    print_line(f"{reads} took {units.span_text(result.load_s)}; safe sustained writing: {safe}", "bold")
    print_line()
    rows = [
        (
            f"{load.name} {side.direction}s",
            units.throughput_text(side.mb_s),
            *(latency_cell(side.by_count.get(key)) for key in ("p50", "p99", "p99.9")),
            latency_cell(side.by_time.get("p99")),
        )
        for load in result.loads
        for side in load.sides
    ]
    head = ("", "inside bursts", "p50", "p99", "p99.9", "p99 by time")
    print_table(rows, head, right=(1, 2, 3, 4, 5))
    for load in result.loads:
        print_power(f"{load.name}, pauses included: ", load.mean_w, load.efficiency)
    print_line()
    mark = f" {paint('<', 'accent')}"
    tried = [
        (
            units.throughput_text(each.rate) + (mark if each.rate == result.safe_mb_s else ""),
            latency_cell(each.p99_ns),
            "held" if each.held else each.why,
        )
        for each in result.rates
    ]
    print_table(tried, ("sustained", "p99", ""), right=(0, 1))


def print_consistency(result: ConsistencyResult) -> None:
    """Print the stretches of every run, and its power."""
    print_line()
    rows = [
        (
            f"{entry.name}, {part.name}",
            units.span_text(part.from_s),
            *(units.count_text(each) for each in (part.floor, part.p1, part.mean, part.deviation)),
        )
        for entry in result.entries
        for part in entry.stretches
    ]
    print_table(rows, ("IOPS", "from", "floor", "1 %", "mean", "deviation"), right=(1, 2, 3, 4, 5))
    for entry in result.entries:
        found = efficiency("random", entry.iops, entry.mb_s, entry.mean_w)
        print_power(f"{entry.name}, all of it: ", entry.mean_w, found)


def print_fill(result: FillResult) -> None:
    """Print the speed of the fill and where its cache ends."""
    print_line()
    speeds = [units.throughput_text(each) for each in (result.mean_mb_s, result.last_mb_s)]
    print_line(f"{speeds[0]} over the whole drive, {speeds[1]} over its last 16 GB", "bold")
    print_power("", result.mean_w, efficiency("sequential", 0.0, result.mean_mb_s, result.mean_w))
    if result.cache_bytes is None:
        print_line("no end of a cache was found")
        return
    before, after = (units.throughput_text(each or 0.0) for each in (result.before_mb_s, result.after_mb_s))
    print_line(
        f"a cache ends after {units.capacity_text(result.cache_bytes)}: {before} before, {after} after"
    )
