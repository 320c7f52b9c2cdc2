"""SNIA PTS, host idle recovery: preconditioning, its window, and bursts after rests against the baseline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ssdlab.methods.results.pts_series import PtsIdleRecoveryResult
from ssdlab.model.units import significant, span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Line, Rule, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.sections import pts_window
from ssdlab.report.sections.pts_records import Clock, dots, how, responses, scaled
from ssdlab.report.sections.pts_section import of_kind, section_of
from ssdlab.report.sections.pts_window import Judged
from ssdlab.report.view import Buttons, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.pts_series import PtsWait
    from ssdlab.report.runs import Shown

    Rested = tuple[Shown, PtsIdleRecoveryResult]

ID = "pts-host-idle-recovery"


def section(runs: Sequence[Shown]) -> Section:
    """Return the pages of the test."""
    kept = of_kind(runs, PtsIdleRecoveryResult)
    return section_of(kept, finding, list(_pages(kept)))


def finding(shown: Shown, result: PtsIdleRecoveryResult) -> str:
    """Return the gain of each rest as a sentence."""
    gains = ", ".join(f"{_percent(wait.of_baseline)} after {span_text(wait.idle_s)}" for wait in result.waits)
    steady = "" if result.samples.steady else ", which is NOT steady,"
    return (
        f"{shown.label}, {result.setting} of {result.specification}: bursts reach {gains} of rest, of a "
        f"baseline{steady} of {of_unit(result.baseline_iops, 'IOPS')}."
    )


def _pages(kept: Sequence[Rested]) -> Iterator[Figure]:
    said = " ".join(finding(*one) for one in kept)
    yield _preconditioning(kept, said)
    judged = [
        Judged(
            shown,
            result.samples.variable,
            result.samples.steady,
            result.samples.first,
            result.samples.last,
            "sample",
        )
        for shown, result in kept
    ]
    views = tuple(pts_window.view(one, one.shown.label) for one in judged)
    yield Figure(
        id=f"{ID}-window",
        title="Host idle recovery: preconditioning, steady-state window",
        lead=pts_window.LEAD,
        described=said,
        chart=XyChart(views),
        tables=(pts_window.table(judged),),
        measured=(pts_window.RULE, "The mean of this window is the baseline."),
        buttons=(Buttons("view", "Run", tuple(view.label for view in views)),) if len(views) > 1 else (),
    )
    yield _course(kept, said)
    yield _responses(kept, said)


def _preconditioning(kept: Sequence[Rested], said: str) -> Figure:
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
        f"{ID}-preconditioning",
        "Host idle recovery: preconditioning",
        "From the purged drive on, without pauses. Ringed: the sample of each round.",
        said,
        clock.axis,
        ("IOPS", "iops"),
        lines,
        measured=(how(kept[0][1], kept[0][1].writes.seconds),),
    )


def _course(kept: Sequence[Rested], said: str) -> Figure:
    """Return all bursts one after the other, and what followed each train of them, with the baseline."""
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
        f"{ID}-course",
        "Host idle recovery: IOPS over time, all wait states",
        "Each dot of a coloured line is a burst, named by the rest between them; in the colour of the text: "
        "writes without rests, which bring the drive back.",
        said,
        clock.axis,
        ("IOPS", "iops"),
        lines,
        measured=(
            f"Bursts of {span_text(first.burst_s)}; {len(first.waits[0].bursts.iops)} with each rest, then "
            f"{span_text(first.waits[0].back.ends_s()[-1])} without any.",
            "A burst counts the I/Os done within it.",
        ),
        tables=(_table(kept),),
        rules=tuple(rules),
    )


def _responses(kept: Sequence[Rested], said: str) -> Figure:
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
        id=f"{ID}-response",
        title="Host idle recovery: response times of the bursts (ART, 5 9s, MRT)",
        lead="Of each burst: the mean, the time that 99.999 % of its I/Os keep, and the longest.",
        described=said,
        chart=XyChart(views),
        tables=(),
        measured=(how(kept[0][1], kept[0][1].burst_s),),
        buttons=(Buttons("view", "Wait state", tuple(view.label for view in views)),),
        wide=True,
    )


def _ends(result: PtsIdleRecoveryResult) -> list[float]:
    """Return when each wait state ends, the writes after it included, from the first burst on."""
    ends: list[float] = []
    for wait in result.waits:
        trains_s = len(wait.bursts.iops) * (wait.idle_s + result.burst_s)
        ends.append((ends[-1] if ends else 0.0) + trains_s + wait.back.ends_s()[-1])
    return ends


def _table(kept: Sequence[Rested]) -> Table:
    head = ("Run", "Wait state", "Bursts", "Mean IOPS", "Of baseline", "ART", "MRT", "After it, at the end")
    rows = []
    for shown, result in kept:
        who = numbers.of_run(shown.label, shown.index)
        baseline = numbers.iops(result.baseline_iops)
        name = f"baseline{'' if result.samples.steady else ', NOT steady'}"
        nothing = [numbers.words("")] * 3
        rows.append((who, numbers.words(name), numbers.words(""), baseline, numbers.share(1.0), *nothing))
        rows += [(who, *_row(wait)) for wait in result.waits]
    return Table("Mean of each wait state against the baseline", head, tuple(rows))


def _row(wait: PtsWait) -> tuple[numbers.Cell, ...]:
    return (
        numbers.seconds(wait.idle_s),
        numbers.count(len(wait.bursts.iops)),
        numbers.iops(wait.mean_iops),
        numbers.share(wait.of_baseline),
        numbers.latency(wait.mean_ns),
        numbers.latency(wait.max_ns),
        numbers.iops(wait.back_iops),
    )


def _percent(share: float) -> str:
    return f"{significant(100 * share)} %"
