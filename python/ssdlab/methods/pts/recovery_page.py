"""Pages of SNIA PTS's recovery tests: host idle recovery and cross stimulus recovery.

Host idle recovery shows preconditioning, its window, and the bursts with the baseline. Cross stimulus
recovery shows MB/s over time, both transitions, and response times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Axis,
    Buttons,
    Dot,
    Figure,
    Line,
    Rule,
    Section,
    XyChart,
    XyView,
    and_listed,
    leads,
    span_text,
    together,
    with_result,
)

from .charts import (
    LEAD,
    NINES_NOTE,
    RULE,
    Clock,
    Judged,
    dots,
    how,
    responses,
    scaled,
    unbroken,
    window_table,
    window_view,
)
from .header import section_of
from .result import PtsCrossStimulusResult, PtsIdleRecoveryResult
from .series_findings import cross_findings, groups, idle_findings, waits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

    Rested = tuple[Shown, PtsIdleRecoveryResult]
    from ssdlab.plugin import Quantity

    Crossed = tuple[Shown, PtsCrossStimulusResult]


IDLE_ID = "pts-host-idle-recovery"
CROSS_ID = "pts-cross-stimulus-recovery"
AROUND_S = 2 * 3600.0
"""Most time shown on each side of a transition: a third of the shortest load."""


def idle_section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, PtsIdleRecoveryResult)
    return section_of(kept, idle_findings, list(_idle_pages(kept)))


def _idle_pages(kept: Sequence[Rested]) -> Iterator[Figure]:
    finding_text = " ".join(leads(kept, idle_findings))
    yield _preconditioning(kept, finding_text)
    judged = [
        Judged(
            shown,
            result.samples.variable,
            result.samples.verdict,
            result.samples.first,
            result.samples.last,
            "sample",
        )
        for shown, result in kept
    ]
    views = tuple(window_view(one, one.shown.label) for one in judged)
    yield Figure(
        id=f"{IDLE_ID}-window",
        title="Host idle recovery: preconditioning, steady-state window",
        lead=LEAD,
        described=finding_text,
        chart=XyChart(views),
        tables=(window_table(judged),),
        measured=(RULE, "The mean of this window is the baseline."),
        buttons=(Buttons("view", "Run", tuple(window_view.label for window_view in views)),)
        if len(views) > 1
        else (),
    )
    yield _course(kept, finding_text)
    yield _responses(kept, finding_text)


def _preconditioning(kept: Sequence[Rested], finding_text: str) -> Figure:
    clock = Clock.up_to(max(result.writes.ends_s()[-1] for _, result in kept))
    lines = []
    for shown, result in kept:
        writes = result.writes
        ringed = range(result.samples.at, len(writes.iops), result.samples.every)
        lines.append(
            Line(
                shown.index,
                "",
                True,
                dots(clock.of(writes.ends_s()), writes.iops, ringed),
            )
        )
    return scaled(
        f"{IDLE_ID}-preconditioning",
        "Host idle recovery: preconditioning",
        "From the purged drive on, without pauses. Ringed: the sample of each round.",
        finding_text,
        clock.axis,
        ("IOPS", "iops"),
        lines,
        measured=(how(kept[0][1], unbroken(kept[0][1].writes.seconds)),),
    )


def _course(kept: Sequence[Rested], finding_text: str) -> Figure:
    """Return all bursts over time, with the writes after each set of bursts, and the baseline."""
    longest = max(_ends(result)[-1] for _, result in kept)
    clock = Clock.up_to(longest)
    lines, rules = [], []
    for shown, result in kept:
        begin_s = 0.0
        for wait, end_s in zip(result.waits, _ends(result), strict=True):
            every_s = wait.idle_s + result.burst_s
            bursts_s = [begin_s + at * every_s + result.burst_s for at in range(len(wait.bursts.iops))]
            back_s = [end_s - wait.back.ends_s()[-1] + at for at in wait.back.ends_s()]
            name = span_text(wait.idle_s)
            lines.append(Line(shown.index, name, True, dots(clock.of(bursts_s), wait.bursts.iops)))
            lines.append(Line(shown.index, "", False, dots(clock.of(back_s), wait.back.iops), plain=True))
            begin_s = end_s
        rules.append(Rule(shown.index, result.baseline_iops, "baseline"))
    first = kept[0][1]
    return scaled(
        f"{IDLE_ID}-course",
        "Host idle recovery: IOPS over time, all wait states",
        "Each dot of a coloured line is a burst, named by the rest between them; text colour: writes "
        "without rests, after which the drive recovers." + "".join(_cuts(kept)),
        finding_text,
        clock.axis,
        ("IOPS", "iops"),
        lines,
        measured=(
            f"Bursts of {span_text(first.burst_s)}; {len(first.waits[0].bursts.iops)} with each rest, then "
            f"{span_text(first.waits[0].back.ends_s()[-1])} without any.",
            "A burst counts the I/Os completed within it.",
            "The first burst of each train follows no rest: it is drawn but counts in no mean.",
        ),
        tables=(together(kept, waits),),
        rules=tuple(rules),
    )


def _cuts(kept: Sequence[Rested]) -> Iterator[str]:
    """Yield a sentence for each interrupted run; the writes that preconditioned it again are not drawn."""
    for shown, result in kept:
        cuts = [span_text(wait.idle_s) for wait in result.waits if wait.cut]
        if cuts:
            yield f" {shown.label}: cut before rests of {and_listed(cuts)}, and preconditioned again."


def _responses(kept: Sequence[Rested], finding_text: str) -> Figure:
    names = list(dict.fromkeys(span_text(wait.idle_s) for _, result in kept for wait in result.waits))
    views = tuple(
        XyView(
            f"rests of {name}",
            Axis("burst", "count"),
            Axis("response time, log", "ns", "log"),
            tuple(
                line
                for shown, result in kept
                for wait in result.waits
                if span_text(wait.idle_s) == name
                for line in responses(
                    shown, wait.bursts, [float(at + 1) for at in range(len(wait.bursts.iops))]
                )
            ),
        )
        for name in names
    )
    return Figure(
        id=f"{IDLE_ID}-response",
        title="Host idle recovery: response times of the bursts (ART, 5 9s, MRT)",
        lead="Of each burst: the mean, the 99.999th percentile, and the longest.",
        described=finding_text,
        chart=XyChart(views),
        tables=(),
        measured=(
            how(kept[0][1], f"a record of each burst of {span_text(kept[0][1].burst_s)}, rests between"),
            NINES_NOTE,
        ),
        buttons=(Buttons("view", "Wait state", tuple(window_view.label for window_view in views)),),
        wide=True,
    )


def _ends(result: PtsIdleRecoveryResult) -> list[float]:
    """Return the end of each wait state with the writes after it, in seconds from the first burst."""
    ends: list[float] = []
    for wait in result.waits:
        trains_s = len(wait.bursts.iops) * (wait.idle_s + result.burst_s)
        ends.append((ends[-1] if ends else 0.0) + trains_s + wait.back.ends_s()[-1])
    return ends


def cross_section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, PtsCrossStimulusResult)
    return section_of(kept, cross_findings, list(_cross_pages(kept)))


def _cross_pages(kept: Sequence[Crossed]) -> Iterator[Figure]:
    finding_text = " ".join(leads(kept, cross_findings))
    longest = max(sum(group.records.ends_s()[-1] for group in result.groups) for _, result in kept)
    clock = Clock.up_to(longest)
    measured = (how(kept[0][1], unbroken(kept[0][1].groups[0].records.seconds)),)
    rules = tuple(Rule(shown.index, result.groups[0].mean_mb_s, "") for shown, result in kept)
    yield scaled(
        f"{CROSS_ID}-course",
        "Cross stimulus recovery: MB/s over time, all groups",
        "Three loads without pauses: sequential, random, sequential. Dotted: the mean of group 1.",
        finding_text,
        clock.axis,
        ("MB/s (decimal)", "mb_s"),
        _lines(kept, "mb_s", clock),
        measured=measured,
        tables=(together(kept, groups),),
        rules=rules,
    )
    for number in (1, 2):
        yield _transition(kept, number, finding_text, clock, measured)
    for column, name in (
        ("mean_ns", "average response time (ART)"),
        ("max_ns", "maximum response time (MRT)"),
    ):
        yield scaled(
            f"{CROSS_ID}-{column.removesuffix('_ns')}",
            f"Cross stimulus recovery: {name}",
            "Of each record, over all three loads.",
            finding_text,
            clock.axis,
            (name, "ns"),
            _lines(kept, column, clock),
            measured=measured,
        )


def _lines(
    kept: Sequence[Crossed], column: str, clock: Clock, within_s: tuple[float, float] | None = None
) -> list[Line]:
    """Return lines of one column, with all loads in turn, limited to `within_s` if given."""
    found = []
    for shown, result in kept:
        begin_s = 0.0
        for number, group in enumerate(result.groups, 1):
            ends_s = [begin_s + each for each in group.records.ends_s()]
            every = dots(ends_s, getattr(group.records, column))
            shown_dots = tuple(
                Dot(dot.x / clock.unit_s, dot.y, quiet=True)
                for dot in every
                if within_s is None or within_s[0] <= dot.x <= within_s[1]
            )
            if shown_dots:
                found.append(
                    Line(shown.index, f"group {number}", True, shown_dots, faint=number == 2 or None)
                )
            begin_s = ends_s[-1] if ends_s else begin_s
    return found


def _transition(
    kept: Sequence[Crossed], number: int, finding_text: str, clock: Clock, measured: tuple[str, ...]
) -> Figure:
    """Return the chart around the end of a load: throughput, mean and maximum response time."""
    result = kept[0][1]
    at_s = sum(group.records.ends_s()[-1] for group in result.groups[:number])
    around_s = min(AROUND_S, min(group.records.ends_s()[-1] for group in result.groups) / 3)
    within_s = (at_s - around_s, at_s + around_s)
    x = replace(clock.axis, range=(within_s[0] / clock.unit_s, within_s[1] / clock.unit_s))
    named: tuple[tuple[str, str, Quantity], ...] = (
        ("mb_s", "MB/s (decimal)", "mb_s"),
        ("mean_ns", "ART, log", "ns"),
        ("max_ns", "MRT, log", "ns"),
    )
    views = tuple(
        XyView(
            title.removesuffix(", log").removesuffix(" (decimal)"),
            x,
            Axis(title, quantity, "log" if quantity == "ns" else "linear"),
            tuple(_lines(kept, column, clock, within_s)),
        )
        for column, title, quantity in named
    )
    before, after = result.groups[number - 1], result.groups[number]
    return Figure(
        id=f"{CROSS_ID}-transition-{number}",
        title=f"Cross stimulus recovery: from {before.name} to {after.name}",
        lead=f"{span_text(around_s)} on each side of the change.",
        described=finding_text,
        chart=XyChart(views),
        tables=(),
        measured=measured,
        buttons=(Buttons("view", "Figure", tuple(view.label for view in views)),),
        wide=True,
    )
