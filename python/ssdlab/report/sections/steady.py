"""The proof of steady state: the rounds before the measurement, in a sentence and as a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import WINDOW
from ssdlab.lab.presented.steady import steady_claim
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.together import lead
from ssdlab.report.view import Figure
from ssdlab.results import cells
from ssdlab.results.cells import Table, of_unit
from ssdlab.results.qualifiers import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.drive_states import SteadyProof

Proven = tuple["Shown", "SteadyProof"]


def figure(section: str, kept: Sequence[Proven]) -> Figure | None:
    """Return the chart of the rounds with the judged window; None if there are no rounds."""
    found = [(shown, steady) for shown, steady in kept if steady.rounds_mb_s]
    if not found:
        return None
    return Figure(
        id=f"{section}-steady",
        title="Writing to steady state",
        lead=f"Mean of each round. Ringed: the last {WINDOW}, if SNIA's criterion can be applied. Dotted: "
        "their mean.",
        described=" ".join(lead(shown, [steady_claim(steady)]) for shown, steady in found),
        chart=XyChart((_view(found),)),
        tables=(_table(found),),
        measured=(
            "SNIA PTS 2.0.2, section 2.1.24: five rounds in a row whose range is at most 20 % of their mean",
            "and whose fitted line rises or falls by at most 10 % of it over the window.",
        ),
        wide=True,
    )


def _view(found: Sequence[Proven]) -> XyView:
    lines, rules = [], []
    for shown, steady in found:
        first = steady.first if steady.judged and steady.first is not None else len(steady.rounds_mb_s)
        dots = tuple(
            Dot((number + 1) * steady.round_s, speed, chosen=(number >= first) or None)
            for number, speed in enumerate(steady.rounds_mb_s)
        )
        lines.append(Line(shown.index, "", True, dots))
        if steady.judged and steady.mean_mb_s is not None:
            mean = f"mean {of_unit(steady.mean_mb_s, 'MB/s')}" if len(found) == 1 else ""
            rules.append(Rule(shown.index, steady.mean_mb_s, mean))
    return XyView(
        "MB/s", Axis("time written", "s"), Axis("MB/s (decimal)", "mb_s"), tuple(lines), tuple(rules)
    )


def _table(found: Sequence[Proven]) -> Table:
    head = ("Run", "Reached", "Rounds", "Round", "Mean MB/s", "Range", "Slope", "Drive writes", "Time")
    rows = tuple(
        (
            cells.of_run(shown.label, shown.index),
            cells.words(_reached(steady)),
            cells.count(len(steady.rounds_mb_s)),
            cells.seconds(steady.round_s),
            cells.throughput(steady.mean_mb_s),
            cells.share(steady.range_share),
            cells.share(steady.rise_share),
            cells.plain(steady.capacities),
            cells.seconds(steady.seconds),
        )
        for shown, steady in found
    )
    return Table("Last window assessed", head, rows)


def _reached(steady: SteadyProof) -> str:
    if not steady.reached:
        return "no" if steady.judged else "not assessed"
    return f"yes, {CATALOGUE[steady.how].label}" if steady.how else "yes"
