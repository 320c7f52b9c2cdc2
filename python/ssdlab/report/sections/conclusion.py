"""The conclusion: where each drive stands, what it was rated for, and the table that both rest on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.analysis.places import LEVEL
from ssdlab.lab.rated_shares import has_rating
from ssdlab.model.units import and_listed, fixed_share_text
from ssdlab.report.runs import entries
from ssdlab.report.sections import ratings
from ssdlab.report.standings import no_value, not_ranked, standings, unranked_beyond, withheld
from ssdlab.report.view import Finding, Section
from ssdlab.results import cells
from ssdlab.results.metric import labels, spread_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.lab.rated_shares import RatedShare
    from ssdlab.report.runs import Entry, Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.metric import Metric

_NAMED = 3
_CHOSEN = ("I/Os", "")
"""Units of what a run chose, or counted: no drive is praised for it."""
_SAME = 0.05
"""Figures of one measurement whose product or quotient differs by less over all drives are one."""


def section(runs: Sequence[Shown]) -> Section | None:
    """Return the section; None where nothing is compared and no result has a rating."""
    rated = ratings.section(runs)
    lead = tuple(_lines(runs))
    if rated is None and not lead:
        return None
    body = rated or Section("ratings", "", (), (), ())
    title = "Conclusion: against the ratings" if rated is not None else "Conclusion"
    return replace(body, title=title, lead=lead)


def _lines(runs: Sequence[Shown]) -> Iterator[str]:
    """Yield a sentence for each drive that is compared, or that has ratings."""
    ranks = list(standings(runs).values())
    several = len({shown.run.manifest.method.name for shown in runs}) > 1
    groups = entries(runs)
    counted = _distinct([standing for standing in ranks if _counts(standing)])
    for entry in groups:
        indices = {shown.index for shown in entry.runs}
        own = [
            (standing, place)
            for standing in ranks
            for place in (*standing.places, *standing.further)
            if place.shown.index in indices
        ]
        parts: list[str] = []
        if len(groups) > 1:
            parts += _ends([each for each in own if each[0] in counted], several=several)
        parts += _against([place for _, place in own], _ratings(entry))
        if parts:
            sentences = "; ".join(parts)
            yield Finding(entry.runs[0].index, entry.style.label, f"{sentences[:1].upper()}{sentences[1:]}.")
    if len(groups) > 1:
        yield from _unranked(ranks, withheld(runs))


def _unranked(ranks: Sequence[Standing], held: Mapping[str, Sequence[tuple[Shown, Metric]]]) -> Iterator[str]:
    """Yield which figures of several drives nobody is ranked by, or some have no value of, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for standing in ranks:
        whys = (standing.unranked, no_value(standing.withheld))
        if any(whys) and standing.places[0].figure.unit not in _CHOSEN:
            why = "; ".join(filter(None, whys))
            reasons.setdefault((standing.method, why), []).append(standing.label)
    placed = {standing.name for standing in ranks}
    for name, own in held.items():
        shown, figure = own[0]
        if name not in placed and figure.unit not in _CHOSEN:
            key = (shown.run.manifest.method.title, no_value(own))
            reasons.setdefault(key, []).append(figure.label)
    found = [f"{method} ({and_listed(labels)}), {why}" for (method, why), labels in reasons.items()]
    if found:
        yield f"Not ranked: {'; '.join(found)}."


def _ratings(entry: Entry) -> int:
    """Return how many ratings a drive has."""
    return len(
        {(each.metric, each.value, each.state) for one in entry.runs for each in one.run.manifest.ratings}
    )


def _distinct(counted: Sequence[Standing]) -> list[Standing]:
    """Return figures, of those told twice one: IOPS and their throughput, or their latency at depth 1."""
    found: list[Standing] = []
    for each in counted:
        if not any(_one_measurement(other, each) for other in found):
            found.append(each)
    return found


def _one_measurement(one: Standing, other: Standing) -> bool:
    """Say whether two figures are of the same steps and each is made of the other, whatever the drive."""
    theirs = {place.shown.index: place for place in other.ranked}
    if one.method != other.method or set(theirs) != {place.shown.index for place in one.ranked}:
        return False
    pairs = [(place, theirs[place.shown.index]) for place in one.ranked]
    if any(_steps(first) != _steps(second) or not (first.value and second.value) for first, second in pairs):
        return False
    if pairs[0][0].figure.unit == pairs[0][1].figure.unit:
        return False
    made = ([a.value / b.value for a, b in pairs], [a.value * b.value for a, b in pairs])
    return any(spread_of(values) <= _SAME * abs(max(values)) for values in made)


def _steps(place: Place) -> tuple[int, ...]:
    return place.figure.steps


def _ends(counted: Sequence[tuple[Standing, Place]], *, several: bool) -> Iterator[str]:
    """Yield where a drive is first, and where it is last; what is not ranked and lies beyond stands there."""
    for word, at in (("first", 0), ("last", -1)):
        found: list[str] = []
        beside: list[str] = []
        for standing, place in counted:
            if standing.ranked[at] is not place or len(standing.sharing(place)) > 1:
                continue
            name = standing.words if several else standing.label
            if beyond := not_ranked(standing, unranked_beyond(standing, place, worse=word == "last")):
                beside.append(f"{word} of those ranked in {name} ({beyond})")
            else:
                found.append(name)
        if found:
            more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            yield f"{word} in {', '.join(found[:_NAMED])}{more}"
        yield from beside


def _counts(standing: Standing) -> bool:
    return len(standing.ranked) > 1 and _praised(standing)


def _praised(standing: Standing) -> bool:
    """Whether a drive is praised for it: not for what it draws, nor for the depth that a run chose."""
    unit = standing.places[0].figure.unit
    return unit not in ("W", *_CHOSEN) and not unit.endswith("/W")


def against(entry: Entry) -> Iterator[str]:
    """Yield how the figures of a drive keep its ratings; nothing of one that has none."""
    places = (
        place
        for standing in standings(entry.runs).values()
        for place in (*standing.places, *standing.further)
    )
    yield from _against(list(places), _ratings(entry))


def _against(places: Sequence[Place], ratings: int) -> Iterator[str]:
    """Yield how many figures keep the ratings of their state, to 1 %, which do not, and what has none."""
    rated = [(place, each) for place in places if (each := place.rated) is not None]
    others = sum(place.other is not None for place in places)
    if rated:
        yield from _kept(rated)
    elif ratings:
        why = (
            "the figures here are of other drive states than those they speak of"
            if others >= ratings
            else f"{others} of another drive state than the figures here, and no figure of the others"
            if others
            else f"the figures of what they speak of are not fit for it ({unfit})"
            if (unfit := _unfit(places))
            else "no figure here is of what they speak of"
        )
        whole = "its one rating was not" if ratings == 1 else f"none of its {ratings} ratings was"
        yield f"{whole} compared: {why if ratings > 1 else why.replace('they speak', 'it speaks')}"
        return
    if others:
        figures = f"{others} {'other ' if rated else ''}figure"
        whose = f"{figures}, which is" if others == 1 else f"{figures}s, which are"
        yield f"no rating speaks of the drive state of {whose} not counted"


def _unfit(places: Sequence[Place]) -> str:
    """Return what of figures that have ratings forbids that they are held against them."""
    own = (place for place in places if has_rating(place.figure, place.shown.run.manifest.ratings))
    return labels(each for place in own for each in place.figure.unfit("ratings"))


def _kept(rated: Sequence[tuple[Place, RatedShare]]) -> Iterator[str]:
    missed = [(place, each) for place, each in rated if not each.kept(LEVEL)]
    kept = len(rated) - len(missed)
    holds = and_listed(list(dict.fromkeys(each.holds for _, each in rated)))
    if len(rated) == 1:
        whole = f"the one rating that was compared is {'kept' if kept else 'not kept'}"
    else:
        whole = f"{kept} of {len(rated)} ratings {'is' if kept == 1 else 'are'} kept"
    yield f"{whole}, to within {fixed_share_text(LEVEL)} ({holds})"
    for place, each in missed[:_NAMED]:
        title, share = place.shown.run.manifest.method.title, cells.share(each.share).text
        yield f"{title} ({each.figure.label}) is {share} of the rating"
