"""The order of the page: verdict, tiles, chapters as the review has them, and what leads to each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ssdlab.model.document import Document
from ssdlab.report.chart_links import ChartLink, chart_links
from ssdlab.report.sections.claims import Judged, judged
from ssdlab.report.sections.tiles import tiles
from ssdlab.report.sections.verdict import Clause, verdict
from ssdlab.report.standings import Standing, standings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.report.claims import UserClaim
    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.cards import Card
    from ssdlab.report.view import Section


@dataclass(frozen=True)
class Chapter:
    """A heading with the sections below it; without a title each section stands by itself."""

    id: str
    title: str
    text: str
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Entry:
    """A line of the contents."""

    id: str
    title: str
    below: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Outline:
    """What stands where on the page."""

    verdict: tuple[Clause, ...]
    tiles: tuple[Card, ...]
    more: tuple[Card, ...]
    lacking: tuple[str, ...]
    """Figures that the review wants at the top, and that no run of the page has."""
    claims: tuple[Judged, ...]
    chapters: tuple[Chapter, ...]
    standings: Mapping[str, Standing] = field(default_factory=dict)

    @property
    def sections(self) -> list[Section]:
        """Every section, in the order of the page."""
        return [section for chapter in self.chapters for section in chapter.sections]

    @property
    def contents(self) -> tuple[Entry, ...]:
        """What leads to each part of the page."""
        found = []
        if self.claims:
            found.append(Entry("claims", "Claims"))
        for chapter in self.chapters:
            below = tuple(Entry(section.id, section.title) for section in chapter.sections)
            found += [Entry(chapter.id, chapter.title, below)] if chapter.title else list(below)
        return (
            *found,
            Entry("origin", "Where these numbers come from"),
            Entry("measured", "How this was measured"),
        )


def outline(
    cards: Sequence[Card],
    found: Sequence[tuple[Section, Sequence[Shown]]],
    behind: Sequence[Section],
    runs: Sequence[Shown],
    review: Document,
    claims: Sequence[UserClaim] = (),
) -> Outline:
    """Put the page in order.

    Parameters
    ----------
    cards
        Every headline figure.
    found
        The section of each method, with its runs.
    behind
        What stands after them.
    runs
        Of the page.
    review
        What a declaration says of the page; empty: there is none.
    claims
        Sentences of the user's, to be judged.
    """
    ranks = standings(runs)
    links = chart_links(found)
    declared = [str(name) for name in review.get("tiles", ())]
    first, more = tiles(cards, ranks, declared)
    chapters = _chapters(found, review)
    titles = {section.id: own[0].run.manifest.method.title for section, own in found}
    order = [titles[section.id] for chapter in chapters for section in chapter.sections if chapter.title]
    links |= {title: ChartLink(section_id) for section_id, title in titles.items()}
    return Outline(
        verdict=verdict(first, ranks, links, order, runs),
        tiles=first,
        more=more,
        lacking=tuple(name for name in declared if name not in ranks),
        claims=judged(claims, runs, links),
        chapters=(*chapters, Chapter("", "", "", tuple(behind))),
        standings=ranks,
    )


def _chapters(found: Sequence[tuple[Section, Sequence[Shown]]], review: Document) -> tuple[Chapter, ...]:
    """Return the chapters of a review in its order; sections that none of them has come last."""
    left = list(found)
    chapters = []
    for number, each in enumerate(review.get("chapters", ())):
        own = [one for one in left if _is_of(one[1], each["parts"])]
        left = [one for one in left if one not in own]
        parts = list(each["parts"])
        own.sort(key=lambda one: _first(one[1], parts))
        if own:
            sections = tuple(_ordered(section, each["charts"]) for section, _ in own)
            chapters.append(Chapter(f"chapter-{number + 1}", each["title"], each["text"], sections))
    rest = tuple(section for section, _ in left)
    return (*chapters, Chapter("", "", "", rest)) if rest else tuple(chapters)


def _part(shown: Shown) -> str:
    member = shown.run.manifest.member
    return shown.run.manifest.method.name if member is None else member.part.partition(" #")[0]


def _is_of(runs: Sequence[Shown], parts: Sequence[str]) -> bool:
    """Whether a section is of one of these parts; one that stood in the library goes by its method."""
    named = {_part(shown) for shown in runs} | {shown.run.manifest.method.name for shown in runs}
    return bool(named & set(parts))


def _first(runs: Sequence[Shown], parts: Sequence[str]) -> int:
    named = {_part(shown) for shown in runs} | {shown.run.manifest.method.name for shown in runs}
    return min(at for at, part in enumerate(parts) if part in named)


def _ordered(section: Section, charts: Sequence[str]) -> Section:
    """Return a section with the charts that the review names first, in its order."""
    if not charts:
        return section
    place = {name: at for at, name in enumerate(charts)}
    figures = sorted(section.figures, key=lambda figure: place.get(figure.id, len(place)))
    return replace(section, figures=tuple(figures))
