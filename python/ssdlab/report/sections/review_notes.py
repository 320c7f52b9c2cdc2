"""Notes of reviews and suites, and parts that were left out.

A chapter's note appears in that chapter; all others appear among the notes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.report.sections.banners import Notice, Point
from ssdlab.report.source import Run, SeveralDrives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.report.outline import Chapter
    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.banners import Kind
    from ssdlab.report.source import Reported, SuiteRun
    from ssdlab.results.schema import Note


@dataclass(frozen=True)
class _Remark:
    """Something that a review, or the suite of one drive, says of itself."""

    kind: Kind
    what: str
    advice: str
    chapter: str | None = None
    shown: Shown | None = None
    """The first run of the drive; None: the whole page."""

    def in_chapter(self) -> str:
        """Return it as a sentence for its chapter."""
        drive = "" if self.shown is None else f", {self.shown.label}"
        return f"Note of {self.advice}{drive}: {self.what}."


def in_chapters(
    runs: Sequence[Reported], placed: Sequence[Shown], chapters: Sequence[Chapter]
) -> tuple[tuple[Chapter, ...], dict[Kind, list[Notice]]]:
    """Return chapters with their notes, and all other notes as notices.

    Parameters
    ----------
    runs
        Runs of the page.
    placed
        Its single runs.
    chapters
        Of the page.
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
    for suite in suites:
        own = {run.manifest.run_id for run in suite.runs}
        first = next(each for each in placed if each.run.manifest.run_id in own)
        yield from _of_suite(suite, None if whole else first)


def _of_suite(suite: SuiteRun, shown: Shown | None) -> Iterator[_Remark]:
    yield from (_of_note(note, shown) for note in suite.notes)
    for each in suite.manifest.replaced:
        yield _Remark("note", each.words, each.at[:10], shown=shown)
    for departure in suite.manifest.departures:
        if departure.code == "not-asked-for":
            yield _Remark("departure", departure.what, f"{departure.why}.", shown=shown)


def _of_note(note: Note, shown: Shown | None) -> _Remark:
    return _Remark("note", note.words.removesuffix("."), note.date, note.chapter, shown)
