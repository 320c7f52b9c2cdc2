"""The verdict in figures: a card for each with those of the same steps, the first six of them as tiles."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from ssdlab.lab.folders import REGISTRY, figures_of, is_figure, top_figures
from ssdlab.lab.found import names_of_others
from ssdlab.lab.presented.points import OF_POWER, figure_words
from ssdlab.model.errors import unknown
from ssdlab.report.sections import ratings
from ssdlab.report.standings import figure_text
from ssdlab.results.points import labelled, labels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ssdlab.report.chart_links import ChartLink
    from ssdlab.report.claims import UserClaim
    from ssdlab.report.runs import Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.points import Metric

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


Mark = Literal["true", "false", "not measured"]


_ADDED = (", ", " ")
"""What may follow the name of its drive in a label."""


@dataclass(frozen=True)
class Judged:
    """A sentence with what the figures say of it.

    Attributes
    ----------
    sentence, figure, bound
        As the user gave them.
    mark
        Whether it holds; a figure that a qualifier of its own forbids it of counts as not measured.
    found
        The figure in words, with its drive; of one that was not measured why: its state, or what is lacking.
    link
        What leads to the chart that shows it; None: nothing does.
    """

    sentence: str
    figure: str
    bound: str
    mark: Mark
    found: str
    link: ChartLink | None


def judged(
    claims: Sequence[UserClaim], runs: Sequence[Shown], links: Mapping[str, ChartLink]
) -> tuple[Judged, ...]:
    """Hold each sentence against the runs of the page.

    Raises
    ------
    UsageError
        A figure's name is one that no method has, with the names on the page; or a bound is of another unit.
    """
    had = list(dict.fromkeys(figure.name for shown in runs for figure in shown.run.result.scalars))
    for claim in claims:
        if claim.figure not in had and not _may_be(claim.figure):
            error = unknown("headline figure", claim.figure, had, elsewhere=f"this page has {', '.join(had)}")
            error.what = f"{claim.where}{error.what}"
            raise error
    return tuple(_judged(claim, runs, links) for claim in claims)


def _judged(claim: UserClaim, runs: Sequence[Shown], links: Mapping[str, ChartLink]) -> Judged:
    found = _figures(claim, runs)
    fit = [each for each in found if not each[1].unfit("claims")]
    mark: Mark = "not measured"
    if not found:
        words = _lack(claim, runs)
    elif not fit:
        words = f"{_words(claim, *found[0])}; no bound is checked"
    else:
        kept = [_keeps(claim, figure) for _, figure in fit]
        others = [_words(claim, *each) for each, keeps in zip(fit, kept, strict=True) if keeps != kept[0]]
        mark = "true" if kept[0] else "false"
        words = "; unlike ".join((_words(claim, *fit[0]), *others))
    return Judged(claim.sentence, claim.figure, claim.bound, mark, words, links.get(claim.figure))


def _keeps(claim: UserClaim, figure: Metric) -> bool:
    assert figure.value is not None
    return claim.keeps(figure.value, figure.unit)


def _words(claim: UserClaim, shown: Shown, figure: Metric) -> str:
    assert figure.value is not None
    _keeps(claim, figure)  # refuses a bound of another unit
    return f"{shown.label}: {labelled(claim.beside(figure.value, figure.unit), figure.state)}"


def _may_be(figure: str) -> bool:
    """Whether a method can have a figure of that name; those of other packages may have any."""
    return bool(names_of_others()) or is_figure(figure, figures_of(REGISTRY) or ())


def _lack(claim: UserClaim, runs: Sequence[Shown]) -> str:
    """Say why a claim is held against nothing: what of it the page lacks, and what keeps that back."""
    having = dict.fromkeys(
        labelled(shown.label, each.state if each.unfit("claims") else "")
        for shown in runs
        for each in _named(claim, shown)
        if each.value is not None
    )
    meant = _meant(claim.drive, runs)
    if claim.drive is not None and not meant:
        fitting = _fitting(claim.drive, runs)
        if not fitting:
            labels = "; ".join(dict.fromkeys(shown.label for shown in runs))
            return f"no drive of this page is called {claim.drive!r}; there are: {labels}"
        labels = "; ".join(dict.fromkeys(shown.label for shown in fitting))
        return f"{claim.drive!r} fits several drives of this page: {labels}"
    state = next((each.state for shown in meant for each in _named(claim, shown) if each.state), "")
    if not having:
        return labelled("no run of this page has a value of it", state)
    lacking = labelled(f"no value of it for {claim.drive or runs[0].label}", state)
    return f"{lacking}; there is one for: {'; '.join(having)}"


def _fitting(drive: str, runs: Sequence[Shown]) -> list[Shown]:
    """Return the runs of drives that a text is part of the name of, whatever its case."""
    return [shown for shown in runs if drive.lower() in shown.label.lower()]


def _meant(drive: str | None, runs: Sequence[Shown]) -> list[Shown]:
    """Return the runs of the drive that is meant, by default the first; empty: there is none, or several are.

    Of a drive and its variants it is the drive itself.
    """
    if drive is None:
        return [shown for shown in runs if shown.drive.id == runs[0].drive.id]
    fitting = _fitting(drive, runs)
    if len(set(map(_entry, fitting))) < 2:
        return fitting
    first = min(fitting, key=lambda shown: len(shown.label))
    if not all(_is_of(shown, first) for shown in fitting):
        return []
    return [shown for shown in fitting if _entry(shown) == _entry(first)]


def _is_of(shown: Shown, first: Shown) -> bool:
    """Whether a run is of the same drive as the first, or of a variant of it, by what its label adds."""
    more = shown.label.removeprefix(first.label)
    added = shown.label.startswith(first.label) and more.startswith(_ADDED)
    return added or _entry(shown) == _entry(first)


def _entry(shown: Shown) -> tuple[str, str]:
    return shown.drive.id, str(shown.drive.variant)


def _named(claim: UserClaim, shown: Shown) -> list[Metric]:
    return [each for each in shown.run.result.scalars if each.name == claim.figure]


def _figures(claim: UserClaim, runs: Sequence[Shown]) -> list[tuple[Shown, Metric]]:
    """Return the figure with its values in all runs of the drive that is meant."""
    meant = _meant(claim.drive, runs)
    return [(shown, each) for shown in meant for each in _named(claim, shown) if each.value is not None]
