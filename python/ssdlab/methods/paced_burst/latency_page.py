"""Latency percentile curves of bursts: by count and weighted by time, paced and saturated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdlab.plugin import Axis, Buttons, Dot, Figure, Line, XyChart, XyView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown, Table

    from .result import PacedBurstResult

    Paced = tuple[Shown, PacedBurstResult]

_WEIGHTS = ("by count", "by time")


def curves(kept: Sequence[Paced], table: Table) -> Figure | None:
    """Return the percentage of I/Os, or of time waited, over latency; None without histograms."""
    names = list(dict.fromkeys(load.name for _, result in kept for load in result.loads))
    views = tuple(
        XyView(
            f"{name}, {weight}",
            Axis("service time, log", "ns", "log"),
            Axis(
                "% of the I/Os" if weight == "by count" else "% of the time waited",
                "count",
                range=(0.0, 100.0),
            ),
            tuple(line for one in kept for line in _lines(one, name, weight)),
        )
        for name in names
        for weight in _WEIGHTS
    )
    if not any(view.lines for view in views):
        return None
    return Figure(
        id="paced-burst-latency",
        title="Latency percentiles",
        lead="Further left is better; a late bend is the slow tail. Reads are solid, writes dashed.",
        described="Percentile curves of reads and writes, by count and weighted by time.",
        chart=XyChart(views),
        tables=(table,),
        measured=(
            "By count: the share of I/Os that took at most so long.",
            "By time: the share of all time waited that they took: rare long I/Os weigh by their length.",
            "From histograms with 64 buckets an octave: a latency is exact to 0.8 %.",
        ),
        buttons=(Buttons("view", "Load and weight", tuple(view.label for view in views)),),
        wide=True,
    )


def _lines(one: Paced, name: str, weight: str) -> list[Line]:
    shown, result = one
    load = next((load for load in result.loads if load.name == name), None)
    if load is None:
        return []
    buckets = shown.run.buckets(load.ordinal)
    found = []
    for direction in ("read", "write"):
        ours = (buckets["direction"] == direction) & (buckets["clock"] == "service")
        order = np.argsort(buckets["low_ns"][ours], kind="stable")
        low, high, count = (
            buckets[key][ours][order].astype(np.float64) for key in ("low_ns", "high_ns", "count")
        )
        if not count.size:
            continue
        middle = (low + high - 1) / 2
        reached = np.cumsum(count if weight == "by count" else count * middle)
        share = 100 * reached / reached[-1]
        dots = tuple(Dot(float(ns), float(y), quiet=True) for ns, y in zip(middle, share, strict=True))
        dots = (Dot(float(low[0]), 0.0, quiet=True), *dots)
        found.append(Line(shown.index, f"{direction}s", direction != "read", dots))
    return found
