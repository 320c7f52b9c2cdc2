"""Who stands where in a figure, and by how much: what tiles, the verdict and the conclusion are made of.

Only runs that are alike are ranked, and only figures whose drive state was shown; all others say why not. Of
several runs of one entry the first that is on the page counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.analysis.places import places as places_of
from ssdlab.methods.results.figure_state import state_of
from ssdlab.model.units import counted, share_text, significant
from ssdlab.report.drive_count import among
from ssdlab.results.numbers import of_unit
from ssdlab.results.rated_shares import RatedShare, rated_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Scalar

UNLIKE = "not ranked: these runs were not taken alike"


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
    rank: int | None
    ahead: float = 0.0
    behind: float = 0.0

    @property
    def value(self) -> float:
        """The figure; a place has one."""
        assert self.figure.value is not None
        return self.figure.value

    @property
    def text(self) -> str:
        """The figure in the words of its unit."""
        return of_unit(self.figure.value, self.figure.unit)

    @property
    def rated(self) -> RatedShare | None:
        """The figure as a share of its rating; None where there is none, or its state was not shown."""
        shown = self.shown.run.result.shows(self.figure)
        shares = rated_shares([self.figure], self.shown.run.manifest.ratings) if shown else ()
        return shares[0] if shares else None


@dataclass(frozen=True)
class Standing:
    """One figure of a method, over all drives of the page that have it; best first, the unranked last."""

    name: str
    label: str
    method: str
    better: Literal["higher", "lower"]
    places: tuple[Place, ...]
    alike: bool

    @property
    def words(self) -> str:
        """What it is of, where a page has several methods."""
        return f"{self.method} ({self.label})"

    @property
    def ranked(self) -> tuple[Place, ...]:
        """The places that count."""
        return tuple(place for place in self.places if place.rank is not None)

    def of(self, run: int) -> Place | None:
        """Return the place of a run."""
        return next((place for place in self.places if place.shown.index == run), None)

    def distance(self, place: Place) -> str:
        """Say where a place stands: ``1st of 3, 12 % ahead of the next``; empty where nothing is compared.

        Of drives that stand there in several states also how many drives they are: ``1st of 3 (2 drives)``.
        """
        if not self.alike:
            return UNLIKE
        if place.rank is None:
            return f"not ranked: {place.state}"
        total = len(self.ranked)
        if total < 2:
            return ""
        drives = among(each.shown.drive for each in self.ranked)
        rank = f"{ordinal(place.rank)} of {total}{f' ({drives})' if drives else ''}"
        if others := sum(each.rank == place.rank for each in self.ranked) - 1:
            return f"{rank}, level with {'the other' if total == 2 else counted(others, 'other')}"
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
    first_of: dict[object, tuple[Shown, Scalar]] = {}
    for shown, figure in found:
        first_of.setdefault((shown.drive.id, shown.drive.name), (shown, figure))
    kept = list(first_of.values())
    shown, figure = kept[0]
    alike = len({_kin(each) for each, _ in kept}) == 1
    title = shown.run.manifest.method.title
    states = [state_of(each.run.result, own) for each, own in kept]
    weighed = [
        (each, own, state, alike and each.run.result.shows(own))
        for (each, own), state in zip(kept, states, strict=True)
    ]
    sign = -1.0 if figure.better == "higher" else 1.0
    weighed.sort(key=lambda one: (not one[3], sign * (one[1].value or 0.0)))
    values = [own.value or 0.0 for _, own, _, ranks in weighed if ranks]
    ranks_of = places_of(values)
    places = tuple(
        Place(
            each,
            own,
            state or "state not shown",
            ranks_of[at] if ranks else None,
            ahead=_apart(values, at, at + 1),
            behind=_apart(values, at, at - 1),
        )
        for at, (each, own, state, ranks) in enumerate(weighed)
    )
    return Standing(name, figure.label, title, figure.better, places, alike)


def _kin(shown: Shown) -> tuple[object, ...]:
    manifest = shown.run.manifest
    return (
        manifest.method.name,
        manifest.method.version,
        repr(sorted(manifest.params.items())),
        manifest.quick,
        manifest.engine,
    )


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
