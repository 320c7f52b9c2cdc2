"""Aerospike ACT: slices of a test against the limits, and the trail of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.act_verdict import LIMITS, THRESHOLDS_MS
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.view import Buttons, Figure, Section
from ssdlab.results.act import RULES, ActResult, ActSearchResult
from ssdlab.units import span_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.report.runs import Shown

Tested = tuple["Shown", ActResult]
Searched = tuple["Shown", ActSearchResult]


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of tests at one load."""
    kept = [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, ActResult)]
    return Section(
        id="act",
        title=runs[0].run.manifest.method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_slices(kept),),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def search_section(runs: Sequence[Shown]) -> Section:
    """Return the section of searches for the highest load."""
    kept = [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, ActSearchResult)]
    return Section(
        id="act-search",
        title=runs[0].run.manifest.method.title,
        lead=tuple(search_finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_trail(kept),),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def finding(shown: Shown, result: ActResult) -> str:
    """Return both verdicts as a sentence."""
    told = [
        f"{'passed' if each.passed else 'failed'} by the rule of {each.rule}"
        + (f" ({each.why})" if each.why else "")
        for each in result.verdicts
    ]
    load = f"{result.load}x" if result.load else "rates of its own"
    text = f"{shown.label} at {load}: {', '.join(told)}."
    if result.stress_completed is None:
        return text
    return f"{text} At twice the load it {'ran' if result.stress_completed else 'did not run'} to its end."


def search_finding(shown: Shown, result: ActSearchResult) -> str:
    """Return the score as a sentence."""
    score = "no load passed" if result.score is None else f"{result.score}x"
    text = f"{shown.label}: {score} by the rule of {result.rule}, in steps of {result.resolution}x"
    if result.highest_completed is not None:
        text += f"; the highest load that ran to its end was {result.highest_completed}x"
    if result.score_per_w is not None:
        text += f"; {of_unit(result.score_per_w, 'x/W')}"
    return f"{text}."


def _slices(kept: Sequence[Tested]) -> Figure:
    views = tuple(_slice_view(kept, ms) for ms in LIMITS)
    return Figure(
        id="act-slices",
        title="Slow reads in each slice",
        lead="Every slice must stay below the line. Solid: counted from when a read was due (2019); faint: "
        "from when it was issued (6.x).",
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=(*(_slice_table(*one) for one in kept), _load_table(kept)),
        measured=(
            f"Load as ACT {kept[0][1].act_version} defines it; arrivals {kept[0][1].arrivals}, "
            f"slices of {span_text(kept[0][1].slice_s)}.",
            "Shares come from histograms with 64 buckets an octave; the bucket that a limit cuts counts by "
            "its part above.",
        ),
        buttons=(Buttons("view", "Limit", tuple(view.label for view in views), 0),),
        wide=True,
    )


def _slice_view(kept: Sequence[Tested], ms: int) -> XyView:
    lines = []
    for shown, result in kept:
        for clock in RULES.values():
            dots = tuple(
                Dot(float(each.number), 100 * getattr(each, clock)[str(ms)]) for each in result.slices
            )
            if dots:
                faint = True if clock == "service" else None
                lines.append(Line(shown.index, clock, False, dots, faint=faint))
    limit = Rule(kept[0][0].index, 100 * LIMITS[ms], "limit")
    return XyView(
        f"{ms} ms or longer",
        Axis("slice", "count"),
        Axis(f"% of reads of {ms} ms or longer", "plain"),
        tuple(lines),
        (limit,),
    )


def _slice_table(shown: Shown, result: ActResult) -> Table:
    rule = RULES[result.rule]
    head = ("Slice", *(f"≥ {ms} ms" for ms in THRESHOLDS_MS), "Reads/s", "Done")
    rows = [
        (
            numbers.count(each.number),
            *_shares(getattr(each, rule)),
            numbers.iops(each.rate),
            numbers.share(each.done_share),
        )
        for each in result.slices
    ]
    worst = next(each.worst for each in result.verdicts if each.rule == result.rule)
    rows.append((numbers.words("worst"), *_shares(worst), numbers.words(""), numbers.words("")))
    return Table(f"{shown.label}: % of reads, by the rule of {result.rule}", head, tuple(rows))


def _load_table(kept: Sequence[Tested]) -> Table:
    head = ("Run", "Load", "Reads/s", "Large reads/s", "Large writes/s", "Records a block", "Threads", "W")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(f"{result.load}x" if result.load else "of its own"),
            numbers.count(result.rates.internal_read_reqs),
            numbers.plain(result.rates.large_block_reads),
            numbers.plain(result.rates.large_block_writes),
            numbers.count(result.rates.records_per_block),
            numbers.count(result.service_threads),
            numbers.plain(result.mean_w),
        )
        for shown, result in kept
    )
    return Table("The load that ACT derives", head, rows)


def _trail(kept: Sequence[Searched]) -> Figure:
    views = tuple(_trail_view(kept, ms) for ms in LIMITS)
    return Figure(
        id="act-search-trail",
        title="Worst slice of every load tried",
        lead="Below the line passes. Ring: the score.",
        described=" ".join(search_finding(*one) for one in kept),
        chart=XyChart(views),
        tables=(_trail_table(kept),),
        measured=(
            f"Each load ran for {span_text(kept[0][1].seconds)}, or until the drive fell behind by more than "
            "ACT allows.",
            f"Between two loads: {kept[0][1].drive_state}.",
        ),
        buttons=(Buttons("view", "Limit", tuple(view.label for view in views), 0),),
        wide=True,
    )


def _trail_view(kept: Sequence[Searched], ms: int) -> XyView:
    lines = tuple(
        Line(
            shown.index,
            "",
            False,
            tuple(
                Dot(float(each.load), 100 * each.worst[str(ms)], chosen=(each.load == result.score) or None)
                for each in sorted(result.tries, key=lambda one: one.load)
            ),
        )
        for shown, result in kept
    )
    limit = Rule(kept[0][0].index, 100 * LIMITS[ms], "limit")
    title = f"% of reads of {ms} ms or longer"
    return XyView(f"{ms} ms or longer", Axis("load, N of Nx", "count"), Axis(title, "plain"), lines, (limit,))


def _trail_table(kept: Sequence[Searched]) -> Table:
    head = ("Run", "Load", "Ran", *(f"≥ {ms} ms" for ms in LIMITS), "Passed", "Why not", "W")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(f"{each.load}x"),
            numbers.seconds(each.ran_s),
            *(numbers.plain(100 * each.worst[str(ms)]) for ms in LIMITS),
            numbers.words("yes" if each.passed else "no"),
            numbers.words(each.why),
            numbers.plain(each.mean_w),
        )
        for shown, result in kept
        for each in result.tries
    )
    return Table("Every load tried, in the order of the search; % of reads", head, rows)


def _shares(over: Mapping[str, float]) -> tuple[numbers.Cell, ...]:
    return tuple(numbers.Cell(f"{100 * over[str(ms)]:.2f}", repr(over[str(ms)])) for ms in THRESHOLDS_MS)
