"""The verdict: one paragraph made of findings, each with the chart that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.units import and_listed, counted, ends_text, share_text
from ssdlab.report.chart_links import ChartLink
from ssdlab.report.drive_count import among
from ssdlab.report.runs import entries
from ssdlab.report.standings import UNLIKE, ordinal, percent, withheld
from ssdlab.results import cells
from ssdlab.results.metric import labelled, labels
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.lab.kinds import RepeatedFigure
    from ssdlab.report.runs import Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.metric import Metric

_ALL = "all "


@dataclass(frozen=True)
class Clause:
    """One finding in words, with the chart that it is taken from."""

    text: str
    link: ChartLink
    name: str
    """Of the figure; of a method without one its title."""


@dataclass(frozen=True)
class Median:
    """A figure over the runs of one drive in one suite."""

    figure: RepeatedFigure
    drive: str
    """Of which drive, where there are several; else empty."""

    @property
    def name(self) -> str:
        """Of the figure."""
        return self.figure.name


@dataclass(frozen=True)
class _Finding:
    """A sentence, and the drives that it names."""

    text: str
    of: str
    """Name of the figure; of a method without one its title."""
    drives: tuple[str, ...]


def verdict(
    figures: Sequence[str],
    standings: Mapping[str, Standing],
    charts: Mapping[str, ChartLink],
    order: Sequence[str] = (),
    runs: Sequence[Shown] = (),
    medians: Sequence[Median] = (),
) -> tuple[Clause, ...]:
    """Return a clause for each figure: who wins and by how much; of one drive, how it keeps its ratings.

    Every drive is named, and every method that passes a drive or fails it. What was measured with a made-up
    example comes last.

    Parameters
    ----------
    figures
        Names of those of the top.
    standings
        Their ranks.
    charts
        What leads to each figure, by its name; for each method what leads to its section.
    order
        Methods in the order of the review's chapters; empty: there is none, and tiles keep theirs.
    runs
        Of the page.
    medians
        What the runs of one drive in one suite say together: they are not ranked beside each other.
    """
    medians = [each for each in medians if each.name in figures]
    found = [standings[name] for name in dict.fromkeys(figures) if name in standings]
    at = {method: number for number, method in enumerate(order)}
    found.sort(key=lambda each: (each.example, at.get(each.method, len(at))))
    one_method = len({standing.method for standing in found}) == 1
    many = any(len(standing.places) > 1 for standing in standings.values())
    titles = {each.name: each.label if one_method and not each.example else each.words for each in found}
    sentences = [one for each in found for one in _findings(each, titles[each.name], many=many)]
    named = {drive for one in sentences for drive in one.drives}
    sentences += _of_the_others(found, titles, named, runs, [one.text for one in sentences])
    sentences += _without_any({each.method for each in standings.values()}, runs)
    sentences += _passed({each.method for each in found}, runs)
    together = ((each.name, _of_several(each, titles)) for each in medians)
    sentences = [*(_Finding(text, name, ()) for name, text in together if text), *sentences]
    return tuple(Clause(_sentence(one.text), charts.get(one.of, ChartLink("")), one.of) for one in sentences)


def _findings(standing: Standing, what: str, *, many: bool) -> Iterator[_Finding]:
    places = standing.ranked
    if len(places) > 1:
        level = standing.sharing(places[0])
        if len(level) > 1:
            why = f" ({reason})" if (reason := standing.why_level(places[0])) else ""
            others = unranked_beyond(standing, level[-1])
            text = f"{_whole(level, standing)} level at {_texts(level)}{why}{_beside(standing, others)}"
            named = () if text.startswith(_ALL) else _names(level)
            yield _Finding(f"{what}: {text}", standing.name, (*named, *_names(others)))
        else:
            first, behind = places[0], standing.sharing(places[1])
            lead = _lead(first.ahead, standing.better)
            every = len(behind) > 2 and len(behind) == len(places) - 1
            whom = f"the {len(behind)} others" if every else and_listed(_names(behind))
            share = f", who share {ordinal(places[1].rank or 2)} place" if len(behind) > 1 else ""
            better = unranked_beyond(standing, first)
            wins = "is first of those ranked" if better else "wins"
            others = (*better, *(one for one in unranked_beyond(standing, behind[-1]) if one not in better))
            text = f"{_names([first])[0]} {wins} with {first.text}, {lead} {whom} ({_texts(behind)}){share}"
            named = _names([first] if every else [first, *behind])
            text += _beside(standing, others)
            yield _Finding(f"{what}: {text}", standing.name, (*named, *_names(others)))
    elif len(standing.places) == 1 and places:
        rated = places[0].rated
        share = "" if rated is None else f"{cells.share(rated.share).text} of what it is rated for"
        if many or standing.withheld:
            whose = f"{places[0].shown.style.short} alone has {places[0].marked}{_beside(standing, ())}"
            yield _Finding(f"{what}: {', '.join(filter(None, (whose, share)))}", standing.name, ())
        elif share:  # of one drive the tile says the rest
            yield _Finding(f"{what}: {share}", standing.name, _names(places))
    elif places:
        others = unranked_beyond(standing, places[0])
        text = f"{_names(places)[0]} alone is ranked, with {places[0].marked}{_beside(standing, others)}"
        yield _Finding(f"{what}: {text}", standing.name, (*_names(places), *_names(others)))
    elif standing.unranked and standing.unlike != UNLIKE:
        ends = sorted(standing.places, key=lambda place: place.value, reverse=standing.better == "higher")
        first, last = ends[0], ends[-1]
        why, texts = _each_once(standing, (first, last))
        one, other = (
            f"{text} of {place.shown.style.short}" for place, text in zip((first, last), texts, strict=True)
        )
        yield _Finding(f"{what}: not ranked{why}, {one} to {other}", standing.name, _names((first, last)))


def unranked_beyond(standing: Standing, place: Place, *, worse: bool = False) -> tuple[Place, ...]:
    """Return the figures without a rank that are better than a place, or worse: it holds only beside them.

    Further runs of a drive that is ranked there or beyond are none of them: it has its place.
    """
    sign = 1.0 if (standing.better == "higher") != worse else -1.0
    ranked = {_entry(each) for each in standing.ranked if sign * each.value >= sign * place.value}
    return tuple(
        each
        for each in (*standing.places, *standing.further)
        if each.rank is None
        and sign * each.value > sign * place.value
        and not (each.instead and _entry(each) in ranked)
    )


def not_ranked(standing: Standing, places: Sequence[Place]) -> str:
    """Return the figures of drives without a rank, and why they have none; empty: there are none."""
    reasons: dict[str, list[str]] = {}
    for each in places:
        own = f"{each.shown.style.short} with {each.text}"
        reasons.setdefault(each.instead or standing.why_not((each,)), []).append(own)
    found = "; ".join(f"{and_listed(own)}, {why}" for why, own in reasons.items())
    return f"not ranked: {found}" if found else ""


def _beside(standing: Standing, places: Sequence[Place]) -> str:
    return "".join(
        f"; {text}" for text in (not_ranked(standing, places), no_value(standing.withheld)) if text
    )


def no_value(held: Sequence[tuple[Shown, Metric]]) -> str:
    """Return whose figures have no value, and for what; empty: nobody's."""
    reasons: dict[str, dict[str, None]] = {}
    for shown, figure in held:
        reasons.setdefault(labels(figure.unfit("ranking")), {})[shown.style.short] = None
    found = "; ".join(f"{and_listed(list(names))}, {why}" for why, names in reasons.items())
    return f"no value of {found}" if found else ""


def _each_once(standing: Standing, places: Sequence[Place]) -> tuple[str, list[str]]:
    """Return in brackets why none of several places is ranked, and their figures: no label is told twice."""
    why = standing.why_not(places)
    if standing.unlike:
        return f" ({why})", [place.marked for place in places]
    alike = {place.unfit for place in places} == {why}
    return (f" ({why})" if alike else ""), [_beyond(place) if alike else place.marked for place in places]


def _beyond(place: Place) -> str:
    """Return a figure with those of its labels that forbid no rank."""
    unfit = {each.code for each in place.figure.unfit("ranking")}
    return labelled(place.text, labels(each for each in place.figure.qualifiers if each.code not in unfit))


def _entry(place: Place) -> tuple[str, str]:
    return place.shown.drive.id, place.shown.drive.name


def _whole(level: Sequence[Place], standing: Standing) -> str:
    """Return who is level: all of them by their number, else by their names."""
    if len(level) > 2 and len(level) == len(standing.ranked):
        drives = among(place.shown.drive for place in level)
        ranked = " ranked" if len(level) < len(standing.places) else ""
        return f"{_ALL}{len(level)}{ranked}{f' ({drives})' if drives else ''} are"
    return f"{and_listed(_names(level))} are"


def _of_the_others(
    found: Sequence[Standing],
    titles: Mapping[str, str],
    named: set[str],
    runs: Sequence[Shown],
    phrase: Sequence[str],
) -> Iterator[_Finding]:
    """Yield where the drives stand that no sentence has named, each in the first figure that it has."""
    drives = [entry.style.short for entry in entries(runs)]
    left = [drive for drive in drives if len(drives) > 1 and drive not in named]
    rest = ", those not named before" if named else ""
    for standing in found:
        own = [place for place in standing.places if place.shown.style.short in left]
        ranked = [place for place in own if place.rank is not None]
        if ranked and len(standing.places) < 2:  # runs of one drive are not ranked beside each other
            place = ranked[0]
            text = f"{place.shown.style.short} alone has {place.marked}{_beside(standing, ())}"
            yield _Finding(f"{titles[standing.name]}{rest}: {text}", standing.name, ())
        elif ranked:
            beyond = unranked_beyond(standing, ranked[-1])
            unranked = (*beyond, *(place for place in own if place.rank is None and place not in beyond))
            others = and_listed(list(_of_each_rank(standing, ranked))) + _beside(standing, unranked)
            own += beyond
            yield _Finding(f"{titles[standing.name]}{rest}: {others}", standing.name, ())
        elif own:
            why, texts = _each_once(standing, own)
            others = and_listed(
                [f"{place.shown.style.short} {text}" for place, text in zip(own, texts, strict=True)]
            )
            text = f"{titles[standing.name]}{rest}{' and' if rest else ','} not ranked"
            yield _Finding(f"{text}{why}: {others}", standing.name, ())
        left = [drive for drive in left if drive not in _names(own)]
    again = [drive for drive in left if any(drive in _names(each.further) for each in found)]
    if again:
        text = f"not ranked beside another run of the same drive: {and_listed(again)}"
        yield _Finding(text, found[0].name, tuple(again))
    left = [drive for drive in left if drive not in again]
    left = [drive for drive in left if not any(f"no value of {drive}" in text for text in phrase)]
    held = [(shown, figure) for each in found for shown, figure in each.withheld if shown.style.short in left]
    why = labels(own for _, figure in held for own in figure.unfit("ranking"))
    if left and found:
        text = labelled(f"none of these figures of {and_listed(left)}", why)
        yield _Finding(text, found[0].name, tuple(left))


def _without_any(methods: set[str], runs: Sequence[Shown]) -> Iterator[_Finding]:
    """Yield which drives have no figure of a method at all, where no drive has: what keeps them back."""
    held: dict[str, list[tuple[Shown, Metric]]] = {}
    for own in withheld(runs).values():
        for shown, figure in own:
            if (title := shown.run.manifest.method.title) not in methods:
                held.setdefault(title, []).append((shown, figure))
    for title, found in held.items():
        yield _Finding(f"{title}: {no_value(found)}", title, ())


def _of_several(found: Median, titles: Mapping[str, str]) -> str:
    """Say the median with its interval; empty: there is none."""
    one = found.figure
    if one.median is None or one.low is None or one.high is None or one.confidence is None:
        return ""
    of = f" of {found.drive}" if found.drive else ""
    low, median, high = (cells.of_unit(each, one.unit) for each in (one.low, one.median, one.high))
    words = " ".join(filter(None, (one.bound, median)))
    sure = f"{ends_text(low, high)} with {share_text(one.confidence)} confidence"
    text = f"{titles.get(found.name, one.label)}{of}, median of {counted(len(one.values), 'run')}: {words}"
    return labelled(f"{text} ({sure})", one.state)


def _of_each_rank(standing: Standing, places: Sequence[Place]) -> Iterator[str]:
    """Yield where ranked drives stand, those that share a place together."""
    for rank in dict.fromkeys(place.rank or 0 for place in places):
        own = [place for place in places if place.rank == rank]
        names, total = and_listed(_names(own)), len(standing.sharing(own[0]))
        if total == 1:
            yield f"{names} {ordinal(rank)} with {own[0].text}"
        elif len(own) == total:
            yield f"{names} together {ordinal(rank)} with {_texts(own)}"
        else:
            yield f"{names} {ordinal(rank)} with {_texts(own)}, level with {total - len(own)} of those named"


def _passed(above: set[str], runs: Sequence[Shown]) -> Iterator[_Finding]:
    """Yield which drives passed the methods that pass or fail one, of those that no figure has told of."""
    judged: dict[str, dict[str, list[str]]] = {}
    for shown in runs:
        result, title = shown.run.result, shown.run.manifest.method.title
        if title not in above and type(result).passed is not ResultBase.passed:
            how = {True: "passed by", False: "failed by", None: "not judged of"}[result.passed]
            judged.setdefault(title, {}).setdefault(how, []).append(shown.style.short)
    for title, verdicts in judged.items():
        ways = "; ".join(f"{how} {and_listed(drives)}" for how, drives in verdicts.items())
        yield _Finding(f"{title}: {ways}", title, ())


def _names(places: Sequence[Place]) -> tuple[str, ...]:
    return tuple(place.shown.style.short for place in places)


def _texts(level: Sequence[Place]) -> str:
    """Return the range of figures that are level, the unit once; one text where they do not differ."""
    first, *_, last = sorted((level[0], level[-1]), key=lambda place: place.value)
    number, _, unit = first.text.partition(" ")
    return ends_text(
        number if last.text.endswith(f" {unit}") and first.text != last.text else first.text, last.text
    )


def _lead(share: float, better: str) -> str:
    if better == "higher":
        return f"{percent(share)} {'ahead of' if share < 0.995 else 'as much as'}"
    return f"{percent(share)} less than"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
