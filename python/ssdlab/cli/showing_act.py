"""The results of Aerospike ACT in a terminal: its own table, the verdicts, the trail of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab import units
from ssdlab.analysis.act_verdict import LIMITS, Slice, act_table
from ssdlab.cli.output import paint, print_line, print_table
from ssdlab.results.act import RULES

if TYPE_CHECKING:
    from ssdlab.results.act import ActResult, ActSearchResult


def print_act(result: ActResult) -> None:
    """Print the verdicts and the table that act_latency.py makes, by the rule of the load's name."""
    print_line()
    load = f"{result.load}x" if result.load else "these rates"
    for verdict in result.verdicts:
        word = paint("passed", "accent") if verdict.passed else "FAILED"
        why = f": {verdict.why}" if verdict.why else ""
        clock = "a read counts from when it was " + ("due" if verdict.rule == "2019" else "issued")
        print_line(f"{load} {word} by the rule of {verdict.rule} ({clock}){why}", "bold")
    if result.stress_completed is not None:
        print_line(f"twice the load {'ran' if result.stress_completed else 'did not run'} to its end", "bold")
    rates = result.rates
    print_line(
        f"asked a second: {rates.internal_read_reqs} reads, {rates.large_block_reads:.2f} large-block reads, "
        f"{rates.large_block_writes:.2f} large-block writes"
    )
    if result.slices:
        print_line()
        clock = RULES[result.rule]
        slices = [
            Slice(
                each.number,
                each.ios,
                each.rate,
                {int(ms): share for ms, share in getattr(each, clock).items()},
            )
            for each in result.slices
        ]
        for line in act_table(slices).splitlines():
            print_line(line)


def print_search(result: ActSearchResult) -> None:
    """Print the score and every load tried."""
    print_line()
    score = "no load passed" if result.score is None else f"{result.score}x"
    per_w = "" if result.score_per_w is None else f", {units.significant(result.score_per_w)} x/W"
    print_line(
        f"{score} by the rule of {result.rule}, in steps of {result.resolution}x, arrivals {result.arrivals}"
        f"{per_w}",
        "bold",
    )
    print_line()
    rows = [
        (
            f"{each.load}x" + (f" {paint('<', 'accent')}" if each.load == result.score else ""),
            units.span_text(each.ran_s),
            *(f"{100 * each.worst[str(ms)]:.2f}" for ms in LIMITS),
            "passed" if each.passed else each.why,
        )
        for each in result.tries
    ]
    print_table(rows, ("load", "ran", *(f"%>{ms} ms" for ms in LIMITS), ""), right=(1, 2, 3, 4))
