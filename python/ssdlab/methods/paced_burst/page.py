"""Report page of paced bursts: throughput inside bursts, load time, latency, safe rate, and timeline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.analysis.percentiles import BUCKET_WIDTH
from ssdlab.plugin import (
    NS_PER_S,
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Buttons,
    Choice,
    Dot,
    Figure,
    Line,
    Measure,
    Rule,
    Section,
    SeriesChart,
    XyChart,
    XyView,
    block_text,
    capacity_text,
    counted,
    efficiency,
    lead,
    leads,
    over_time,
    rates,
    share_text,
    span_text,
    together,
    with_result,
)

from . import findings as paced
from .result import PacedBurstResult, max_p99_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Direction, Metric, Shown, Table

    from .result import BurstLoad

    Paced = tuple[Shown, PacedBurstResult]


_NAMES = ("paced", "saturated")
_ALL = "all drives"
_BUCKET = share_text(BUCKET_WIDTH)
_SIDES: tuple[tuple[Direction, str], ...] = (("read", "reads"), ("write", "writes"))


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, PacedBurstResult)
    figures = (
        _throughput(kept),
        _load_time(kept),
        curves(kept, together(kept, paced.percentiles)),
        _rates(kept),
        _timeline(kept),
        efficiency.figure("paced-burst", _worked(kept)),
    )
    return Section(
        id="paced-burst",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, paced.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
    )


def _worked(kept: Sequence[Paced]) -> list[efficiency.Worked]:
    return [
        efficiency.Worked(shown, f"{load.name} load", "", load.efficiency, load.mean_w, "", load.ordinal)
        for shown, result in kept
        for load in result.loads
        if load.efficiency is not None and load.mean_w is not None
    ]


def _timeline(kept: Sequence[Paced]) -> Figure | None:
    choices = [_choice(shown, load) for shown, result in kept for load in result.loads]
    if not any(choice.tracks for choice in choices):
        return None
    first = kept[0][1]
    drives = tuple(shown.style.short for shown, _ in kept)
    if len(drives) > 1:
        choices = [*(_abreast(name, choices) for name in _NAMES), *choices]
    return Figure(
        id="paced-burst-timeline",
        title="Timeline",
        lead="Mean MB/s of each interval, pauses included: reads solid, writes dashed. Paced, a drive that "
        "keeps up shows the pace of the load, not its own speed.",
        described=" ".join(leads(kept, paced.findings)),
        chart=SeriesChart(
            (Measure("mb_s", "MB/s", Axis("MB/s (decimal)", "mb_s"), pauses=True),),
            tuple(choices),
            variants=len(_NAMES),
            window_s=(0.0, max(len(result.reads_s) * result.read_every_s for _, result in kept)),
        ),
        tables=(),
        measured=_how(first),
        buttons=(
            *((Buttons("view", "Drive", (_ALL, *drives)),) if len(drives) > 1 else ()),
            Buttons("variant", "Load", _NAMES, pressed=_NAMES.index("saturated")),
        ),
        zoom=True,
        wide=True,
    )


def _choice(shown: Shown, load: BurstLoad) -> Choice:
    rows = over_time.rows_of(over_time.Watched(shown, load.ordinal, load.name))
    tracks = tuple(over_time.track(each, ("end_s", "mb_s")) for each in rows)
    return Choice(f"{shown.label}, {load.name}", tracks, absent=None if tracks else "no rows were kept")


def _abreast(name: str, choices: Sequence[Choice]) -> Choice:
    """Return the choice that shows one load of all drives, each drive in its own plot."""
    of = tuple(at for at, each in enumerate(choices, len(_NAMES)) if each.label.endswith(f", {name}"))
    return Choice(f"{_ALL}, {name}", (), of=of, beside=True)


def _how(result: PacedBurstResult) -> tuple[str, ...]:
    place = f"the first {capacity_text(result.span_bytes)}"
    return (
        f"Writes of {block_text(result.block_bytes)} at random in {place}: "
        f"{capacity_text(result.burst_bytes)} every {span_text(result.every_s)}.",
        f"Reads of {capacity_text(result.read_bytes)} elsewhere, 64 KiB sequential, one every "
        f"{span_text(result.read_every_s)}; at most {_in_flight(result)}.",
        "Saturated: the same without pauses.",
    )


def _in_flight(result: PacedBurstResult) -> str:
    side_depth = result.side_depth or result.depth
    return f"{2 * side_depth} I/Os in flight, {side_depth} of each direction"


def _throughput(kept: Sequence[Paced]) -> Figure:
    views = tuple(
        BarsView(name, Axis("MB/s (decimal)", "mb_s"), "higher", _groups(kept, name)) for name in _NAMES
    )
    return Figure(
        id="paced-burst-throughput",
        title="Throughput inside bursts",
        lead="Bytes over the time with an I/O in flight, idle time excluded. Higher is better. Reads and "
        f"writes share the drive: {_in_flight(kept[0][1])}.",
        described=" ".join(leads(kept, paced.findings)),
        chart=BarsChart(views),
        tables=(together(kept, paced.loads),),
        measured=(
            *_how(kept[0][1]),
            "Busy: the time with an I/O in flight. The review divides by the sum of service times, in which "
            "concurrent I/Os count several times; the table has both.",
        ),
        buttons=(Buttons("view", "Load", _NAMES),),
    )


def _groups(kept: Sequence[Paced], name: str) -> tuple[BarGroup, ...]:
    return rates.groups(
        rates.Drawn(shown, plural, Bar(shown.index, side.mb_s, ""), _figure_of(shown, load, direction))
        for direction, plural in _SIDES
        for shown, result in kept
        for load in result.loads
        if load.name == name and (side := load.side(direction)) is not None
    )


def _figure_of(shown: Shown, load: BurstLoad, direction: Direction) -> Metric | None:
    """Return the ranked figure of one direction of a load; if none is ranked, that of the step."""
    own = (each for each in shown.run.result.scalars if load.ordinal in each.steps)
    named = next((each for each in own if each.name == f"paced_{direction}_mb_s"), None)
    return named or rates.figure_of(shown, load.ordinal, "MB/s")


def _load_time(kept: Sequence[Paced]) -> Figure:
    first = kept[0][1]
    title = f"{counted(len(first.reads_s), 'read')} of {capacity_text(first.read_bytes)}"
    axis = Axis("with a read in flight", "ns")
    return Figure(
        id="paced-burst-load",
        title="Load time",
        lead="Of all reads during the paced writes. Lower is better. The review sums service times, in "
        "which concurrent I/Os count several times; the table has both.",
        described=" ".join(leads(kept, paced.findings)),
        chart=BarsChart((BarsView(axis.title, axis, "lower", _ranked(title, kept)),)),
        tables=(together(kept, paced.load_time),),
        measured=_how(first),
    )


def _ranked(title: str, kept: Sequence[Paced]) -> tuple[BarGroup, ...]:
    return rates.groups(
        (
            rates.Drawn(
                shown, title, Bar(shown.index, result.load_s * NS_PER_S, ""), _named(shown, "paced_load_s")
            )
            for shown, result in kept
        ),
        "lower",
    )


def _named(shown: Shown, name: str) -> Metric | None:
    return next((each for each in shown.run.result.scalars if each.name == name), None)


def _rates(kept: Sequence[Paced]) -> Figure:
    lines, rules = [], []
    for shown, result in kept:
        first_failed = result.lowest_failed_mb_s or math.inf
        dots = tuple(
            Dot(
                float(each.rate),
                each.p99_ns,
                chosen=(each.rate == result.safe_mb_s) or None,
                failed=not each.held or None,
            )
            for each in result.rates
            if each.p99_ns is not None and each.rate <= first_failed
        )
        lines.append(Line(shown.index, "", True, dots))
        unloaded_ns = result.rates[0].p99_ns if result.rates else None
        if len(kept) == 1 and dots and unloaded_ns is not None:
            text = f"{result.factor:g} x unloaded + {_BUCKET}"
            rules.append(Rule(shown.index, max_p99_ns(unloaded_ns, result.factor), text))
    view = XyView(
        "p99",
        Axis("sustained rate of writes, MB/s, log", "mb_s", "log"),
        Axis("p99 service time of the writes, log", "ns", "log"),
        tuple(lines),
        tuple(rules),
    )
    drawn = [dot for line in lines for dot in line.points]
    explained = (
        ("Ring: the safe rate.", any(dot.chosen for dot in drawn)),
        ("Cross: the lowest rate that did not hold.", any(dot.failed for dot in drawn)),
        ("Dotted: the limit.", bool(rules)),
    )
    return Figure(
        id="paced-burst-rates",
        title="Latency over the sustained rate",
        lead=" ".join(("Further right and lower is better.", *(text for text, shown in explained if shown))),
        described=" ".join(lead(shown, [paced.safe_rate(result)]) for shown, result in kept),
        chart=XyChart((view,)),
        tables=(together(kept, paced.rates),),
        measured=(
            f"Writes alone, {kept[0][1].depth} in flight, in bursts that come closer together at higher "
            "rates; a rest before each rate.",
            f"Safe: p99 within {kept[0][1].factor:g} times that of the drive's lowest rate, plus {_BUCKET} "
            "for the width of a histogram's bucket, and all writes done in time.",
            "The table has every rate tried, and why it failed.",
        ),
    )


_WEIGHTS = ("by count", "by time")


def curves(kept: Sequence[Paced], table: Table) -> Figure | None:
    """Return a figure of the % of I/Os, and of waiting time, up to each latency; None without histograms."""
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
            "By count: the share of I/Os that took at most this long.",
            "By time: the share of all waiting time in these I/Os; rare long I/Os weigh by their length.",
            "From histograms with 64 buckets an octave: a latency is accurate to 0.8 %.",
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
