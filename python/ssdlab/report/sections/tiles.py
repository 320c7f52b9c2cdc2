"""The summary at the top: six tiles with rank and distance, and all other headline figures below them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.report.sections.cards import Card
from ssdlab.report.sections.headlines import Headline, label_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.report.standings import Standing

TILES = 6
USUAL = (
    "qd1_random_read_iops",
    "peak_random_read_iops",
    "steady_random_write_iops",
    "mixed_random_qd32_mb_s",
    "act_score",
    "paced_load_s",
    "peak_sequential_read_mb_s",
    "steady_sequential_write_mb_s",
    "consistency_stock_iops",
    "trim_recovered",
    "fill_mb_s",
)
"""What a reader looks for first, where a review does not say."""


def tiles(
    cards: Sequence[Card], standings: Mapping[str, Standing], declared: Sequence[str]
) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return the cards of the top, in order, and the others.

    Parameters
    ----------
    cards
        All that there are.
    standings
        Ranks of their figures.
    declared
        Names of figures that the review wants at the top, in order.
    """
    had = {name for card in cards for name in card.names}
    asked = [standings[name] for name in declared if name not in had and name in standings]
    ranked = [_ranked(card, standings) for card in (*cards, *map(_own, asked))]
    if len(ranked) <= TILES and not declared:
        return tuple(sorted(ranked, key=_empty)), ()
    wanted = [*declared, *(name for name in USUAL if name not in declared)]
    named = {name: card for name in wanted for card in ranked if name in card.names}
    chosen = list(dict.fromkeys(id(card) for card in named.values()))[:TILES]
    by_id = {id(card): card for card in ranked}
    first = [by_id[key] for key in chosen]
    if len(first) < TILES and not declared:
        first += [card for card in ranked if card not in first][: TILES - len(first)]
    return tuple(sorted(first, key=_empty)), tuple(card for card in ranked if card not in first)


def _empty(card: Card) -> bool:
    """Whether no drive has a figure in a card, as where the state of all moved: it stands last."""
    return not card.names


def _own(standing: Standing) -> Card:
    """Return a card of a figure that otherwise goes with another, for a review that asks for it."""
    lines = (
        Headline(place.shown.index, place.text, label_lines(place.figure.qualifiers), standing.name)
        for place in standing.places
    )
    return Card(f"{standing.method}, {standing.label}", tuple(lines))


def _ranked(card: Card, standings: Mapping[str, Standing]) -> Card:
    """Return a card with its drives best first, each with its rank and its distance."""
    lines = [(each, standings.get(each.scalar)) for each in card.headlines]
    placed = [(_with_place(each, standing), _order(each, standing)) for each, standing in lines]
    placed.sort(key=lambda line: line[1])
    return replace(card, headlines=tuple(each for each, _ in placed))


def _with_place(headline: Headline, standing: Standing | None) -> Headline:
    place = None if standing is None else standing.of(headline.run)
    if standing is None or place is None:
        return headline
    unfit = {each.label for each in place.figure.unfit("ranking")}
    headline = replace(headline, stands=not unfit)
    if len(standing.places) < 2:
        return headline
    # Why it is not ranked is said once: not again in the lines below.
    named = set() if place.instead or standing.unlike else unfit
    beside = tuple(line for line in headline.beside if line not in named)
    return replace(headline, place=standing.distance(place), beside=beside)


def _order(headline: Headline, standing: Standing | None) -> int:
    """Return where a drive stands; what has no place keeps its own, behind the others."""
    places = () if standing is None else standing.places
    return next((at for at, place in enumerate(places) if place.shown.index == headline.run), sys.maxsize)
