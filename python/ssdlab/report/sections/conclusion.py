"""The conclusion: where each drive stands, what it was rated for, and the table that both rest on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.analysis.places import LEVEL
from ssdlab.model.units import and_listed, fixed_share_text
from ssdlab.report.runs import entries
from ssdlab.report.sections import ratings
from ssdlab.report.standings import standings
from ssdlab.report.view import Finding, Section
from ssdlab.results import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.rated_shares import RatedShare

_OF_POWER = ("_w", "_per_w", "_depth")
"""Ends of names of figures that no drive is praised for."""
_NAMED = 3


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
    for entry in groups:
        indices = {shown.index for shown in entry.runs}
        own = [
            (standing, place)
            for standing in ranks
            for place in standing.places
            if place.shown.index in indices
        ]
        parts: list[str] = []
        if len(groups) > 1:
            parts += _ends(own, several=several)
        parts += _against([place for _, place in own])
        if parts:
            sentences = "; ".join(parts)
            yield Finding(entry.runs[0].index, entry.style.label, f"{sentences[:1].upper()}{sentences[1:]}.")
    yield from _unranked(ranks)


def _unranked(ranks: Sequence[Standing]) -> Iterator[str]:
    """Yield which figures of several drives nobody is ranked by, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for standing in ranks:
        if standing.unranked and not standing.name.endswith(_OF_POWER):
            reasons.setdefault((standing.method, standing.unranked), []).append(standing.label)
    found = [f"{method} ({and_listed(labels)}), {why}" for (method, why), labels in reasons.items()]
    if found:
        yield f"Not ranked: {'; '.join(found)}."


def _ends(own: Sequence[tuple[Standing, Place]], *, several: bool) -> Iterator[str]:
    """Yield where a drive is first, and where it is last."""
    counted = [(standing, place) for standing, place in own if _counts(standing)]
    for word, at in (("first", 0), ("last", -1)):
        ends = [
            standing
            for standing, place in counted
            if standing.ranked[at] is place and len(standing.sharing(place)) == 1
        ]
        found = [standing.words if several else standing.label for standing in ends]
        if found:
            more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            yield f"{word} in {', '.join(found[:_NAMED])}{more}"


def _counts(standing: Standing) -> bool:
    return len(standing.ranked) > 1 and not standing.name.endswith(_OF_POWER)


def _against(places: Sequence[Place]) -> Iterator[str]:
    """Yield how many figures keep the ratings of their state, to 1 %, which do not, and what has none."""
    rated = [(place, each) for place in places for each in place.shares]
    others = sum(len(place.others) for place in places)
    if rated:
        yield from _kept(rated)
    if others:
        figures = f"{others} {'other ' if rated else ''}figure"
        whose = f"{figures}, which is" if others == 1 else f"{figures}s, which are"
        yield f"no rating speaks of the drive state of {whose} not counted"


def _kept(rated: Sequence[tuple[Place, RatedShare]]) -> Iterator[str]:
    missed = [(place, each) for place, each in rated if not each.kept(LEVEL)]
    kept = len(rated) - len(missed)
    holds = and_listed(list(dict.fromkeys(each.holds for _, each in rated)))
    yield f"{kept} of {len(rated)} ratings are kept, to within {fixed_share_text(LEVEL)} ({holds})"
    for place, each in missed[:_NAMED]:
        title, share = place.shown.run.manifest.method.title, numbers.share(each.share).text
        yield f"{title} ({each.figure.label}) is {share} of the rating"
