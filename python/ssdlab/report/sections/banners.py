"""Notices about the numbers of a page: qualifiers, departures, warnings, notes, and differences between runs.

Each appears once, with its methods and drives. Warnings about single steps also appear with their run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ssdlab.model.units import counted
from ssdlab.model.warning_texts import Level, level_of
from ssdlab.report.sections.conclusion import of_same_steps
from ssdlab.report.together import alike, with_numbers, words_of
from ssdlab.results.catalogue_row import kinship, size_of, software_of
from ssdlab.results.claim import as_sentence
from ssdlab.results.kin import OF_AN_ENTRY, apart, more_spare, software_apart
from ssdlab.results.metric import united
from ssdlab.results.remarks import gathered_departures, is_shortened, warned_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ssdlab.report.charts import RunStyle
    from ssdlab.report.runs import Shown
    from ssdlab.results.metric import Metric
    from ssdlab.results.remarks import WarnedSteps

Kind = Literal["mark", "departure", "warning", "remark", "note"]


_TITLES: dict[Kind, str] = {
    "mark": "Qualifiers of figures",
    "departure": "Departures from the method",
    "warning": "Warnings",
    "remark": "Remarks",
    "note": "Notes",
}


_SHORTER = (
    "shorter than the method or its quick preset asks for",
    "the parameters of each run say by how much",
)


@dataclass(frozen=True)
class Point:
    """Where a notice applies, and why, unless the reason is the same everywhere."""

    text: str
    """Methods, their figures in brackets, and the reason; empty: the whole page."""
    runs: tuple[int, ...]
    """One run for each drive to which the notice applies; empty: all drives."""


@dataclass(frozen=True)
class Notice:
    """A notice: a statement, its meaning or advice, and where it applies."""

    what: str
    advice: str
    points: tuple[Point, ...] = ()
    where: str = ""
    """Steps to which it applies, or their number."""


@dataclass(frozen=True)
class Banner:
    kind: Kind
    title: str
    notices: tuple[Notice, ...]


def banners(runs: Sequence[Shown]) -> tuple[Banner, ...]:
    """Return the notices by kind: qualifiers, departures (differences first), warnings, remarks and notes."""
    found: dict[Kind, Iterable[Notice]] = {
        "mark": _marks(runs),
        "departure": (*_unlike(runs), *_departures(runs)),
        "warning": _warnings(runs, "alarm"),
        "remark": (*_entries(runs), *_warnings(runs, "note")),
        "note": _notes(runs),
    }
    kept = ((kind, tuple(notices)) for kind, notices in found.items())
    return tuple(Banner(kind, _TITLES[kind], notices) for kind, notices in kept if notices)


def test_notes(found: Sequence[Banner]) -> str:
    """Return the labels of figures' qualifiers, and the numbers of other notices."""
    of = {banner.kind: banner.notices for banner in found}
    marks = [notice.what.partition(":")[0] for notice in of.get("mark", ())]
    counts = [counted(len(of[kind]), kind) for kind in ("departure", "warning", "remark") if kind in of]
    return ", ".join((*marks, *counts))


def with_more(found: Sequence[Banner], more: Mapping[Kind, Sequence[Notice]]) -> tuple[Banner, ...]:
    """Return banners with further notices before their own; equal notices are merged."""
    had = {banner.kind: banner.notices for banner in found}
    both = ((kind, _once((*more.get(kind, ()), *had.get(kind, ())))) for kind in _TITLES)
    return tuple(Banner(kind, _TITLES[kind], notices) for kind, notices in both if notices)


def _once(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Merge notices with the same words; if one applies to the whole page, the merged one does."""
    found: dict[tuple[str, str], list[Notice]] = {}
    for each in notices:
        found.setdefault((each.what, each.advice), []).append(each)
    return tuple(
        replace(
            own[0],
            points=tuple(point for each in own for point in each.points)
            if all(each.points for each in own)
            else (),
        )
        for own in found.values()
    )


def _marks(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield each qualifier on the page once, with its reasons and the figures that have it."""
    figures = [(shown, figure) for shown in runs for figure in shown.run.result.scalars]
    for each in united(own for _, figure in figures for own in figure.qualifiers):
        having: dict[tuple[int, str], list[Metric]] = {}
        for shown, figure in figures:
            for own in figure.qualifiers:
                if own.code == each.code:
                    having.setdefault((shown.index, own.why), []).append(figure)
        points = _points(runs, [(runs[at], _which(runs[at], own), why) for (at, why), own in having.items()])
        what = f"{each.label}: {each.kind.sentence.removesuffix('.')}"
        yield Notice(what, as_sentence(each.kind.advice), points)


def _which(shown: Shown, having: Sequence[Metric]) -> str:
    """Return the labels of figures, one for all figures of the same steps; empty if all the run's have it."""
    if len(having) == len(shown.run.result.scalars):
        return ""
    groups = of_same_steps(shown.run.result.scalars)
    whole = [own for own in groups if all(each in having for each in own)]
    labels = (
        own[0].label if own in whole else each.label for own in groups for each in own if each in having
    )
    return ", ".join(dict.fromkeys(labels))


def _departures(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield each departure once; shortened durations are in the run's parameters."""
    raised_by: dict[tuple[str, str], list[Shown]] = {}
    for shown in runs:
        for each in gathered_departures(shown.run.manifest):
            if each.code not in ("quick", "shorter"):
                raised_by.setdefault((each.what, each.why), []).append(shown)
            elif is_shortened(shown.run.manifest):
                raised_by.setdefault(_SHORTER, []).append(shown)
    for (what, why), own in raised_by.items():
        yield Notice(what, as_sentence(why), _points(runs, [(each, "", "") for each in own]))


def _warnings(runs: Sequence[Shown], level: Level) -> Iterator[Notice]:
    """Yield the warnings of a level, grouped by code; those about whole runs come first.

    A sweep can raise one warning at every depth. Warnings that differ only by their numbers are merged, and
    all warnings of a code share one advice.
    """
    raised_by: dict[str, list[tuple[Shown, WarnedSteps]]] = {}
    for shown in runs:
        for each in warned_steps(shown.run.warnings, shown.run.steps):
            if level_of(each.code) == level:
                raised_by.setdefault(each.code, []).append((shown, each))
    for raised in sorted(raised_by.values(), key=lambda raised: any(each.steps for _, each in raised)):
        advice = as_sentence(raised[0][1].worded[0].advice)
        for worded, numbers in alike(one.what for _, each in raised for one in each.worded).items():
            own = [
                (shown, replace(each, worded=kept))
                for shown, each in raised
                if (kept := tuple(one for one in each.worded if words_of(one.what) == worded))
            ]
            points = _points(runs, [(shown, "", "") for shown, _ in own])
            yield Notice(with_numbers(worded, numbers), advice, points, _where(own))
            advice = ""


def _where(raised: Sequence[tuple[Shown, WarnedSteps]]) -> str:
    """Return to which steps of one run a warning applies, or to how many steps of several runs."""
    steps = sum(len(each.steps) for _, each in raised)
    if len(raised) == 1 or not steps:
        return raised[0][1].where
    return f"in {counted(steps, 'step')} of {len(raised)} runs"


def _notes(runs: Sequence[Shown]) -> Iterator[Notice]:
    found: dict[tuple[str, str], list[Shown]] = {}
    for shown in runs:
        for note in shown.run.notes:
            found.setdefault((note.words.removesuffix("."), note.date), []).append(shown)
    for (text, at), own in found.items():
        yield Notice(text, at, _points(runs, [(each, "", "") for each in own]))


def _unlike(runs: Sequence[Shown]) -> Iterator[Notice]:
    groups: dict[str, list[Shown]] = {}
    for shown in runs:
        groups.setdefault(shown.run.manifest.method.name, []).append(shown)
    found: dict[str, list[Shown]] = {}
    for group in groups.values():
        first, *others = (kinship(shown.run.manifest) for shown in group)
        unlike = [each.words for other in others for each in apart(other, first, but=OF_AN_ENTRY)]
        if unlike:
            found.setdefault("; ".join(dict.fromkeys(unlike)), []).extend(group)
    for why, own in found.items():
        what = f"Runs of one method differ: {why}"
        advice = "Compare them with care; the table below and the end of the page show the differences."
        yield Notice(what, advice, _points(runs, [(each, "", "") for each in own]))


def _entries(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield which drives have more spare area, and which software differs between runs."""
    if more := more_spare((shown.style.short, size_of(shown.run.manifest)[1]) for shown in runs):
        yield Notice(more, "")
    first = {shown.label: shown.index for shown in reversed(runs)}
    unlike = software_apart((shown.label, software_of(shown.run.manifest)) for shown in runs)
    if unlike:
        points = (Point(words, tuple(first[name] for name in names)) for words, names in unlike.items())
        advice = "No method's version differs between them, so the runs are ranked together."
        yield Notice("Measured with different software", advice, tuple(points))


def _points(runs: Sequence[Shown], found: Sequence[tuple[Shown, str, str]]) -> tuple[Point, ...]:
    """Return where a notice applies.

    `found` has runs, each with its figures (empty: all) and the reason.
    """
    holds: dict[tuple[str, str, str], set[RunStyle]] = {}
    for shown, figures, why in found:
        holds.setdefault((why, shown.run.manifest.method.title, figures), set()).add(shown.style)
    gathered: dict[tuple[str, tuple[int, ...]], list[tuple[str, str]]] = {}
    for (why, title, figures), styles in holds.items():
        gathered.setdefault((why, _looks(runs, styles)), []).append((title, figures))
    titles = {shown.run.manifest.method.title for shown in runs}
    points = []
    for (why, at), own in gathered.items():
        if len(titles) == 1:
            names = [figures for _, figures in own]
        elif {title for title, figures in own if not figures} == titles:
            names = []
        else:
            names = [f"{title} ({figures})" if figures else title for title, figures in own]
        points.append(Point(": ".join(filter(None, (", ".join(filter(None, names)), why))), at))
    return tuple(each for each in points if each.text or each.runs)


def _looks(runs: Sequence[Shown], styles: set[RunStyle]) -> tuple[int, ...]:
    """Return the first run of each of these drives; empty if these are all the drives of the page."""
    first = {shown.style: shown.index for shown in reversed(runs)}
    return () if styles == set(first) else tuple(sorted(first[each] for each in styles))
