"""Latency of chosen points: mean and tail percentiles, and the curve over the nines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.lab.presented.points import LATENCIES
from ssdlab.model.units import count_text, counted, latency_text
from ssdlab.report.charts import Axis, Dot, Line, Mark, MarksChart, MarksRow, MarksView, XyChart, XyView
from ssdlab.report.sections import rates
from ssdlab.report.view import Buttons, Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.cells import Table
    from ssdlab.results.schema import Latencies

TRIO = ("mean", "p99", "p99.99")
BEYOND = 10
"""Minimum number of samples beyond a percentile for it to be drawn, as in the measurement's summary."""

_NINES = tuple(
    (float(text) / 100, f"{text} %") for text in ("0", "90", "99", "99.9", "99.99", "99.999", "99.9999")
)
_NAMED = {name: float(name[1:]) / 100 for name in LATENCIES if name.startswith("p")}
_RULE = f"Percentiles with fewer than {BEYOND} samples beyond them are left out."


@dataclass(frozen=True)
class Tail:
    """The latencies of one point with its name, for a row of marks or a line of the curve."""

    shown: Shown
    name: str
    note: str
    """Text after the name, such as the depth."""
    direction: str
    ordinal: int | None
    service_ns: Latencies
    response_ns: Latencies
    clock: str = "response"
    """Clock of the histogram to draw if response and service times are equal."""

    @property
    def paced(self) -> bool:
        """Whether I/Os had due times of their own, so that response and service times differ."""
        return self.service_ns != self.response_ns


def marks(section: str, title: str, tails: Sequence[Tail], tables: tuple[Table, ...]) -> Figure:
    """Return mean, p99 and p99.99 of each tail on one log axis.

    A single run shows its workloads in one view. Several runs have a view per workload, with a row for each
    run.
    """
    several = len({tail.shown.index for tail in tails}) > 1
    views: dict[str, list[MarksRow]] = {}
    for tail in tails:
        found = tuple(Mark(name, value) for name in TRIO if (value := tail.response_ns.get(name)) is not None)
        name = tail.shown.label if several else tail.name
        views.setdefault(tail.name if several else "", []).append(
            MarksRow(tail.shown.index, name, tail.note, found)
        )
    return Figure(
        id=f"{section}-qos",
        title=title,
        lead="Mean, p99 and p99.99 response time; further left is better.",
        described="Latency marks. " + "; ".join(_describe(tail) for tail in tails),
        chart=MarksChart(
            Axis("response time, log", "ns", "log"),
            tuple(MarksView(label, tuple(rows)) for label, rows in views.items()),
        ),
        tables=tables,
        measured=("Response time runs from the intended start of an I/O to its completion.", _RULE),
        buttons=(Buttons("view", "Workload", tuple(views)),) if len(views) > 1 else (),
        steps=_steps(tails),
    )


def _steps(tails: Sequence[Tail]) -> tuple[tuple[int, int], ...]:
    return tuple((tail.shown.index, tail.ordinal) for tail in tails if tail.ordinal is not None)


def _describe(tail: Tail) -> str:
    found = (f"{name} {latency_text(value)}" for name in TRIO if (value := tail.response_ns.get(name)))
    return f"{tail.shown.label}, {tail.name} {tail.note}: {', '.join(found)}"


def nines(section: str, tails: Sequence[Tail], tables: tuple[Table, ...]) -> Figure | None:
    """Return latency over the nines of each tail; None if none has a histogram."""
    views: dict[str, list[Line]] = {}
    samples, unproven = [], []
    for tail in tails:
        lines, count = _lines(tail)
        if lines:
            views.setdefault(tail.name, []).extend(lines)
            samples.append(count)
            unproven.append(_unproven(tail))
    if not views:
        return None
    nines_axis = Axis("share of I/Os at least as fast", "text", "nines", _NINES)
    latency_axis = Axis("latency, log", "ns", "log")
    return Figure(
        id=f"{section}-nines",
        title="Latency over the nines",
        lead=f"Lower is better. n = {_range(samples)}.{rates.hollow(unproven)}",
        described=f"Percentile curves of {counted(len(samples), 'point')}. {_RULE}",
        chart=XyChart(
            tuple(XyView(name, nines_axis, latency_axis, tuple(lines)) for name, lines in views.items())
        ),
        tables=tables,
        measured=(
            "From histograms with 64 buckets an octave: a latency is exact to 0.8 %.",
            "For paced I/Os, service and response times are separate curves; else they are equal.",
            _RULE,
        ),
        buttons=(Buttons("view", "Workload", tuple(views)),) if len(views) > 1 else (),
        steps=_steps(tails),
    )


def _unproven(tail: Tail) -> str:
    return rates.unproven(tail.shown, tail.ordinal)


def _range(samples: Sequence[int]) -> str:
    ends = (count_text(min(samples)), count_text(max(samples)))
    return " to ".join(dict.fromkeys(ends))


def _lines(tail: Tail) -> tuple[list[Line], int]:
    buckets = tail.shown.run.buckets(tail.ordinal)
    ours = buckets["direction"] == tail.direction
    lines = []
    total = 0
    unproven = bool(_unproven(tail)) or None
    clocks = ("service", "response") if tail.paced else (tail.clock,)
    for clock in clocks:
        kept = ours & (buckets["clock"] == clock)
        dots, total = _curve(buckets["low_ns"][kept], buckets["high_ns"][kept], buckets["count"][kept])
        if dots:
            name, faint = (clock, clock == "service" or None) if tail.paced else ("", None)
            lines.append(
                Line(tail.shown.index, name, tail.direction != "read", dots, faint, unproven=unproven)
            )
    return lines, total


def _curve(low_ns: np.ndarray, high_ns: np.ndarray, counts: np.ndarray) -> tuple[tuple[Dot, ...], int]:
    """Return dots of a percentile curve from buckets of all streams, and the number of samples.

    Only the named percentiles have markers.
    """
    order = np.argsort(low_ns, kind="stable")
    middle = (low_ns[order] + high_ns[order]) / 2
    reached = np.cumsum(counts[order])
    total = int(reached[-1]) if reached.size else 0
    drawn = total - reached >= BEYOND
    dots = [
        Dot(float(at / total), float(ns), quiet=True)
        for at, ns in zip(reached[drawn], middle[drawn], strict=True)
    ]
    for share in _NAMED.values():
        if total * (1 - share) >= BEYOND:
            bucket = int(np.searchsorted(reached, np.ceil(share * total)))
            dots.append(Dot(share, float(middle[bucket])))
    return tuple(sorted(dots, key=lambda dot: (dot.x, dot.y))), total
