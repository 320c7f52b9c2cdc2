"""The verdict: one paragraph made of findings, each with the chart that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.units import ends_text
from ssdlab.report.drive_count import among
from ssdlab.report.standings import percent
from ssdlab.results import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.report.sections.cards import Card
    from ssdlab.report.standings import Place, Standing
    from ssdlab.report.view import Section

_CHARTS = ("-bars", "-score", "-load", "-sustained", "-throughput")
"""Ends of the ids of charts that show a headline figure."""


@dataclass(frozen=True)
class Clause:
    """One finding in words, with the chart that it is taken from."""

    text: str
    chart: str
    name: str
    """Of the figure."""


def verdict(
    tiles: Sequence[Card], standings: Mapping[str, Standing], charts: Mapping[str, str]
) -> tuple[Clause, ...]:
    """Return a clause for each tile: who wins and by how much; of one drive, how it stands to its rating.

    Parameters
    ----------
    tiles
        The figures of the top.
    standings
        Their ranks.
    charts
        For each figure the id of its chart, or of its section.
    """
    names = dict.fromkeys(name for tile in tiles for name in tile.names)
    found = [standings[name] for name in names if name in standings]
    one_method = len({standing.method for standing in found}) == 1
    many = any(len(standing.places) > 1 for standing in standings.values())
    return tuple(
        Clause(text, charts.get(standing.name, ""), standing.name)
        for standing in found
        for text in _words(standing, standing.label if one_method else standing.words, many=many)
    )


def _words(standing: Standing, what: str, *, many: bool) -> Iterator[str]:
    places = standing.ranked
    if len(places) > 1:
        first, second = places[0], places[1]
        one, other = first.shown.style.short, second.shown.style.short
        level = _level(places)
        if len(level) > 2 and len(level) == len(places):
            drives = among(place.shown.drive for place in level)
            whole = f"{len(level)} ({drives})" if drives else str(len(level))
            yield f"{_sentence(what)}: all {whole} are level at {_texts(level)}"
        elif len(level) > 1:
            *before, last = (place.shown.style.short for place in level)
            yield f"{_sentence(what)}: {', '.join(before)} and {last} are level at {_texts(level)}"
        else:
            lead = _lead(first.ahead, standing.better)
            yield f"{_sentence(what)}: {one} wins with {first.text}, {lead} {other} ({second.text})"
    elif len(standing.places) == 1 and places:
        rated = places[0].rated
        share = "" if rated is None else f", {numbers.share(rated.share).text} of what it is rated for"
        whose = f"{places[0].shown.style.short} alone has " if many else ""
        yield f"{_sentence(what)}: {whose}{places[0].text}{share}"


def _texts(level: Sequence[Place]) -> str:
    """Return the best and the last of figures that are level; one text where they do not differ."""
    return ends_text(level[0].text, level[-1].text)


def _level(places: Sequence[Place]) -> list[Place]:
    """Return the first and those that differ from it by less than what counts."""
    return [place for place in places if place.rank == 1]


def _lead(share: float, better: str) -> str:
    if better == "higher":
        return f"{percent(share)} {'ahead of' if share < 0.995 else 'as much as'}"
    return f"{percent(share)} less than"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def charts_of(sections: Sequence[Section], methods: Mapping[str, str]) -> dict[str, str]:
    """Return for each figure the chart that shows it.

    Parameters
    ----------
    sections
        Of the page.
    methods
        For each figure the id of its section.
    """
    by_id = {section.id: section for section in sections}
    found = {}
    for name, section_id in methods.items():
        section = by_id.get(section_id)
        ids = [] if section is None else [figure.id for figure in section.figures]
        bars = [each for each in ids if each.endswith(_CHARTS)]
        found[name] = (bars or ids or [section_id])[0]
    return found
