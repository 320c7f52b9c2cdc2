"""What stands around the charts of a page: its head, what leads to each section, what comes behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.lab.suites.absent import absent_drives
from ssdlab.model.document import Document
from ssdlab.report.outline import outline
from ssdlab.report.sections import conclusion, efficiency, specifications, suite
from ssdlab.report.sections.header import header
from ssdlab.report.source import Comparison, Run, SuiteRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.body import Body
    from ssdlab.report.claims import UserClaim
    from ssdlab.report.outline import Outline
    from ssdlab.report.sections.header import Header
    from ssdlab.report.source import Reported


def arranged(
    runs: Sequence[Reported], body: Body, claims: Sequence[UserClaim] = ()
) -> tuple[Header, Outline]:
    """Return the head of a page and what stands where on it."""
    suites = [suite for each in runs for suite in _suites(each)]
    placed = body.placed
    head = header(placed)
    review = _review(runs)
    measured = efficiency.not_metered([section for section, _ in body.methods], placed)
    behind = (
        body.drives,
        conclusion.section(placed),
        specifications.section(
            placed,
            review.get("drives", ()),
            absent_drives(review, [one.run.manifest.drive.text for one in placed]),
        ),
        suite.section(suites),
    )
    order = outline(
        [(section, own) for section, (_, own) in zip(measured, body.methods, strict=True)],
        [each for each in behind if each is not None],
        placed,
        review,
        claims,
    )
    if suites and not any(isinstance(each, Run) for each in runs):
        titles = ", ".join(dict.fromkeys(each.manifest.method.title for each in suites))
        # What somebody declared has its own title; a suite of ours is named after the drive it was of.
        head = replace(head, title=titles, subtitle=head.title) if review else replace(head, subtitle=titles)
    return head, order


def _review(runs: Sequence[Reported]) -> Document:
    """Return what a declaration says of the page, where all of it is of one review."""
    found = [one.manifest.review for one in runs]
    return found[0] if found and all(each == found[0] for each in found) else {}


def _suites(reported: Reported) -> tuple[SuiteRun, ...]:
    if isinstance(reported, Comparison):
        return reported.suites
    return (reported,) if isinstance(reported, SuiteRun) else ()
