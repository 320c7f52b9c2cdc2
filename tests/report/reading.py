"""Reads a page as a reader without scripts does: its tables, its attributes, its script elements."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.report.view import Section


def concluded(section: Section | None) -> dict[str, dict[str, str]]:
    """Return what a conclusion says of each figure that it ranks, by the heads of its columns."""
    tables = [] if section is None else [table for each in section.exhibits for table in each.tables]
    return {
        row[0].text: dict(zip(table.head, (cell.text for cell in row), strict=True))
        for table in tables
        if table.head[0] == "Figure"
        for row in table.rows
    }


def not_ranked(section: Section | None) -> list[str]:
    """Return why a conclusion ranks nobody by figures, each with its drives and figures in one line."""
    tables = [] if section is None else [table for each in section.exhibits for table in each.tables]
    return [
        " | ".join(cell.text for cell in row)
        for table in tables
        if table.head[0] == "Why"
        for row in table.rows
    ]


def untied(html: str) -> str:
    """A page with the spaces between figures and units as they are elsewhere: no reader sees a difference."""
    return html.replace("\N{NO-BREAK SPACE}", " ")


@dataclass
class Page(HTMLParser):
    """What stands in a page."""

    cells: set[str] = field(default_factory=set)
    """Text of every table cell, and the exact value behind it."""
    addresses: list[str] = field(default_factory=list)
    """Every `src`, `href` and the like."""
    policy: str = ""
    scripts: list[tuple[str, str]] = field(default_factory=list)
    """Type (or nothing) and text of every script element, unpacked."""
    tags: list[str] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._cell: list[str] | None = None
        self._script: str | None = None

    @classmethod
    def of(cls, html: str) -> Page:
        page = cls()
        page.feed(html)
        page.close()
        return page

    @property
    def data(self) -> Any:
        """What the charts of the page are drawn from."""
        return next(held for kind, text in self.scripts if kind and "charts" in (held := json.loads(text)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.addresses += [
            found[name] for name in ("src", "href", "action", "srcset", "data") if name in found
        ]
        if found.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = found["content"]
        if tag in ("td", "th"):
            self._cell = []
            if "data-value" in found:
                self.cells.add(found["data-value"])
        if tag == "script":
            self._script = found.get("type", "")
            self.scripts.append((self._script, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self.cells.add("".join(self._cell).strip())
            self._cell = None
        if tag == "script":
            self._script = None

    def handle_data(self, data: str) -> None:
        data = untied(data)
        if self._script == "application/gzip":
            self.scripts[-1] = (self._script, gzip.decompress(base64.b64decode(data)).decode())
        elif self._script is not None:
            self.scripts[-1] = (self._script, self.scripts[-1][1] + data)
        else:
            self.text += data
        if self._cell is not None:
            self._cell.append(data)
