"""The summary at the top: six tiles with rank and distance, and all other headline figures below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods import top_figures
from ssdlab.report.sections.cards import Card, Line, card_of, cards

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.standings import Standing

TILES = 6


def tiles(
    runs: Sequence[Shown], standings: Mapping[str, Standing], declared: Sequence[str]
) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return the cards of the top, in order, and the others.

    Parameters
    ----------
    runs
        Of the page.
    standings
        Ranks of their figures.
    declared
        Names of figures that the review wants at the top, in order.
    """
    wanted = [*declared, *(name for name in top_figures() if name not in declared)]
    whole = cards(runs, standings, wanted)
    had = {name for card in whole for name in card.names}
    asked = [standings[name] for name in declared if name not in had and name in standings]
    whole = (
        *whole,
        *(card_of([Line(one.shown, one.figure, (), each) for one in each.places]) for each in asked),
    )
    if len(whole) <= TILES and not declared:
        return tuple(sorted(whole, key=_empty)), ()
    named = {name: card for name in wanted for card in whole if name in card.names}
    chosen = list(dict.fromkeys(id(card) for card in named.values()))[:TILES]
    by_id = {id(card): card for card in whole}
    first = [by_id[key] for key in chosen]
    if len(first) < TILES and not declared:
        first += [card for card in whole if card not in first][: TILES - len(first)]
    return tuple(sorted(first, key=_empty)), tuple(card for card in whole if card not in first)


def _empty(card: Card) -> bool:
    """Whether no drive has a figure in a card, as where the state of all moved: it stands last."""
    return not card.names
