"""The search for the highest load of ACT: the score, what it costs in power, and every load tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.act_verdict import LEAST_DONE, LIMITS
from ssdlab.analysis.efficiency import Efficiency
from ssdlab.methods.results.act import ActSearchResult, ActTry
from ssdlab.model.units import span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView, Dot, Line, XyChart, XyView
from ssdlab.report.charts import Rule as Level
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.sections import efficiency
from ssdlab.report.sections.efficiency import Worked
from ssdlab.report.view import Buttons, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.report.runs import Shown

Searched = tuple["Shown", ActSearchResult]
SCORE = "ACT score"


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of searches for the highest load."""
    kept = [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, ActSearchResult)]
    worked = [each for one in kept for each in _worked(*one)]
    power = efficiency.figure("act-search", worked)
    return Section(
        id="act-search",
        title=runs[0].run.manifest.method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_scores(kept), *((power,) if power is not None else ()), _trail(kept)),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def finding(shown: Shown, result: ActSearchResult) -> str:
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
        described=" ".join(finding(*one) for one in kept),
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
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=tuple(_trail_table(*one) for one in kept),
        measured=(
            f"Each load ran for {span_text(kept[0][1].seconds)}, or until the drive fell behind by more than "
            "ACT allows, or was seen to come to that.",
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
    lines = tuple(_line(*one, lambda each: 100 * each.least_done) for one in kept)
    limit = Level(kept[0][0].index, 100 * LEAST_DONE, "limit of each slice")
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
            numbers.share(each.least_done),
            numbers.plain(each.mean_w),
            numbers.words("passed" if each.passed else each.why),
        )
        for each in result.tries
    )
    caption = f"{shown.label}: every load tried, in the order of the search; % of reads"
    return Table(caption, (*head, "Verdict"), rows)
