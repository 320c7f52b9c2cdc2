"""Latency over the rate of paced writes, and the rate that is safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.presented import paced
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.together import lead, together
from ssdlab.report.view import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.paced import PacedBurstResult
    from ssdlab.report.runs import Shown

    Paced = tuple[Shown, PacedBurstResult]


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
        described=" ".join(lead(shown, [paced.safe_rate(result)]) for shown, result in kept),
        chart=XyChart((view,)),
        tables=(together(kept, paced.rates),),
        measured=(
            "The writes alone, in bursts, the more closely the higher the rate; each rate after a rest.",
            f"Safe: p99 within {kept[0][1].factor:g} times that of the lowest rate, all writes done in time.",
        ),
    )
