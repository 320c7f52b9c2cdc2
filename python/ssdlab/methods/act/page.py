"""Report page of ACT: the slices of a test against the limits of both rules, and the search.

A search is shown by its score, the power at that load, and every load tried.
"""

from __future__ import annotations

from statistics import mode
from typing import TYPE_CHECKING

from ssdlab.analysis.act import LIMITS, MIN_DONE
from ssdlab.analysis.ratios import Efficiency
from ssdlab.plugin import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Buttons,
    Dot,
    Exhibit,
    Figure,
    Line,
    Section,
    Worked,
    XyChart,
    XyView,
    each_of,
    efficiency,
    leads,
    named,
    rates,
    share_text,
    span_text,
    together,
    with_result,
)
from ssdlab.plugin import Rule as Level

from . import findings as act
from .result import RULES, ActResult, ActSearchResult, ActTry, changed_text, last_try

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ssdlab.plugin import Shown


Tested = tuple["Shown", ActResult]
MAX_NAMED = 12
Searched = tuple["Shown", ActSearchResult]
SCORE = "ACT score"
DELIVERED = (
    "A load scores only if it kept all limits and was delivered: "
    f"{share_text(MIN_DONE)} of what was due of each stream done in every slice "
    "(ssdlab's own test, in addition to ACT's rule)."
)


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, ActResult)
    name = runs[0].run.manifest.method.name
    return Section(
        id=name,
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, act.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_slices(kept, name),),
        exhibits=(_load(kept),),
    )


def _slices(kept: Sequence[Tested], name: str) -> Figure:
    views = tuple(_slice_view(kept, ms) for ms in LIMITS)
    return Figure(
        id=f"{name}-slices",
        title="Slow reads in each slice",
        lead="Every slice must stay below the line. Solid: counted from when a read was due (rule of 2019); "
        "faint: from when a thread issued it (6.x).",
        described=" ".join(leads(kept, act.findings)),
        chart=XyChart(views),
        tables=tuple(named(shown, act.slices(result, rule)) for shown, result in kept for rule in RULES),
        measured=(
            *dict.fromkeys(
                f"Load as {result.program} {result.act_version} defines it; arrivals {result.arrivals}, "
                f"{result.service_threads} service threads, slices of {span_text(result.slice_s)}."
                for _, result in kept
            ),
            "Delivery is ssdlab's own test: 99.5 % of what was due of each stream done in every slice. I/Os "
            "that may be due together or in flight at the ends of a slice do not count.",
            "Shares come from histograms with 64 buckets an octave; a bucket that a limit splits counts by "
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
    # If all values are below the limit, extend the axis beyond it, to make room for the limit's label.
    reach = (0.0, 1.2 * limit.y) if highest < limit.y else None
    return XyView(
        f"{ms} ms or longer",
        _slice_axis(max((len(result.slices) for _, result in kept), default=0)),
        Axis(f"% of reads of {ms} ms or longer", "plain", range=reach),
        tuple(lines),
        (limit,),
    )


def _slice_axis(slices: int) -> Axis:
    """Return an axis of slice numbers, with few enough labels that they do not overlap."""
    step = max(1, slices // MAX_NAMED)
    ticks = tuple((float(number), str(number)) for number in range(1, slices + 1, step))
    return Axis("slice", "count", ticks=ticks, range=(0.5, slices + 0.5))


def _load(kept: Sequence[Tested]) -> Exhibit:
    return Exhibit(
        "The load",
        "What ACT derives from its options and prints, and what ran.",
        each_of(kept, act.load),
    )


def search_section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, ActSearchResult)
    worked = [each for one in kept for each in _worked(*one)]
    power = efficiency.figure("act-search", worked)
    return Section(
        id="act-search",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, act.search_findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_scores(kept), *((power,) if power is not None else ()), _trail(kept)),
    )


def _worked(shown: Shown, result: ActSearchResult) -> tuple[Worked, ...]:
    if result.score is None or result.score_per_w is None or result.score_w is None:
        return ()
    found = Efficiency(result.score_per_w, "x/W")
    return (Worked(shown, SCORE, result.score_text, found, result.score_w),)


def _scores(kept: Sequence[Searched]) -> Figure:
    bars = [
        rates.marked(
            Bar(shown.index, float(result.score or 0), _beside_score(result)),
            next(iter(result.scalars), None),
        )
        for shown, result in kept
    ]
    ranked = BarGroup(SCORE, rates.ranked(bars))
    rules = " and ".join(dict.fromkeys(result.rule for _, result in kept))
    return Figure(
        id="act-search-score",
        title=f"Score, by the rule of {rules} and delivered",
        lead="Highest load N of Nx that was delivered and kept every limit: higher is better."
        + (" Scores by two rules are not comparable." if " and " in rules else ""),
        described=" ".join(leads(kept, act.search_findings)),
        chart=BarsChart((BarsView("score", Axis("N of Nx", "count"), "higher", (ranked,)),)),
        tables=(together(kept, act.score),),
        measured=(
            *dict.fromkeys(
                f"ACT {result.act_version}, arrivals {result.arrivals}, {result.service_threads} service "
                f"threads; slices of {span_text(result.slice_s)}."
                for _, result in kept
            ),
            "Resolution: from the score to the lowest load that did not pass.",
        ),
        beside=(DELIVERED,),
    )


def _beside_score(result: ActSearchResult) -> str:
    """Return the note to a score: its options that are not ACT's own, and the score by ACT's rule alone."""
    notes = [changed_text(result.changed)] if result.changed else []
    if result.score_by_rule != result.score:
        notes.append(f"by the rule alone {result.by_rule_text}")
    elif result.score is None:
        notes.append("no load passed")
    return "; ".join(notes)


def _ringed(kept: Sequence[Searched]) -> str:
    judged = sum(result.judged for _, result in kept)
    if not judged:
        return "No ring: no score was judged."
    return "Ring: the score." if judged == len(kept) else "Ring: the score, if judged."


def _trail(kept: Sequence[Searched]) -> Figure:
    views = (*(_trail_view(kept, ms) for ms in LIMITS), _done_view(kept))
    decided = [at for _, result in kept if (at := _decided(result)) is not None] or [0]
    return Figure(
        id="act-search-trail",
        title="Worst slice of every load tried",
        lead=f"A load passes if delivered and below all limits. {_ringed(kept)} Hollow: ended early; "
        "its share of slow reads is a lower bound.",
        described=" ".join(leads(kept, act.search_findings)),
        chart=XyChart(views),
        tables=each_of(kept, lambda result: act.tries(result, result.score)),
        measured=(
            f"Each load ran for {span_text(kept[0][1].seconds)}, or until the drive fell behind by more than "
            "ACT allows, or until it was certain to fail.",
            "A load that ended within its first slice: its slow reads over all reads due in that slice. "
            "Those still due count as fast, so the share is a lower bound.",
            *dict.fromkeys(f"Between two loads: {result.drive_state}." for _, result in kept),
        ),
        buttons=(Buttons("view", "Limit", tuple(view.label for view in views), mode(decided)),),
        wide=True,
        beside=(DELIVERED,),
    )


def _decided(result: ActSearchResult) -> int | None:
    """Return the view that shows why the lowest load failed; None if none failed."""
    tried = result.ended_by
    if tried is None or tried.passed is None:
        return None
    failed = (
        at for at, (ms, limit) in enumerate(LIMITS.items()) if tried.share_over(ms, result.slice_s) >= limit
    )
    return next(failed, len(LIMITS))


def _trail_view(kept: Sequence[Searched], ms: int) -> XyView:
    lines = _lines(kept, lambda result, each: 100 * each.share_over(ms, result.slice_s))
    limit = Level(kept[0][0].index, 100 * LIMITS[ms], "limit")
    title = f"% of reads of {ms} ms or longer"
    return XyView(f"{ms} ms or longer", Axis("load, N of Nx", "count"), Axis(title, "plain"), lines, (limit,))


def _done_view(kept: Sequence[Searched]) -> XyView:
    lines = _lines(kept, lambda result, each: 100 * each.min_done)
    limit = Level(kept[0][0].index, 100 * MIN_DONE, "limit of each slice")
    title = "% done of what was due, slowest stream"
    return XyView("load done", Axis("load, N of Nx", "count"), Axis(title, "plain"), lines, (limit,))


def _lines(kept: Sequence[Searched], value: Callable[[ActSearchResult, ActTry], float]) -> tuple[Line, ...]:
    """Return the lines of each search over the loads that ran to their end, and a dot for each other load."""
    return tuple(
        Line(shown.index, "", False, dots)
        for shown, result in kept
        for dots in _dots(result, tuple(value(result, each) for each in result.tries))
    )


def _dots(result: ActSearchResult, values: Sequence[float]) -> Iterator[tuple[Dot, ...]]:
    """Yield the dots in the order of their loads; a load that was ended early breaks the line."""
    whole: list[Dot] = []
    scored = last_try(result.tries, result.score) if result.judged else None
    for each, value in sorted(zip(result.tries, values, strict=True), key=lambda one: one[0].load):
        dot = Dot(
            float(each.load), value, chosen=each == scored or None, unproven=None if each.completed else True
        )
        if each.completed:
            whole.append(dot)
            continue
        yield from filter(None, (tuple(whole), (dot,)))
        whole = []
    if whole:
        yield tuple(whole)
