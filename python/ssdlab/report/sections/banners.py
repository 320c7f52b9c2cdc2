"""What must be known of the numbers: departures, warnings, notes, and what makes runs unlike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.model.units import counted
from ssdlab.results.catalogue_row import kinship
from ssdlab.results.claim import as_sentence
from ssdlab.results.departures import gathered_departures
from ssdlab.results.kin import OF_AN_ENTRY, apart
from ssdlab.results.metric import united
from ssdlab.results.warned_steps import warned_steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.metric import Metric
    from ssdlab.results.warned_steps import WarnedSteps, Worded

Kind = Literal["mark", "departure", "warning", "note"]
_TITLES: dict[Kind, str] = {
    "mark": "What stands with figures",
    "departure": "Departures from the method",
    "warning": "Warnings",
    "note": "Notes",
}


@dataclass(frozen=True)
class Notice:
    """One thing to know: what it is, what it means or what to do, and whose it is."""

    what: str
    advice: str
    runs: tuple[int, ...]
    """One run for each look: a drive with several runs is named once."""
    methods: str
    """Methods of these runs, where the page has several."""
    points: tuple[str, ...] = ()
    """Where it is about single steps: each with its own figures."""
    where: str = ""
    """In how many steps it holds, and in which."""


@dataclass(frozen=True)
class Banner:
    """All notices of a kind, across the page."""

    kind: Kind
    title: str
    notices: tuple[Notice, ...]


def banners(runs: Sequence[Shown]) -> tuple[Banner, ...]:
    """Return what marks mean, departures (first what makes runs unlike), warnings and notes."""
    found: dict[Kind, list[Notice]] = {
        "mark": list(_marks(runs)),
        "departure": [*_unlike(runs), *_departures(runs)],
        "warning": _warnings(runs),
        "note": [
            Notice(note.text, note.at, (shown.index,), _methods(runs, [shown.index]))
            for shown in runs
            for note in shown.run.notes
        ],
    }
    return tuple(Banner(kind, _TITLES[kind], tuple(notices)) for kind, notices in found.items() if notices)


def _marks(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield each qualifier of the page's figures once, with the figures that it stands with."""
    figures = [(shown, figure) for shown in runs for figure in shown.run.result.scalars]
    for each in united(own for _, figure in figures for own in figure.qualifiers):
        having = [(shown, figure) for shown, figure in figures if each.code in figure.codes]
        at = [shown.index for shown, _ in having]
        points = [_marked(runs, shown, figure, each.code) for shown, figure in having]
        what = f"{each.label}: {each.kind.sentence.removesuffix('.')}"
        where = "" if len(having) < len(figures) or len(figures) == 1 else "all figures"
        advice = as_sentence(each.kind.advice)
        yield Notice(what, advice, _looks(runs, at), _methods(runs, at), tuple(dict.fromkeys(points)), where)


def _marked(runs: Sequence[Shown], shown: Shown, figure: Metric, code: str) -> str:
    title = shown.run.manifest.method.title if _several_methods(runs) else ""
    label = shown.label if len({one.style for one in runs}) > 1 else ""
    why = next(each.why for each in figure.qualifiers if each.code == code)
    whose = ", ".join(filter(None, (label, title, figure.label)))
    return f"{whose}: {why}" if why else whose


def _departures(runs: Sequence[Shown]) -> list[Notice]:
    raised_by: dict[tuple[str, str], list[int]] = {}
    for shown in runs:
        for departure in gathered_departures(shown.run.manifest):
            raised_by.setdefault((departure.what, departure.why), []).append(shown.index)
    return [_notice(runs, what, as_sentence(why), at) for (what, why), at in raised_by.items()]


def _warnings(runs: Sequence[Shown]) -> list[Notice]:
    """Gather warnings by their code, for a sweep may raise one at every depth; those of whole runs first."""
    raised_by: dict[str, list[tuple[Shown, WarnedSteps]]] = {}
    for shown in runs:
        for each in warned_steps(shown.run.warnings, shown.run.steps):
            raised_by.setdefault(each.code, []).append((shown, each))
    notices = []
    for raised in sorted(raised_by.values(), key=lambda raised: any(each.steps for _, each in raised)):
        first = raised[0][1].worded[0]
        points = tuple(_point(runs, shown, worded) for shown, each in raised for worded in each.worded)
        alike = len({worded.what for _, each in raised for worded in each.worded}) == 1
        at, where = [shown.index for shown, _ in raised], _where(raised)
        notices.append(
            Notice(
                first.what if alike else f"{_point(runs, raised[0][0], first)}; alike at other steps",
                as_sentence(first.advice),
                _looks(runs, at),
                _methods(runs, at),
                () if alike and not where else points,
                where,
            )
        )
    return notices


def _where(raised: Sequence[tuple[Shown, WarnedSteps]]) -> str:
    """Say in how many steps a warning holds: of one run which they are, of several of how many runs."""
    steps = sum(len(each.steps) for _, each in raised)
    if len(raised) == 1 or not steps:
        return raised[0][1].where
    return f"in {counted(steps, 'step')} of {len(raised)} runs"


def _point(runs: Sequence[Shown], shown: Shown, worded: Worded) -> str:
    title = shown.run.manifest.method.title if _several_methods(runs) else ""
    label = shown.label if len({one.style for one in runs}) > 1 else ""
    return f"{', '.join(filter(None, (label, title, worded.place)))}: {worded.what}"


def _notice(runs: Sequence[Shown], what: str, advice: str, at: Sequence[int]) -> Notice:
    return Notice(what, advice, _looks(runs, at), _methods(runs, at))


def _several_methods(runs: Sequence[Shown]) -> bool:
    return len({shown.run.manifest.method.name for shown in runs}) > 1


def _methods(runs: Sequence[Shown], at: Sequence[int]) -> str:
    """Name the methods of these runs, unless they are all that the page has."""
    titles = dict.fromkeys(runs[index].run.manifest.method.title for index in at)
    every = {shown.run.manifest.method.title for shown in runs}
    return "" if set(titles) == every else ", ".join(titles)


def _looks(runs: Sequence[Shown], at: Sequence[int]) -> tuple[int, ...]:
    first = {runs[index].style: index for index in sorted(at, reverse=True)}
    return tuple(sorted(first.values()))


def _unlike(runs: Sequence[Shown]) -> list[Notice]:
    """Tell where runs of one method were not taken alike."""
    groups: dict[str, list[Shown]] = {}
    for shown in runs:
        groups.setdefault(shown.run.manifest.method.name, []).append(shown)
    found = []
    for method, group in groups.items():
        first, *others = (kinship(shown.run.manifest) for shown in group)
        unlike = [each.words for other in others for each in apart(other, first, but=OF_AN_ENTRY)]
        if unlike:
            what = f"The runs of {method} are not alike: {'; '.join(dict.fromkeys(unlike))}"
            advice = "Compare them with care; the table below and the end of the page say how they differ."
            at = [shown.index for shown in group]
            found.append(Notice(what, advice, _looks(runs, at), ""))
    return found
