"""Who stands where in a figure, and by how much: what tiles, the verdict and the conclusion are made of.

Only runs that are alike are ranked, latencies only where they were taken at the same depth, and only figures
whose drive state was shown and that the host did not limit; all others say why not. Of several runs of one
entry the first that is on the page counts, and how far the others lie from it says what counts as level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ssdlab.analysis.places import LEVEL, Variation, largest
from ssdlab.analysis.places import places as places_of
from ssdlab.methods.results.figure_state import state_of
from ssdlab.model.units import and_listed, counted, share_text, significant
from ssdlab.report.drive_count import among
from ssdlab.report.likeness import differences, likeness
from ssdlab.results.basis import METER, RUNS, spread_of, taken_apart
from ssdlab.results.host_part import host_made
from ssdlab.results.numbers import of_unit
from ssdlab.results.rated_shares import OtherRating, RatedShare, other_ratings, rated_shares

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Scalar

UNLIKE = "these runs were not taken alike"


@dataclass(frozen=True)
class Place:
    """A drive in a figure.

    Attributes
    ----------
    shown
        Its run.
    figure
        As the result has it.
    state
        What stands behind it; empty: its state was shown.
    by_host
        That the host, not the drive, was its limit; empty: it was not.
    at
        The load that the run chose itself and a latency depends on, as `depth 4`; empty: there is none.
    varies
        How far it varies by its own evidence; None: nothing shows it.
    rank
        From 1; those that are level share one. None: it is not ranked.
    ahead
        Share by which it differs from the next, of that; of the last, 0.
    behind
        Share by which it differs from the one before, of that; of the first, 0.
    """

    shown: Shown
    figure: Scalar
    state: str
    by_host: str
    at: str
    varies: Variation | None
    rank: int | None
    ahead: float = 0.0
    behind: float = 0.0
    instead: str = ""
    """Which run of the same drive counts in its place; empty: it counts itself."""

    @property
    def value(self) -> float:
        """The figure; a place has one."""
        assert self.figure.value is not None
        return self.figure.value

    @property
    def text(self) -> str:
        """The figure in the words of its unit, and where it was taken."""
        return " at ".join(filter(None, (of_unit(self.figure.value, self.figure.unit), self.at)))

    @property
    def rated(self) -> RatedShare | None:
        """The figure as a share of its rating; None: it has none, or is not shown to be the drive's."""
        return next((each for each in self.shares if each.figure.name == self.figure.name), None)

    @property
    def shares(self) -> tuple[RatedShare, ...]:
        """The figure and its parts as shares of the ratings of their states; none of what the host did."""
        return rated_shares(self._held, self.shown.run.manifest.ratings)

    @property
    def others(self) -> tuple[OtherRating, ...]:
        """The figure and its parts beside ratings of other states, where there is none of theirs."""
        return other_ratings(self._held, self.shown.run.manifest.ratings)

    @property
    def _held(self) -> tuple[Scalar, ...]:
        return () if self.by_host else self.shown.run.result.rated_as(self.figure)


@dataclass(frozen=True)
class Standing:
    """One figure of a method, over all drives of the page that have it; best first, the unranked last."""

    name: str
    label: str
    method: str
    better: Literal["higher", "lower"]
    places: tuple[Place, ...]
    unlike: str = ""
    """Why none of them is ranked; empty: they can be."""
    example: bool = False
    """Whether it was measured with a made-up example."""
    further: tuple[Place, ...] = ()
    """Other runs of the same drives, which are not ranked beside those that count."""

    @property
    def words(self) -> str:
        """What it is of, where a page has several methods."""
        return f"{self.method}{' of a made-up example' if self.example else ''} ({self.label})"

    @property
    def ranked(self) -> tuple[Place, ...]:
        """The places that count."""
        return tuple(place for place in self.places if place.rank is not None)

    def of(self, run: int) -> Place | None:
        """Return the place of a run, of one that is not ranked beside another of its drive too."""
        return next((place for place in (*self.places, *self.further) if place.shown.index == run), None)

    @property
    def unranked(self) -> str:
        """Why none of several drives is ranked, in the words of all reasons; empty: some are."""
        if len(self.places) < 2 or self.ranked:
            return ""
        return self.why_not(self.places)

    def why_not(self, places: Sequence[Place]) -> str:
        """Return why places without a rank have none, in the words of all reasons."""
        return self.unlike or "; ".join(dict.fromkeys(place.by_host or place.state for place in places))

    def sharing(self, place: Place) -> tuple[Place, ...]:
        """Return the places that are level with one, itself among them."""
        return tuple(each for each in self.ranked if each.rank == place.rank)

    def why_level(self, place: Place) -> str:
        """Say what makes places level: how far apart they are, and why that counts for nothing."""
        own = self.sharing(place)
        best, apart = abs(own[0].value), spread_of([each.value for each in own])
        if not apart:
            return "they are equal"
        varies = largest(each.varies for each in own)
        if apart < LEVEL * best:
            return f"{share_text(apart / best, 2)} apart, and less than {share_text(LEVEL, 1)} is level"
        if not best or varies is None:
            return ""
        of = next(abs(each.value) for each in own if each.varies == varies)
        why = varies.words.format(share=share_text(varies.amount / of))
        return f"{share_text(apart / best)} apart, and {why}"

    def distance(self, place: Place) -> str:
        """Say where a place stands: ``1st of 3, 12 % ahead of the next``; empty where nothing is compared.

        Of drives that stand there in several states also how many drives they are: ``1st of 3 (2 drives)``.
        """
        if place.instead or self.unlike:
            return f"not ranked: {place.instead or self.unlike}"
        if place.rank is None:
            return f"not ranked: {place.by_host or place.state}"
        total = len(self.ranked)
        if total < 2:
            return ""
        drives = among(each.shown.drive for each in self.ranked)
        rank = f"{ordinal(place.rank)} of {total}{f' ({drives})' if drives else ''}"
        if others := len(self.sharing(place)) - 1:
            level = f"level with {'the other' if total == 2 else counted(others, 'other')}"
            return ": ".join(filter(None, (f"{rank}, {level}", self.why_level(place))))
        first = place.rank == 1
        return f"{rank}, {_ahead(place.ahead, self.better) if first else _behind(place.behind, self.better)}"


def _ahead(share: float, better: str) -> str:
    if better == "lower":
        return f"{percent(share)} less than the next"
    return f"{percent(share)} {'ahead of' if share < 0.995 else 'as much as'} the next"


def _behind(share: float, better: str) -> str:
    if better == "higher":
        return f"{percent(share)} behind the one before"
    return f"{percent(share)} {'more than' if share < 0.995 else 'as much as'} the one before"


def standings(runs: Sequence[Shown]) -> dict[str, Standing]:
    """Return every headline figure of the page by its name, in the order of the runs."""
    found: dict[str, list[tuple[Shown, Scalar]]] = {}
    for shown in runs:
        for figure in shown.run.result.scalars:
            if figure.value is not None:
                found.setdefault(figure.name, []).append((shown, figure))
    return {name: _standing(name, own) for name, own in found.items()}


def _standing(name: str, found: Sequence[tuple[Shown, Scalar]]) -> Standing:
    of_entry: dict[object, list[tuple[Shown, Scalar]]] = {}
    for shown, figure in found:
        of_entry.setdefault((shown.drive.id, shown.drive.name), []).append((shown, figure))
    weighed = [_place(runs) for runs in of_entry.values()]
    first = weighed[0]
    unlike = _unlike(weighed)
    example = any(place.shown.run.result.basis_of(place.figure).example for place in weighed)
    sign = -1.0 if first.figure.better == "higher" else 1.0
    weighed.sort(key=lambda one: (not _ranks(one, unlike), sign * one.value))
    ranked = [one for one in weighed if _ranks(one, unlike)]
    values = [one.value for one in ranked]
    ranks = places_of(values, [one.varies for one in ranked])
    places = tuple(
        replace(one, rank=rank, ahead=_apart(values, at, at + 1), behind=_apart(values, at, at - 1))
        for at, (one, rank) in enumerate(zip(ranked, ranks, strict=True))
    )
    title = first.shown.run.manifest.method.title
    whole = (*places, *weighed[len(ranked) :])
    further = tuple(each for runs in of_entry.values() for each in _further(runs))
    return Standing(name, first.figure.label, title, first.figure.better, whole, unlike, example, further)


def _further(runs: Sequence[tuple[Shown, Scalar]]) -> Iterator[Place]:
    """Yield the runs of an entry that are another column than its first, which counts for all of them."""
    first, _ = runs[0]
    for shown, figure in runs[1:]:
        if shown.label == first.label:
            continue
        apart = differences(each.run.manifest for each in (first, shown))
        why = f"; the two differ in {and_listed(apart)}" if apart else ""
        yield replace(_place([(shown, figure)]), instead=f"of this drive {first.style.short} counts{why}")


def _place(runs: Sequence[tuple[Shown, Scalar]]) -> Place:
    """Return the place of an entry, not yet ranked, by its first run and by others that are like it."""
    shown, figure = runs[0]
    result = shown.run.result
    basis = result.basis_of(figure)
    alike = [own.value or 0.0 for each, own in runs if _kin(each) == _kin(shown)]
    varies = largest(
        (
            basis.varies,
            None if figure.error is None else Variation(figure.error, METER),
            Variation(spread_of(alike), RUNS),
        )
    )
    state = state_of(result, figure) or "state not shown"
    return Place(shown, figure, state, host_made(basis, shown.run.steps), basis.at, varies, None)


def _unlike(places: Sequence[Place]) -> str:
    """Say why places cannot be compared; empty where they can."""
    if len({_kin(place.shown) for place in places}) > 1:
        return UNLIKE
    return taken_apart(place.at for place in places)


def _ranks(place: Place, unlike: str) -> bool:
    return not unlike and not place.by_host and place.shown.run.result.stands(place.figure)


def _kin(shown: Shown) -> tuple[object, ...]:
    return (shown.run.manifest.method.name, *likeness(shown.run.manifest))


def _apart(values: Sequence[float], one: int, other: int) -> float:
    """Return by what share one differs from another, of the other; 0 where there is none of them."""
    if not (0 <= one < len(values) and 0 <= other < len(values) and values[other]):
        return 0.0
    return abs(values[one] - values[other]) / abs(values[other])


def ordinal(rank: int) -> str:
    """Return a rank in words: ``2nd``."""
    ending = "th" if 10 <= rank % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def percent(share: float) -> str:
    """Return a share in words; from twice on as so many times."""
    return share_text(share) if share < 0.995 else f"{significant(1 + share)} times"
