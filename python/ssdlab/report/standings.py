"""The ranking of drives by a figure, with margins: the basis of tiles, verdict and conclusion.

Only comparable figures (`results.kin`) without a forbidding qualifier are ranked. Other figures say why they
are not. If a drive has several runs, the first usable run counts. The spread of the others decides what
counts as a tie.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.analysis.places import LEVEL
from ssdlab.analysis.places import places as places_of
from ssdlab.lab.presented.points import figure_words
from ssdlab.lab.rated_shares import other_ratings, rated_shares
from ssdlab.model.units import and_listed, share_text
from ssdlab.results.catalogue_row import figure_of, kinship
from ssdlab.results.kin import LOAD, OF_AN_ENTRY, OF_FIGURES, UNFIT, apart, taken_apart
from ssdlab.results.metered import meter_of
from ssdlab.results.metric import labelled, labels, largest, spread_of, varies_by
from ssdlab.results.qualifiers import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ssdlab.lab.rated_shares import OtherRating, RatedShare
    from ssdlab.report.runs import Shown
    from ssdlab.results.kin import Incomparable
    from ssdlab.results.metric import Metric


EXAMPLE = CATALOGUE["example"].label
UNLIKE = "the runs are not comparable"
_DEPARTURES = "departures"
_NO_WALL = (*OF_AN_ENTRY, UNFIT)
"""Differences that do not make figures of a page incomparable."""


def figure_text(figure: Metric) -> str:
    """Return a figure, or a bound for it, in words with the load at which it was measured."""
    return figure_words(figure) + ("" if figure.load is None else f" at {figure.load.words}")


@dataclass(frozen=True)
class Place:
    """A drive's place in the ranking of a figure.

    Attributes
    ----------
    shown
        The run that is ranked.
    figure
        The figure as in the result, with the variation by meter and between runs added.
    rank
        Rank from 1, shared by tied drives; None if not ranked.
    """

    shown: Shown
    figure: Metric
    rank: int | None = None
    instead: str = ""
    """The run of the same drive that counts instead; empty: this run counts."""
    unlike: str = ""
    """How its measurement differs from the ranked ones; empty: it does not."""

    @property
    def value(self) -> float:
        assert self.figure.value is not None
        return self.figure.value

    @property
    def text(self) -> str:
        return figure_text(self.figure)

    @property
    def marked(self) -> str:
        return labelled(self.text, self.figure.state)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not ranked: the figure's labels, or else how its measurement differs."""
        own = tuple(each.label for each in self.figure.unfit("ranking"))
        return own or tuple(filter(None, (self.unlike,)))

    @property
    def unfit(self) -> str:
        """The reasons in words; empty if ranked."""
        return ", ".join(dict.fromkeys(self.reasons))

    @property
    def rated(self) -> RatedShare | None:
        """The figure as a share of the rating for its state; None without a comparable rating."""
        return next(iter(rated_shares((self.figure,), self.shown.run.manifest.ratings)), None)

    @property
    def other(self) -> OtherRating | None:
        """A rating for another state, if there is none for the figure's own state."""
        return next(iter(other_ratings((self.figure,), self.shown.run.manifest.ratings)), None)


@dataclass(frozen=True)
class Standing:
    """One figure of a method, over the drives that have it: best first, then unranked drives as given."""

    name: str
    label: str
    method: str
    better: Literal["higher", "lower"]
    places: tuple[Place, ...]
    unlike: str = ""
    """Why no drive is ranked; empty: drives can be ranked."""
    example: bool = False
    """Whether a made-up example was measured."""
    further: tuple[Place, ...] = ()
    """Further runs of the same drives, which are not ranked."""
    withheld: tuple[tuple[Shown, Metric], ...] = ()
    """Withheld figures of drives without a place, which give the reasons."""

    @property
    def words(self) -> str:
        several = self.example and len(self.places) > 1
        return f"{self.method}{f', {EXAMPLE}' if several else ''} ({self.label})"

    @property
    def ranked(self) -> tuple[Place, ...]:
        return tuple(place for place in self.places if place.rank is not None)

    def of(self, run: int) -> Place | None:
        """Return the place of a run, including further runs of a drive; None if it has none."""
        return next((place for place in (*self.places, *self.further) if place.shown.index == run), None)

    @property
    def unranked(self) -> str:
        """All reasons why none of several drives is ranked; empty if at least one is."""
        if len(self.places) < 2 or self.ranked:
            return ""
        return self.why_not(self.places)

    def why_not(self, places: Sequence[Place]) -> str:
        return self.unlike or ", ".join(dict.fromkeys(each for place in places for each in place.reasons))

    def sharing(self, place: Place) -> tuple[Place, ...]:
        """Return the places that share a place's rank, including itself."""
        return tuple(each for each in self.ranked if each.rank == place.rank)

    def how_level(self, place: Place) -> str:
        """Say whether places with one rank are tied, or vary too much to be distinguished."""
        own = self.sharing(place)
        close = spread_of([each.value for each in own]) < LEVEL * abs(own[0].value) or not own[0].value
        return "tied" if close else "indistinguishable"

    def why_level(self, place: Place) -> str:
        """Say why places share a rank: their distance and their variation."""
        own = self.sharing(place)
        best, spread = abs(own[0].value), spread_of([each.value for each in own])
        if not spread:
            return "equal"
        varies = largest(each.figure.varies for each in own)
        if spread < LEVEL * best:
            return f"within {share_text(LEVEL, 1)}"
        if not best or varies is None:
            return ""
        of = next(abs(each.value) for each in own if each.figure.varies == varies)
        return f"{share_text(spread / best)} apart, {varies.words(share_text(varies.amount / of))}"


def standings(runs: Sequence[Shown]) -> dict[str, Standing]:
    """Return the standing of every headline figure by its name, in the order of the runs."""
    found: dict[str, list[tuple[Shown, Metric]]] = {}
    for shown in runs:
        for figure in shown.run.result.scalars:
            if figure.value is not None:
                found.setdefault(figure.name, []).append((shown, figure))
    held = withheld(runs)
    return {
        name: replace(standing, withheld=_placeless(standing, held.get(name, ())))
        for name, standing in ((name, _standing(name, own)) for name, own in found.items())
    }


def withheld(runs: Sequence[Shown]) -> dict[str, tuple[tuple[Shown, Metric], ...]]:
    """Return every withheld headline figure by its name, with its runs."""
    found: dict[str, list[tuple[Shown, Metric]]] = {}
    for shown in runs:
        for figure in shown.run.result.scalars:
            if figure.value is None and figure.unfit("ranking"):
                found.setdefault(figure.name, []).append((shown, figure))
    return {name: tuple(own) for name, own in found.items()}


def among(standing: Standing, keep: Callable[[Shown], bool]) -> Standing:
    """Return the standing of some of the drives, ranked among themselves."""
    own = [place for place in standing.places if keep(place.shown)]
    unranked = (place for place in own if place.rank is None)
    return replace(
        standing,
        places=(*_ranked([place for place in own if place.rank is not None]), *unranked),
        further=tuple(place for place in standing.further if keep(place.shown)),
        withheld=tuple(each for each in standing.withheld if keep(each[0])),
    )


def of_interface(standing: Standing, interface: str) -> Standing:
    """Return the standing of the drives of one interface; of all drives if the interface is empty."""
    return among(standing, lambda shown: shown.style.interface == interface) if interface else standing


def _ranked(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return places, given best first, with their ranks."""
    varies = [None if (each := one.figure.varies) is None else each.amount for one in places]
    ranks = places_of([one.value for one in places], varies)
    return tuple(replace(one, rank=rank) for one, rank in zip(places, ranks, strict=True))


def _placeless(standing: Standing, found: Sequence[tuple[Shown, Metric]]) -> tuple[tuple[Shown, Metric], ...]:
    """Return the withheld figures of drives that have no other run with a place."""
    placed = {_entry(place.shown) for place in standing.places}
    return tuple(each for each in found if _entry(each[0]) not in placed)


def _entry(shown: Shown) -> tuple[str, str]:
    """Return the key of a drive in one variant, which is ranked as one entry."""
    return shown.drive.id, shown.drive.name


def _standing(name: str, found: Sequence[tuple[Shown, Metric]]) -> Standing:
    of_entry: dict[object, list[tuple[Shown, Metric]]] = {}
    for shown, figure in found:
        of_entry.setdefault(_entry(shown), []).append((shown, figure))
    for own in of_entry.values():  # a run fit for a ranking represents its drive
        own.sort(key=lambda each: bool(each[1].unfit("ranking")))
    weighed, unlike = _together([_place(runs) for runs in of_entry.values()])
    first = weighed[0]
    example = any(each.code == "example" for place in weighed for each in place.figure.qualifiers)
    sign = -1.0 if first.figure.better == "higher" else 1.0
    weighed.sort(key=lambda one: (True, 0.0) if unlike or one.unfit else (False, sign * one.value))
    ranked = [one for one in weighed if not (unlike or one.unfit)]
    title = first.shown.run.manifest.method.title
    whole = (*_ranked(ranked), *weighed[len(ranked) :])
    further = tuple(each for runs in of_entry.values() for each in _further(runs))
    return Standing(name, first.figure.label, title, first.figure.better, whole, unlike, example, further)


def _place(runs: Sequence[tuple[Shown, Metric]]) -> Place:
    """Return an entry's place, not yet ranked, from its first run and comparable repeats."""
    shown, figure = runs[0]
    first = _kin(shown, figure)
    repeats = [own.value or 0.0 for each, own in runs if not apart(_kin(each, own), first)]
    return Place(shown, figure.resting(varies=varies_by(figure, repeats)))


def _together(places: Sequence[Place]) -> tuple[list[Place], str]:
    """Return the places, each with how it differs from the ranked group; or why none can be compared.

    Places are grouped by comparable measurements. The group with the most figures fit for a ranking is
    compared, unless it has a single member or another group equals it.
    """
    kins = [_kin(place.shown, place.figure) for place in places]
    groups: list[list[int]] = []
    for at, own in enumerate(kins):
        alike = (group for group in groups if not apart(own, kins[group[0]], but=(*_NO_WALL, LOAD)))
        if (group := next(alike, None)) is None:
            groups.append([at])
        else:
            group.append(at)

    def weight(group: Sequence[int]) -> tuple[int, int]:
        return sum(not places[at].figure.unfit("ranking") for at in group), len(group)

    first, *others = sorted(groups, key=weight, reverse=True)
    if others and (len(first) == 1 or weight(first) == weight(others[0])):
        return list(places), UNLIKE
    if loads := taken_apart(kins[at][LOAD] or "" for at in first):  # no ranking across different loads
        return list(places), loads
    unlike = [apart(kins[group[0]], kins[first[0]], but=(*_NO_WALL, LOAD)) for group in others]
    why = {at: _otherwise(found) for group, found in zip(others, unlike, strict=True) for at in group}
    return [replace(place, unlike=why.get(at, "")) for at, place in enumerate(places)], ""


def _otherwise(found: Sequence[Incomparable]) -> str:
    # A setting unlike the method's is listed as a departure too; naming the setting suffices.
    named = [each for each in found if each.code != _DEPARTURES] or found
    return f"measured differently: {'; '.join(each.words for each in named)}"


def _kin(shown: Shown, figure: Metric) -> Mapping[str, Any]:
    """Return the properties that figures must share to be comparable."""
    manifest = shown.run.manifest
    own = figure_of(figure, meter_of(manifest))
    return {**kinship(manifest), **{name: getattr(own, name) for name in OF_FIGURES}}


def _further(runs: Sequence[tuple[Shown, Metric]]) -> Iterator[Place]:
    """Yield the runs of an entry that are in another column than the run that represents it."""
    first, _ = runs[0]
    for shown, figure in runs[1:]:
        if shown.label == first.label:
            continue
        unlike = apart(kinship(shown.run.manifest), kinship(first.run.manifest), but=OF_AN_ENTRY)
        why = f"; this run differs: {and_listed([each.words for each in unlike])}" if unlike else ""
        yield replace(_place([(shown, figure)]), instead=f"{first.style.short} counts for this drive{why}")


def unranked_beyond(standing: Standing, place: Place, *, worse: bool = False) -> tuple[Place, ...]:
    """Return the unranked figures that are better (or worse) than a place, since they qualify its rank.

    Further runs of a drive that is ranked at that place or beyond do not count.
    """
    sign = 1.0 if (standing.better == "higher") != worse else -1.0
    ranked = {_entry(each.shown) for each in standing.ranked if sign * each.value >= sign * place.value}
    return tuple(
        each
        for each in (*standing.places, *standing.further)
        if each.rank is None
        and not each.unlike  # not comparable with the ranked figures
        and sign * each.value > sign * place.value
        and not (each.instead and _entry(each.shown) in ranked)
    )


def not_ranked(standing: Standing, places: Sequence[Place]) -> str:
    """Return the figures of unranked drives, and why they are not ranked; empty if none."""
    reasons: dict[str, list[str]] = {}
    for each in places:
        own = f"{each.shown.style.short} with {each.text}"
        reasons.setdefault(each.instead or standing.why_not((each,)), []).append(own)
    found = "; ".join(f"{and_listed(own)}, {why}" for why, own in reasons.items())
    return f"not ranked: {found}" if found else ""


def no_value(held: Sequence[tuple[Shown, Metric]]) -> str:
    """Return which drives have no value, and why; empty if none."""
    reasons: dict[str, dict[str, None]] = {}
    for shown, figure in held:
        reasons.setdefault(labels(figure.unfit("ranking")), {})[shown.style.short] = None
    found = "; ".join(f"{and_listed(list(names))}, {why}" for why, names in reasons.items())
    return f"no value for {found}" if found else ""


def no_order(standing: Standing) -> str:
    """Return why no drive leads in a figure; empty if one leads or several are tied."""
    if standing.unranked:
        return standing.unranked
    level = standing.sharing(standing.ranked[0]) if standing.ranked else ()
    beyond = unranked_beyond(standing, level[-1]) if level else ()
    return f"{names_of(beyond)} ahead, but without a rank ({standing.why_not(beyond)})" if beyond else ""


def names_of(places: Iterable[Place]) -> str:
    return and_listed(list(dict.fromkeys(place.shown.style.short for place in places)))


def all_of(level: Sequence[Place], runs: Sequence[Shown]) -> str:
    """Return `all drives`, or `all SATA drives`, if these are more than two and no such drive is missing.

    A drive of the page without a value is missing.
    """
    interfaces = list({_entry(shown): shown.style.interface for shown in runs}.values())
    own = {place.shown.style.interface for place in level}
    (interface,) = own if len(own) == 1 else (None,)
    if len(level) < 3:  # names are as short
        return ""
    if len(level) == len(interfaces):
        return "all drives"
    return f"all {interface} drives" if interface and interfaces.count(interface) == len(level) else ""
