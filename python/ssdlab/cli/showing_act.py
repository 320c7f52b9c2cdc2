"""The results of Aerospike ACT in a terminal: its own table, the verdicts, the trail of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.act_verdict import LIMITS, Slice
from ssdlab.cli.output import paint, print_fields, print_line, print_table
from ssdlab.formats.act.table import act_table
from ssdlab.methods.results.act import RULES
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.methods.results.act import ActResult, ActSearchResult, ActSlice, Rule

_CLOCKS = {"2019": "from when it was due", "6.x": "from when a thread issued it"}


def print_act(result: ActResult) -> None:
    """Print the verdicts, the load that was asked for, and the table of act_latency.py by each rule."""
    print_line()
    load = f"{result.load}x" if result.load else "these rates"
    for verdict in result.verdicts:
        word = paint("passed", "accent") if verdict.passed else "FAILED"
        why = f": {verdict.why}" if verdict.why else ""
        print_line(
            f"{load} {word} by the rule of {verdict.rule}, a read {_CLOCKS[verdict.rule]}{why}", "bold"
        )
    _print_stress(result)
    print_line()
    asked = ", ".join(f"{rate:.2f} {name}" for name, rate in result.asked.items())
    print_fields(
        [
            (
                "load",
                f"of {result.program} {result.act_version}, arrivals {result.arrivals}, "
                f"{result.service_threads} service threads",
            ),
            ("asked a second", asked),
            *((name, text) for name, text in result.derived.items()),
            ("ran", units.span_text(result.ran_s) + (f": {result.stopped}" if result.stopped else "")),
            ("not done", f"{result.undone} I/Os that were due at the end" if result.undone else None),
        ]
    )
    for rule in RULES if result.slices else ():
        print_line()
        print_line(f"by the rule of {rule}, a read {_CLOCKS[rule]}", "dim")
        for line in act_table([_slice(each, rule) for each in result.slices]).splitlines():
            print_line(line)


def print_search(result: ActSearchResult) -> None:
    """Print the score and every load tried."""
    print_line()
    score = "no load passed" if result.score is None else f"{result.score}x"
    per_w = "" if result.score_per_w is None else f", {units.significant(result.score_per_w)} x/W"
    fails = "" if result.resolution is None else f"; {(result.score or 0) + result.resolution}x did not pass"
    print_line(
        f"{score} by the rule of {result.rule}, arrivals {result.arrivals}{per_w}{fails}",
        "bold",
    )
    print_line(result.drive_state, "dim")
    print_line()
    rows = [
        (
            f"{each.load}x" + (f" {paint('<', 'accent')}" if each.load == result.score else ""),
            units.span_text(each.ran_s),
            *(f"{100 * each.worst[str(ms)]:.2f}" for ms in LIMITS),
            each.drive_state,
            "passed" if each.passed else each.why,
        )
        for each in result.tries
    ]
    heads = ("load", "ran", *(f"%>{ms} ms" for ms in LIMITS), "drive", "")
    print_table(rows, heads, right=(1, 2, 3, 4))


def _print_stress(result: ActResult) -> None:
    if result.stress_completed is None:
        return
    ran = "ran to its end" if result.stress_completed else f"did not reach its end: {result.stress_stopped}"
    print_line(f"twice the load {ran}", "bold")
    if result.certified:
        print_line(f"certified at {result.load}x by the rule of {result.rule}", "bold")


def _slice(each: ActSlice, rule: Rule) -> Slice:
    shares = getattr(each, RULES[rule])
    return Slice(
        each.number, each.ios[rule], each.rates[rule], {int(ms): share for ms, share in shares.items()}
    )
