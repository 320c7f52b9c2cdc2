"""Aerospike ACT: slices of a test against the limits, by both rules; and the search for the highest load.

Of the search: the score, what it costs in power, and every load tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.act import LIMITS, MIN_DONE, THRESHOLDS_MS
from ssdlab.analysis.efficiency import Efficiency
from ssdlab.methods.results.act import RULES, ActResult, ActSearchResult, ActTry
from ssdlab.model.units import span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView, Dot, Line, XyChart, XyView
from ssdlab.report.charts import Rule as Level
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.runs import with_result
from ssdlab.report.sections import efficiency
from ssdlab.report.sections.efficiency import Worked
from ssdlab.report.view import Buttons, Exhibit, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ssdlab.methods.results.act import Rule
    from ssdlab.report.runs import Shown


Tested = tuple["Shown", ActResult]
MAX_NAMED = 12
_CLOCKS = {"2019": "a read counts from when it was due", "6.x": "a read counts from when a thread issued it"}
Searched = tuple["Shown", ActSearchResult]
SCORE = "ACT score"


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of tests at one load."""
    kept = with_result(runs, ActResult)
    name = runs[0].run.manifest.method.name
    return Section(
        id=name,
        title=runs[0].run.manifest.method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_slices(kept, name),),
        exhibits=(_load(kept),),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def finding(shown: Shown, result: ActResult) -> str:
    """Return both verdicts as a sentence, and what became of the stress test."""
    parts = [
        f"{'passed' if each.passed else 'failed'} by the rule of {each.rule}"
        + (f" ({each.why})" if each.why else "")
        for each in result.verdicts
    ]
    load = f"{result.load}x" if result.load else "rates of its own"
    text = f"{shown.label} at {load}: {', '.join(parts)}."
    if result.stress_completed is None:
        return text
    why = f" ({result.stress_stopped})" if result.stress_stopped else ""
    ran = "ran to its end" if result.stress_completed else f"did not run to its end{why}"
    certified = f" Certified at {result.load}x by the rule of {result.rule}." if result.certified else ""
    return f"{text} Twice the load {ran}.{certified}"


def _slices(kept: Sequence[Tested], name: str) -> Figure:
    views = tuple(_slice_view(kept, ms) for ms in LIMITS)
    return Figure(
        id=f"{name}-slices",
        title="Slow reads in each slice",
        lead="Every slice must stay below the line. Solid: counted from when a read was due (rule of 2019); "
        "faint: from when a thread issued it (6.x).",
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=tuple(_slice_table(*one, rule) for one in kept for rule in RULES),
        measured=(
            *dict.fromkeys(
                f"Load as {result.program} {result.act_version} defines it; arrivals {result.arrivals}, "
                f"{result.service_threads} service threads, slices of {span_text(result.slice_s)}."
                for _, result in kept
            ),
            "A slice counts if 99.5 % of what was due of each stream was done.",
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
                lines.append(Line(shown.index, "", False, dots, faint=faint))
    limit = Level(kept[0][0].index, 100 * LIMITS[ms], "limit")
    highest = max((dot.y for line in lines for dot in line.points), default=0.0)
    # Where all stay below the limit, the axis reaches beyond it, so that its name has room.
    reach = (0.0, 1.2 * limit.y) if highest < limit.y else None
    return XyView(
        f"{ms} ms or longer",
        _slice_axis(max((len(result.slices) for _, result in kept), default=0)),
        Axis(f"% of reads of {ms} ms or longer", "plain", range=reach),
        tuple(lines),
        (limit,),
    )


def _slice_axis(slices: int) -> Axis:
    """Return an axis of whole slices, at most so many named that they stand apart."""
    step = max(1, slices // MAX_NAMED)
    ticks = tuple((float(number), str(number)) for number in range(1, slices + 1, step))
    return Axis("slice", "count", ticks=ticks, range=(0.5, slices + 0.5))


def _slice_table(shown: Shown, result: ActResult, rule: Rule) -> Table:
    head = ("Slice", *(f"≥ {ms} ms" for ms in THRESHOLDS_MS), "Reads/s", "Load done", "Verdict")
    rows = [
        (
            numbers.count(each.number),
            *_shares(getattr(each, RULES[rule])),
            numbers.iops(each.rates[rule]),
            numbers.share(each.done_share),
            numbers.words("passed" if each.passed[rule] else "failed"),
        )
        for each in result.slices
    ]
    verdict = next(each for each in result.verdicts if each.rule == rule)
    word = "passed" if verdict.passed else "failed"
    blank = numbers.words("")
    rows.append((numbers.words("worst"), *_shares(verdict.worst), blank, blank, numbers.words(word)))
    return Table(f"{shown.label}: % of reads by the rule of {rule}; {_CLOCKS[rule]}", head, tuple(rows))


def _load(kept: Sequence[Tested]) -> Exhibit:
    return Exhibit(
        "The load",
        "What ACT derives from its options and prints, and what of it ran.",
        tuple(_load_table(*one) for one in kept),
    )


def _load_table(shown: Shown, result: ActResult) -> Table:
    parts = [
        ("load", f"{result.load}x" if result.load else "rates of its own"),
        *result.derived.items(),
        *((f"{name}, asked a second", f"{rate:g}") for name, rate in result.asked.items()),
        ("ran", f"{span_text(result.ran_s)} of {span_text(result.asked_s)}"),
        ("ended early", result.stopped or "no"),
        ("due at the end and not done", str(result.undone)),
        ("mean power", numbers.of_unit(result.mean_w, "W") if result.mean_w is not None else numbers.NOTHING),
    ]
    rows = tuple((numbers.words(name), numbers.words(text)) for name, text in parts)
    return Table(f"{shown.label}: {result.program} {result.act_version}", ("What", ""), rows)


def _shares(over: Mapping[str, float]) -> tuple[numbers.Cell, ...]:
    return tuple(numbers.Cell(f"{100 * over[str(ms)]:.2f}", repr(over[str(ms)])) for ms in THRESHOLDS_MS)


def search_section(runs: Sequence[Shown]) -> Section:
    """Return the search_section of searches for the highest load."""
    kept = with_result(runs, ActSearchResult)
    worked = [each for one in kept for each in _worked(*one)]
    power = efficiency.figure("act-search", worked)
    return Section(
        id="act-search",
        title=runs[0].run.manifest.method.title,
        lead=tuple(search_finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_scores(kept), *((power,) if power is not None else ()), _trail(kept)),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def search_finding(shown: Shown, result: ActSearchResult) -> str:
    """Return the score as a sentence, with what it is exact to."""
    if result.score is None:
        return f"{shown.label}: no load passed by the rule of {result.rule}."
    text = f"{shown.label}: {result.score}x by the rule of {result.rule}"
    if result.resolution is not None:
        text += f"; {result.score + result.resolution}x did not pass"
    if result.highest_completed is not None:
        text += f"; the highest load that ran to its end was {result.highest_completed}x"
    if result.score_per_w is not None:
        text += f"; {of_unit(result.score_per_w, 'x/W')}"
    return f"{text}."


def _worked(shown: Shown, result: ActSearchResult) -> tuple[Worked, ...]:
    if result.score is None or result.score_per_w is None or result.score_w is None:
        return ()
    found = Efficiency(result.score_per_w, "x/W")
    return (Worked(shown, SCORE, f"{result.score}x", found, result.score_w),)


def _scores(kept: Sequence[Searched]) -> Figure:
    bars = [
        Bar(shown.index, float(result.score or 0), "no load passed" if result.score is None else "x")
        for shown, result in kept
    ]
    ranked = BarGroup(SCORE, tuple(sorted(bars, key=lambda bar: -bar.value)))
    rules = " and ".join(dict.fromkeys(result.rule for _, result in kept))
    return Figure(
        id="act-search-score",
        title=f"Score, by the rule of {rules}",
        lead="Highest load N of Nx at which every limit holds: higher is better."
        + (" Scores by two rules are not comparable." if " and " in rules else ""),
        described=" ".join(search_finding(*one) for one in kept),
        chart=BarsChart((BarsView("score", Axis("N of Nx", "count"), "higher", (ranked,)),)),
        tables=(_score_table(kept),),
        measured=(
            *dict.fromkeys(
                f"ACT {result.act_version}, arrivals {result.arrivals}, {result.service_threads} service "
                f"threads; slices of {span_text(result.slice_s)}."
                for _, result in kept
            ),
            "Resolution: from the score to the lowest load that did not pass.",
        ),
    )


def _score_table(kept: Sequence[Searched]) -> Table:
    head = ("Run", "Score", "Rule", "Arrivals", "Resolution", "Highest to its end", "x/W", "W")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words("none" if result.score is None else f"{result.score}x"),
            numbers.words(result.rule),
            numbers.words(result.arrivals),
            numbers.words(numbers.NOTHING if result.resolution is None else f"{result.resolution}x"),
            numbers.words(
                numbers.NOTHING if result.highest_completed is None else f"{result.highest_completed}x"
            ),
            numbers.plain(result.score_per_w),
            numbers.plain(result.score_w),
        )
        for shown, result in kept
    )
    return Table("Scores", head, rows)


def _trail(kept: Sequence[Searched]) -> Figure:
    views = (*(_trail_view(kept, ms) for ms in LIMITS), _done_view(kept))
    return Figure(
        id="act-search-trail",
        title="Worst slice of every load tried",
        lead="A load passes that was done and stays below all limits. Ring: the score. Of a load that ended "
        "before its first slice did, what ran.",
        described=" ".join(search_finding(*one) for one in kept),
        chart=XyChart(views),
        tables=tuple(_trail_table(*one) for one in kept),
        measured=(
            f"Each load ran for {span_text(kept[0][1].seconds)}, or until the drive fell behind by more than "
            "ACT allows, or was certain to.",
            *dict.fromkeys(f"Between two loads: {result.drive_state}." for _, result in kept),
        ),
        buttons=(Buttons("view", "Limit", tuple(view.label for view in views), 0),),
        wide=True,
    )


def _trail_view(kept: Sequence[Searched], ms: int) -> XyView:
    lines = tuple(_line(*one, lambda each: 100 * each.worst[str(ms)]) for one in kept)
    limit = Level(kept[0][0].index, 100 * LIMITS[ms], "limit")
    title = f"% of reads of {ms} ms or longer"
    return XyView(f"{ms} ms or longer", Axis("load, N of Nx", "count"), Axis(title, "plain"), lines, (limit,))


def _done_view(kept: Sequence[Searched]) -> XyView:
    lines = tuple(_line(*one, lambda each: 100 * each.min_done) for one in kept)
    limit = Level(kept[0][0].index, 100 * MIN_DONE, "limit of each slice")
    title = "% of what was due that was done, of the stream that did least"
    return XyView("load done", Axis("load, N of Nx", "count"), Axis(title, "plain"), lines, (limit,))


def _line(shown: Shown, result: ActSearchResult, value: Callable[[ActTry], float]) -> Line:
    dots = tuple(
        Dot(float(each.load), value(each), chosen=(each.load == result.score) or None)
        for each in sorted(result.tries, key=lambda one: one.load)
    )
    return Line(shown.index, "", False, dots)


def _trail_table(shown: Shown, result: ActSearchResult) -> Table:
    head = ("Load", "Drive before", "Written before", "Ran", *(f"≥ {ms} ms" for ms in LIMITS), "Done", "W")
    rows = tuple(
        (
            numbers.words(f"{each.load}x"),
            numbers.words(each.drive_state),
            numbers.Cell(f"{each.written_before_bytes / 1e9:.3g} GB", str(each.written_before_bytes)),
            numbers.seconds(each.ran_s),
            *(numbers.plain(100 * each.worst[str(ms)]) for ms in LIMITS),
            numbers.share(each.min_done),
            numbers.plain(each.mean_w),
            numbers.words("passed" if each.passed else each.why),
        )
        for each in result.tries
    )
    caption = f"{shown.label}: every load tried, in the order of the search; % of reads"
    return Table(caption, (*head, "Verdict"), rows)
