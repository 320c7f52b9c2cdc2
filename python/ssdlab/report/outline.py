"""The order of a page: head and top, the review's chapters with their notes, and links to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from ssdlab.host.documents import Document
from ssdlab.lab.suites.suite import absent_drives
from ssdlab.report.chart_links import ChartLink, chart_links
from ssdlab.report.edition import PLAIN, Edition
from ssdlab.report.runs import entries, review_of
from ssdlab.report.sections import conclusion, efficiency, specifications, suite
from ssdlab.report.sections.banners import Notice, Point, with_more
from ssdlab.report.sections.claims import Judged, judged
from ssdlab.report.sections.header import header
from ssdlab.report.sections.top import Median, Top, top
from ssdlab.report.source import Run, SeveralDrives, SuiteRun
from ssdlab.report.standings import Standing, standings
from ssdlab.report.together import tabled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markupsafe import Markup

    from ssdlab.report.body import Body
    from ssdlab.report.claims import UserClaim
    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.banners import Kind
    from ssdlab.report.sections.header import Header
    from ssdlab.report.source import Reported
    from ssdlab.report.view import Figure, Section
    from ssdlab.results.schema import Note

LEADING = 12
"""Number of charts that are open first on a page of several methods."""


@dataclass(frozen=True)
class Chapter:
    """A heading with its sections; without a title, the sections have no heading."""

    id: str
    title: str
    text: str
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Entry:
    id: str
    title: str


@dataclass(frozen=True)
class Measured:
    titles: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    top: Top
    claims: tuple[Judged, ...]
    chapters: tuple[Chapter, ...]
    standings: Mapping[str, Standing] = field(default_factory=dict)
    measured: tuple[Measured, ...] = ()
    leading: frozenset[str] = frozenset()
    """Ids of the charts that are open; the other charts of a section are closed."""
    several: bool = False
    """Whether drives are compared: the end of the page is then closed, as its tables are wide."""
    texts: Mapping[str, Markup] = field(default_factory=dict)
    """The editor's texts, by the title of a chapter, or the id of a section or chart."""

    @property
    def sections(self) -> list[Section]:
        return [section for chapter in self.chapters for section in chapter.sections]

    @property
    def folded(self) -> bool:
        """Whether some charts are closed."""
        return any(each.id not in self.leading for section in self.sections for each in section.figures)

    @property
    def end_closed(self) -> bool:
        """Whether the end of the page, where the figures come from and how they were measured, is closed."""
        return self.folded or self.several

    def parts_of(self, section: Section) -> tuple[list[Figure], list[Figure]]:
        """Return the open charts and the closed charts of a section."""
        leads = [each for each in section.figures if each.id in self.leading]
        return leads, [each for each in section.figures if each not in leads]

    @property
    def contents(self) -> tuple[Entry, ...]:
        found = []
        if self.claims:
            found.append(Entry("claims", "Claims"))
        for chapter in self.chapters:
            lead = (Entry(section.id, section.title) for section in chapter.sections)
            found += [Entry(chapter.id, chapter.title)] if chapter.title else list(lead)
        if self.end_closed:  # one closed part of the page holds both
            return (*found, Entry("origin", "Where these numbers come from, and how they were measured"))
        return (
            *found,
            Entry("origin", "Where these numbers come from"),
            Entry("measured", "How this was measured"),
        )


def outline(
    found: Sequence[tuple[Section, Sequence[Shown]]],
    behind: Sequence[Section],
    runs: Sequence[Shown],
    review: Document,
    claims: Sequence[UserClaim] = (),
    medians: Sequence[Median] = (),
    *,
    full: bool = False,
) -> Outline:
    """Put the parts of the page in order.

    Parameters
    ----------
    found
        The section of each method, with its runs.
    behind
        The sections that follow those of the methods.
    runs
        Runs of the page.
    review
        The page part of a declaration; empty: none.
    claims
        The user's sentences, which are judged here.
    medians
        Medians over the runs of one drive in a suite.
    full
        Whether every chart is open.
    """
    ranks = standings(runs)
    links = chart_links(found)
    declared = [str(name) for name in review.get("tiles", ())]
    declared_chapters = review.get("chapters", ())
    chapters = _chapters(found, review)
    titles = {section.id: own[0].run.manifest.method.title for section, own in found}
    links |= {title: ChartLink(section_id) for section_id, title in titles.items()}
    whole = Outline(
        top=top(runs, ranks, declared, medians, links, _reviewed(runs, review)),
        claims=judged(claims, runs, links),
        chapters=(*chapters, Chapter("", "", "", tuple(behind))),
        standings=ranks,
        several=len(entries(runs)) > 1 and not full,
        leading=frozenset(each.id for section in (*_of(chapters), *behind) for each in section.figures)
        if full
        else _leading(_of(chapters), behind, [name for each in declared_chapters for name in each["charts"]]),
    )
    return _measured_once(whole)


def _reviewed(runs: Sequence[Shown], review: Document) -> Shown | None:
    """Return a run of the drive under review, which is the first; None if the review names no drives."""
    of_review = (shown for shown in runs if review_of(shown.run))
    return next(of_review, None) if review.get("drives") else None


def _of(chapters: Sequence[Chapter]) -> list[Section]:
    return [section for chapter in chapters for section in chapter.sections]


def _leading(
    sections: Sequence[Section], behind: Sequence[Section], named: Sequence[str] = ()
) -> frozenset[str]:
    """Return the charts that are open: those that the review names, then each method's first, second, ...

    Charts of a standard's report are always open, since such a page must be complete.
    """
    rows = [[each for each in section.figures if not each.sheets] for section in sections]
    every = {each.id for section in (*sections, *behind) for each in section.figures}
    if len(every) <= LEADING or len([row for row in rows if row]) < 2:
        return frozenset(every)
    by_turns = [each.id for turn in zip_longest(*rows) for each in turn if each is not None]
    ordered = list(dict.fromkeys([*(name for name in named if name in by_turns), *by_turns]))
    whole = (each.id for section in sections for each in section.figures if each.sheets)
    return frozenset((*ordered[:LEADING], *whole))


def _chapters(found: Sequence[tuple[Section, Sequence[Shown]]], review: Document) -> tuple[Chapter, ...]:
    """Return a review's chapters in its order; sections that belong to no chapter come last."""
    left = list(found)
    chapters = []
    for number, each in enumerate(review.get("chapters", ())):
        own = [one for one in left if _is_of(one[1], each["parts"])]
        left = [one for one in left if one not in own]
        parts = list(each["parts"])
        own.sort(key=lambda one: _first(one[1], parts))
        if own:
            first, *others = (_ordered(section, each["charts"]) for section, _ in own)
            # Details that the published text does not give; earlier versions have them in the chapter's own
            # text.
            first = replace(first, measured=(*first.measured, *each.get("inferred", ())))
            sections = (first, *others)
            chapters.append(Chapter(f"chapter-{number + 1}", each["title"], each["text"], sections))
    rest = tuple(section for section, _ in left)
    return (*chapters, Chapter("", "", "", rest)) if rest else tuple(chapters)


def _part(shown: Shown) -> str:
    member = shown.run.manifest.member
    return shown.run.manifest.method.name if member is None else member.part.partition(" #")[0]


def _open(figure: Figure) -> bool:
    """Return whether a figure's details may be stated elsewhere; a page of a standard must be complete."""
    return not figure.sheets


def _measured_once(order: Outline) -> Outline:
    """Return an outline that states each detail of measurement once: by its figure, section or page."""
    titles: dict[str, dict[str, None]] = {}
    sections: dict[str, set[str]] = {}
    for section in order.sections:
        for figure in filter(_open, section.figures):
            for line in figure.measured:
                titles.setdefault(line, {})[figure.title] = None
                sections.setdefault(line, set()).add(section.id)
    of: dict[str, list[str]] = {}
    for line, own in titles.items():
        if len(sections[line]) > 1:
            of.setdefault("; ".join(own), []).append(line)
    far = {line for lines in of.values() for line in lines}
    chapters = tuple(
        replace(chapter, sections=tuple(_without_shared(each, far) for each in chapter.sections))
        for chapter in order.chapters
    )
    measured = tuple(Measured(own, tuple(lines)) for own, lines in of.items())
    return replace(order, chapters=chapters, measured=measured)


def _without_shared(section: Section, far: set[str]) -> Section:
    every = [line for figure in filter(_open, section.figures) for line in dict.fromkeys(figure.measured)]
    near = dict.fromkeys(line for line in every if line not in far and every.count(line) > 1)
    figures = tuple(
        replace(each, measured=tuple(line for line in each.measured if line not in far and line not in near))
        if _open(each)
        else each
        for each in section.figures
    )
    return replace(section, figures=figures, measured=(*section.measured, *near))


def _is_of(runs: Sequence[Shown], parts: Sequence[str]) -> bool:
    """Return whether a section belongs to one of these parts; a run from the library counts by its method."""
    named = {_part(shown) for shown in runs} | {shown.run.manifest.method.name for shown in runs}
    return bool(named & set(parts))


def _first(runs: Sequence[Shown], parts: Sequence[str]) -> int:
    named = {_part(shown) for shown in runs} | {shown.run.manifest.method.name for shown in runs}
    return min(at for at, part in enumerate(parts) if part in named)


def _ordered(section: Section, charts: Sequence[str]) -> Section:
    """Return a section whose charts named by the review come first, in the review's order."""
    if not charts:
        return section
    place = {name: at for at, name in enumerate(charts)}
    figures = sorted(section.figures, key=lambda figure: place.get(figure.id, len(place)))
    return replace(section, figures=tuple(figures))


def arranged(runs: Sequence[Reported], body: Body, edition: Edition = PLAIN) -> tuple[Header, Outline]:
    suites = [suite for each in runs for suite in _suites(each)]
    placed = body.placed
    head = header(placed)
    review = edition.review or _review(runs)
    measured = efficiency.not_metered([section for section, _ in body.methods], placed)
    behind = (
        body.drives,
        conclusion.section(placed, review.get("tiles", ())),
        specifications.section(
            placed,
            review.get("drives", ()),
            absent_drives(review, [one.run.manifest.drive.text for one in placed]),
        ),
        suite.section(suites),
    )
    order = outline(
        [
            (tabled(_filled(section), placed), own)
            for section, (_, own) in zip(measured, body.methods, strict=True)
        ],
        [each for each in behind if each is not None],
        placed,
        review,
        edition.claims,
        [Median(each, suite.manifest.drive.id) for suite in suites for each in suite.result.repeated],
        full=edition.full,
    )
    chapters, notices = in_chapters(runs, placed, order.chapters)
    order = replace(order, chapters=chapters)
    head = replace(head, banners=with_more(head.banners, notices))
    if suites and (review or not any(isinstance(each, Run) for each in runs)):
        # A review's title changes on drives that it is not made for; a page has one title per review.
        of_review: dict[str, str] = {}
        for each in [one for one in suites if one.manifest.review] or suites:
            of_review.setdefault(each.manifest.method.name, each.manifest.method.title)
        titles = ", ".join(dict.fromkeys(of_review.values()))
        # A declared review has its own title; a suite of ssdlab is named after its drive.
        head = replace(head, title=titles, subtitle=head.title) if review else replace(head, subtitle=titles)
    if edition.title:
        head = replace(head, title=edition.title, subtitle=head.subtitle or head.title)
    return head, replace(order, texts=edition.set_texts([each.title for each in chapters], order.sections))


def _filled(section: Section) -> Section:
    """Return a section without empty tables, which occur if a run ended before it measured."""
    exhibits = (
        replace(each, tables=tuple(table for table in each.tables if table.rows)) for each in section.exhibits
    )
    had = [bool(each.tables) for each in section.exhibits]
    kept = [each for each, any_table in zip(exhibits, had, strict=True) if each.tables or not any_table]
    if kept or section.figures or section.lead or not section.exhibits:
        return replace(section, exhibits=tuple(kept))
    return replace(section, exhibits=(), lead=("Nothing was measured: the run ended before that.",))


def _review(runs: Sequence[Reported]) -> Document:
    """Return the page part of the first run's declaration, if all runs belong to one review; else empty.

    Runs outside any review, such as those of an earlier drive, appear in the same chapters.
    """
    reviews = [one.manifest for one in runs if one.manifest.review]
    return reviews[0].review if len({each.method.name for each in reviews}) == 1 else {}


def _suites(reported: Reported) -> tuple[SuiteRun, ...]:
    if isinstance(reported, SeveralDrives):
        return reported.suites
    return (reported,) if isinstance(reported, SuiteRun) else ()


@dataclass(frozen=True)
class _Remark:
    kind: Kind
    what: str
    advice: str
    chapter: str | None = None
    shown: Shown | None = None
    """The first run of the drive; None: the remark is about the whole page."""

    def in_chapter(self) -> str:
        drive = "" if self.shown is None else f", {self.shown.label}"
        return f"Note of {self.advice}{drive}: {self.what}."


def in_chapters(
    runs: Sequence[Reported], placed: Sequence[Shown], chapters: Sequence[Chapter]
) -> tuple[tuple[Chapter, ...], dict[Kind, list[Notice]]]:
    """Return the chapters with their notes, and the notes outside the chapters as notices.

    Parameters
    ----------
    runs
        Runs of the page, including suites.
    placed
        The single runs with their looks.
    chapters
        Chapters of the page.
    """
    titles = {chapter.title for chapter in chapters if chapter.title}
    here: dict[str, list[str]] = {}
    elsewhere: dict[tuple[Kind, str, str], list[_Remark]] = {}
    for each in _remarks(runs, placed):
        if each.chapter in titles:
            here.setdefault(str(each.chapter), []).append(each.in_chapter())
        else:
            what = each.what if each.chapter is None else f"{each.chapter}: {each.what}"
            elsewhere.setdefault((each.kind, what, each.advice), []).append(each)
    found: dict[Kind, list[Notice]] = {}
    for (kind, what, advice), own in elsewhere.items():
        whose = tuple(each.shown.index for each in own if each.shown is not None)
        points = (Point("", whose),) if len(whose) == len(own) else ()
        found.setdefault(kind, []).append(Notice(what, advice, points))
    return tuple(_with(chapter, here) for chapter in chapters), found


def _with(chapter: Chapter, here: Mapping[str, Sequence[str]]) -> Chapter:
    own = here.get(chapter.title, ())
    return replace(chapter, text=" ".join(filter(None, (chapter.text, *own)))) if own else chapter


def _remarks(runs: Sequence[Reported], placed: Sequence[Shown]) -> Iterator[_Remark]:
    suites: list[SuiteRun] = []
    for each in runs:
        if isinstance(each, SeveralDrives):
            yield from (_of_note(note, None) for note in each.notes)
            suites += each.suites
        elif not isinstance(each, Run):
            suites.append(each)
    whole = len(suites) == 1 and len(runs) == 1
    for one in suites:
        own = {run.manifest.run_id for run in one.runs}
        first = next(each for each in placed if each.run.manifest.run_id in own)
        yield from _of_suite(one, None if whole else first)


def _of_suite(suite: SuiteRun, shown: Shown | None) -> Iterator[_Remark]:
    yield from (_of_note(note, shown) for note in suite.notes)
    for each in suite.manifest.replaced:
        yield _Remark("note", each.words, each.at[:10], shown=shown)
    for departure in suite.manifest.departures:
        if departure.code == "not-asked-for":
            yield _Remark("departure", departure.what, f"{departure.why}.", shown=shown)


def _of_note(note: Note, shown: Shown | None) -> _Remark:
    return _Remark("note", note.words.removesuffix("."), note.date, note.chapter, shown)
