"""An editor's additions to a page of finished runs: title, names, texts, claims and a declaration."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from ssdlab.host.documents import read_document, user_path
from ssdlab.model.errors import UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markdown_it import MarkdownIt

    from ssdlab.host.documents import Document
    from ssdlab.report.claims import UserClaim
    from ssdlab.report.theme import Theme
    from ssdlab.report.view import Section
    from ssdlab.results.schema import DriveInfo

_MARKDOWN = "name a file of Markdown"
_HEADING = re.compile(r"<(/?)h[1-6]>")


@dataclass(frozen=True)
class Edition:
    """An editor's additions to a page.

    Attributes
    ----------
    title
        Title of the page; empty: the page's own.
    names
        Names of drives, by identifier or by the text that the user gave for the drive.
    texts
        Markdown, by the title of a chapter, or the id of a section or chart.
    review
        The page part of a declaration, which replaces the runs' own.
    claims
        Sentences to mark as true, false or not measured.
    full
        Whether every chart is open.
    theme
        House style; None: the default one.
    """

    title: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    review: Document = field(default_factory=dict)
    claims: tuple[UserClaim, ...] = ()
    full: bool = False
    theme: Theme | None = None

    def set_texts(self, titles: Sequence[str], parts: Sequence[Section]) -> dict[str, Markup]:
        """Return the texts as HTML, for a page with these chapter titles and sections.

        Raises
        ------
        UsageError
            The page has no such part, or lacks a chart that the declaration names for one of its methods.
        """
        sections = [section.id for section in parts]
        charts = [figure.id for section in parts for figure in section.figures]
        for chapter in self.review.get("chapters", ()):
            for chart in chapter["charts"]:
                if chart not in charts and chart.startswith(tuple(sections)):
                    raise unknown("chart", chart, charts)
        known = [*filter(None, titles), *sections, *charts]
        for part in self.texts:
            if part not in known:
                raise unknown("part of the page", part, known)
        return {part: html_of(text) for part, text in self.texts.items()}


PLAIN = Edition()


def check_names(names: Mapping[str, str], drives: Iterable[DriveInfo]) -> None:
    """Refuse names for drives that are not on the page.

    Raises
    ------
    UsageError
        A name is for an unknown drive.
    """
    known = dict.fromkeys(key for drive in drives for key in (drive.id, drive.text))
    for key in names:
        if key not in known:
            raise unknown("drive", key, known)


def html_of(text: str) -> Markup:
    """Return Markdown as HTML: tags become text, pictures become links, and all headings become h4."""
    return Markup(_HEADING.sub(r"<\1h4>", _markdown().render(text)))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable("image")


def names_of(given: Sequence[str]) -> dict[str, str]:
    """Read names of drives, each given as `ID=TEXT`.

    Raises
    ------
    UsageError
        A name has another form, a drive has two names, or two drives share one.
    """
    names = _pairs(given, "--name", "sim:samsung-983-dct-960gb,scale=64=983 DCT")
    of: dict[str, str] = {}
    for drive, name in names.items():
        if (other := of.setdefault(name, drive)) != drive:
            raise UsageError(f"--name calls both {other} and {drive} {name!r}", "give each a name of its own")
    return names


def texts_of(given: Sequence[str]) -> dict[str, str]:
    """Read texts from files, each given as `PART=FILE`.

    Raises
    ------
    UsageError
        An argument has another form, a part has two texts, or a file cannot be read.
    """
    files = _pairs(given, "--text", '"Mixed I/O performance=mixed.md"')
    return {part: read_document(user_path(file), "text", _MARKDOWN) for part, file in files.items()}


def review_of(path: str) -> tuple[str, Document]:
    """Return the title of a review's declaration, and the part of it that describes the page.

    Raises
    ------
    UsageError
        The declaration is invalid; the error names file and line.
    """
    from ssdlab.host.documents import with_name
    from ssdlab.lab.suites.declaration import Declaration

    place = user_path(path)
    text = read_document(place, "declaration", "print an example: ssdlab methods review-dc500 --toml")
    try:
        found = Declaration.parse(text, str(place))
    except UsageError as error:
        raise with_name(error, place) from error
    return found.title, found.page()


def _pairs(given: Sequence[str], option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        key, parted, text = each.rpartition("=")
        if not (key.strip() and parted and text.strip()):
            raise UsageError(f"{option} {each} is not NAME=VALUE", f"write it as: {option} {example}")
        if key in found:
            raise UsageError(f"{option} names {key} twice", "name it once")
        found[key] = text.strip()
    return found
