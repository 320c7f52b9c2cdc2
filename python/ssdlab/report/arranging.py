"""The rest of a page: its head, the links to its sections, and what follows the charts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.host.documents import Document
from ssdlab.lab.suites.suite import absent_drives
from ssdlab.report.edition import PLAIN, Edition
from ssdlab.report.outline import outline
from ssdlab.report.sections import conclusion, efficiency, specifications, suite
from ssdlab.report.sections.banners import with_more
from ssdlab.report.sections.header import header
from ssdlab.report.sections.review_notes import in_chapters
from ssdlab.report.sections.top import Median
from ssdlab.report.source import Run, SeveralDrives, SuiteRun
from ssdlab.report.together import tabled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.body import Body
    from ssdlab.report.outline import Outline
    from ssdlab.report.sections.header import Header
    from ssdlab.report.source import Reported
    from ssdlab.report.view import Section


def arranged(runs: Sequence[Reported], body: Body, edition: Edition = PLAIN) -> tuple[Header, Outline]:
    """Return the head of a page and the order of its parts."""
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
        # A review has another title on drives that it is not of; a page has one title for each review.
        of_review: dict[str, str] = {}
        for each in [one for one in suites if one.manifest.review] or suites:
            of_review.setdefault(each.manifest.method.name, each.manifest.method.title)
        titles = ", ".join(dict.fromkeys(of_review.values()))
        # What somebody declared has its own title; a suite of ours is named after the drive it was of.
        head = replace(head, title=titles, subtitle=head.title) if review else replace(head, subtitle=titles)
    if edition.title:
        head = replace(head, title=edition.title, subtitle=head.subtitle or head.title)
    return head, replace(order, texts=edition.set_texts(order))


def _filled(section: Section) -> Section:
    """Return a section without tables of headings alone, as of a run that ended before it measured."""
    exhibits = (
        replace(each, tables=tuple(table for table in each.tables if table.rows)) for each in section.exhibits
    )
    had = [bool(each.tables) for each in section.exhibits]
    kept = [each for each, any_table in zip(exhibits, had, strict=True) if each.tables or not any_table]
    if kept or section.figures or section.lead or not section.exhibits:
        return replace(section, exhibits=tuple(kept))
    return replace(section, exhibits=(), lead=("Nothing was measured: the run ended before that.",))


def _review(runs: Sequence[Reported]) -> Document:
    """Return what a declaration says of the page: the first that was named, where all are of one review.

    What is of no review, such as a run of an earlier drive, stands in its chapters.
    """
    reviews = [one.manifest for one in runs if one.manifest.review]
    return reviews[0].review if len({each.method.name for each in reviews}) == 1 else {}


def _suites(reported: Reported) -> tuple[SuiteRun, ...]:
    if isinstance(reported, SeveralDrives):
        return reported.suites
    return (reported,) if isinstance(reported, SuiteRun) else ()
