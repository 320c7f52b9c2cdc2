"""The verdict in figures: a card for each with those of the same steps, the first six of them as tiles."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ssdlab.lab.folders import top_figures
from ssdlab.lab.presented.points import OF_POWER, figure_words
from ssdlab.report.sections import ratings
from ssdlab.report.standings import figure_text
from ssdlab.results.metric import labelled, labels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.metric import Metric

TILES = 6


@dataclass(frozen=True)
class Line:
    """A figure of a run, with the others of the same steps, and where all drives stand in it.

    Without a standing no drive of the page has a value of it.
    """

    shown: Shown
    figure: Metric
    others: tuple[Metric, ...] = ()
    standing: Standing | None = None

    @property
    def name(self) -> str:
        """The name of the figure; empty: it has no value."""
        return "" if self.figure.value is None else self.figure.name

    @property
    def text(self) -> str:
        """The figure in words; where it has no value the gravest of why."""
        if self.figure.value is None and self.figure.qualifiers:
            return self.figure.qualifiers[0].label
        return figure_text(self.figure)

    @property
    def unranked(self) -> bool:
        """Whether a qualifier of the figure forbids a rank of it."""
        return bool(self.figure.unfit("ranking"))

    @property
    def place(self) -> str:
        """Where it stands among the drives, or why it alone has no rank; empty: none has, or it is one."""
        place = self._place
        if self.standing is None or place is None or (self.standing.unlike and not place.instead):
            return ""
        return self.standing.distance(place)

    @property
    def order(self) -> int:
        """Where it stands in its card; what has no place comes behind the others."""
        places = () if self.standing is None else self.standing.places
        return next(
            (at for at, each in enumerate(places) if each.shown.index == self.shown.index), sys.maxsize
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Its labels, but for those that text and place have."""
        place = self._place
        unfit = self.figure.unfit("ranking") if self.place and place is not None and not place.instead else ()
        named = {self.text, *(each.label for each in unfit)}
        return tuple(dict.fromkeys(each.label for each in self.figure.qualifiers if each.label not in named))

    @property
    def beside(self) -> tuple[str, ...]:
        """The other figures, and the share of its rating."""
        lines = (", ".join(self._besides(tuple(own))) for _, own in groupby(self.others, _sort))
        return (*filter(None, lines), *ratings.beside(self.shown, self.figure))

    @property
    def _place(self) -> Place | None:
        """Its place; of one that stands alone only where it is fit for none."""
        place = None if self.standing is None else self.standing.of(self.shown.index)
        alone = self.standing is not None and len(self.standing.places) < 2
        fit = place is not None and (place.rank is not None or bool(place.instead))
        return None if alone and fit else place

    def _besides(self, figures: Sequence[Metric]) -> Iterator[str]:
        """Yield other figures, each behind what of its label was not told, and with further labels."""
        seen = {*self.figure.label.split(", "), *(each.unit for each in figures)}
        for each in figures:
            label = ", ".join(part for part in each.label.split(", ") if part not in seen)
            seen |= set(each.label.split(", "))
            state = labels(own for own in each.qualifiers if own.code not in self.figure.codes)
            value = "" if each.value is None else figure_words(each)
            if value or state:
                yield labelled(f"{label} {value}".strip(), state)


def _sort(figure: Metric) -> str:
    """Return what a figure is of: figures of one sort stand in one line."""
    return "power" if figure.unit in OF_POWER else "latency" if figure.unit == "ns" else ""


@dataclass(frozen=True)
class Card:
    """A figure, of all runs that have it."""

    label: str
    lines: tuple[Line, ...]

    @property
    def unranked(self) -> str:
        """Why none of the drives is ranked, if that is no matter of their own figures."""
        standing = self.lines[0].standing
        return "" if standing is None or not standing.unlike else f"not ranked: {standing.unlike}"

    @property
    def names(self) -> tuple[str, ...]:
        """The figure that it is of; empty: no run has a value of it."""
        return tuple(dict.fromkeys(each.name for each in self.lines if each.name))


def cards(
    runs: Sequence[Shown], standings: Mapping[str, Standing], first: Collection[str] = ()
) -> tuple[Card, ...]:
    """Return the cards of a page in the order of its runs, each with its drives best first.

    Parameters
    ----------
    runs
        Of the page.
    standings
        Ranks of their figures.
    first
        Names of figures that a card is of before others of the same steps; without one it is of the first.
    """
    filed: dict[str, list[Line]] = {}
    for shown in runs:
        for own in of_same_steps(shown.run.result.scalars):
            head = next((each for each in own if each.name in first), own[0])
            others = tuple(each for each in own if each is not head)
            line = Line(shown, head, others, standings.get(head.name))
            filed.setdefault(head.name, []).append(line)
    return tuple(card_of(lines) for lines in filed.values())


def card_of(lines: Sequence[Line]) -> Card:
    """Return the card of a figure, its drives best first."""
    one = lines[0]
    label = f"{one.shown.run.manifest.method.title}, {one.figure.label}"
    return Card(label, tuple(sorted(lines, key=lambda each: each.order)))


def of_same_steps(figures: Sequence[Metric]) -> list[list[Metric]]:
    """Return figures gathered by the steps that they are of."""
    found: dict[tuple[int, ...], list[Metric]] = {}
    for each in figures:
        found.setdefault(each.steps, []).append(each)
    return list(found.values())


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
