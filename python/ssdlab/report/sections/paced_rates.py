"""Latency over the rate of paced writes, and the rate that is safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit, words
from ssdlab.report.view import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.paced import PacedBurstResult
    from ssdlab.report.runs import Shown

    Paced = tuple[Shown, PacedBurstResult]


def safe_rate(result: PacedBurstResult) -> str:
    """Return the verdict on sustained writing as a sentence."""
    if result.safe_mb_s is None:
        return "No rate of writing was sustained."
    text = f"Writing is safe up to {of_unit(result.safe_mb_s, 'MB/s')} sustained"
    if result.lowest_failed_mb_s is None:
        return f"{text}; no rate failed."
    why = next(each.why for each in result.rates if each.rate == result.lowest_failed_mb_s)
    return f"{text}; at {of_unit(result.lowest_failed_mb_s, 'MB/s')} {why}."


def rates(kept: Sequence[Paced]) -> Figure:
    """Return the chart of every rate tried."""
    lines, rules = [], []
    for shown, result in kept:
        dots = tuple(
            Dot(float(each.rate), each.p99_ns, chosen=(each.rate == result.safe_mb_s) or None)
            for each in result.rates
            if each.p99_ns is not None
        )
        lines.append(Line(shown.index, "", True, dots))
        if result.rates and result.rates[0].p99_ns is not None:
            bound_ns = result.factor * result.rates[0].p99_ns
            rules.append(
                Rule(shown.index, bound_ns, f"{result.factor:g} x unloaded" if len(kept) == 1 else "")
            )
    view = XyView(
        "p99",
        Axis("sustained rate of writes, MB/s, log", "mb_s", "log"),
        Axis("p99 service time of the writes, log", "ns", "log"),
        tuple(lines),
        tuple(rules),
    )
    return Figure(
        id="paced-burst-rates",
        title="Latency over the sustained rate",
        lead="Further right and lower is better. Ring: the safe rate. Dotted: the bound.",
        described=" ".join(f"{shown.label}: {safe_rate(result)}" for shown, result in kept),
        chart=XyChart((view,)),
        tables=(_table(kept),),
        measured=(
            "The writes alone, in bursts, the more closely the higher the rate; each rate after a rest.",
            f"Safe: p99 within {kept[0][1].factor:g} times that of the lowest rate, all writes done in time.",
        ),
    )


def _table(kept: Sequence[Paced]) -> Table:
    head = ("Run", "MB/s", "Bytes written", "p99", "Longest", "Held")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.count(each.rate),
            numbers.count(each.written_bytes),
            numbers.latency(each.p99_ns),
            numbers.latency(each.max_ns),
            words("yes" if each.held else f"no: {each.why}"),
        )
        for shown, result in kept
        for each in result.rates
    )
    return Table("Every rate tried", head, rows)
