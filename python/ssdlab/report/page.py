"""Assembles the page: sections become one self-contained HTML file that makes no request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING

from markupsafe import Markup

from ssdlab.host.output_files import OutputFile
from ssdlab.model.units import counted
from ssdlab.report.body import body_of, placed_of, single_runs
from ssdlab.report.charts import Page, packed, plain
from ssdlab.report.edition import PLAIN, Edition, check_names
from ssdlab.report.engine import static
from ssdlab.report.heads import heads_of
from ssdlab.report.looks import OURS, Palette
from ssdlab.report.pictures import Stills, full_width, views
from ssdlab.report.runs import NO_NAMES, Shown, entries, shown
from ssdlab.report.theme import Theme, default_theme
from ssdlab.report.view import OPEN_ROWS

_CLOSED = re.compile(r"<details(?! open)(?! class=\"(?:steps?|points)\")( |>)")
"""Closed parts that are opened on paper. The workload and the notices of each step stay closed: they would
take hundreds of sheets."""
_GENERATOR = b'<meta name="generator" content="ssdlab">'

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ssdlab.report.claims import UserClaim
    from ssdlab.report.outline import Outline
    from ssdlab.report.sections.claims import Judged
    from ssdlab.report.sections.header import Header
    from ssdlab.report.source import Reported
    from ssdlab.report.view import Section


def render(runs: Sequence[Reported], edition: Edition = PLAIN, *, printed: bool = False) -> str:
    """Return the page of these runs as HTML; a suite or comparison includes all its runs.

    Parameters
    ----------
    edition
        The editor's additions.
    printed
        Whether the page is for paper. Pictures of the views, in the first unit, then replace buttons, and
        there are no scripts. A page with closed charts omits all closed parts; another page omits only the
        workload of each step.

    Raises
    ------
    UsageError
        There is no run, a run is given twice, or an addition is for a part that the page does not have.
    HostError
        The front end is not built.
    """
    theme = edition.theme or default_theme()
    placed = placed_of(runs, edition.names, theme.palette)
    check_names(edition.names, (one.run.manifest.drive for one in placed))
    pictures = Stills(placed, theme)
    body = body_of(placed) if printed else body_of(placed, pictures.begin)
    from ssdlab.report.outline import arranged  # imported late, so that it loads while pictures are drawn

    head, order = arranged(runs, body, edition)
    html = assembled(head, placed, order, pictures, theme, complete=True, printed=printed, full=edition.full)
    if printed and order.folded:  # paper has no other place for the meaning of figures' labels
        return html.replace('<details class="tests">', '<details class="tests" open>')
    return _CLOSED.sub(r"<details open\1", html) if printed else html


def assembled(
    head: Header,
    placed: Sequence[Shown],
    order: Outline,
    pictures: Stills,
    theme: Theme,
    *,
    complete: bool = False,
    printed: bool = False,
    full: bool = False,
) -> str:
    """Assemble a page from its head and sections.

    `complete` adds how each run was measured, and each run's data. On paper, `full` prints a picture for
    every button; otherwise only for buttons that add something.
    """
    from ssdlab.report.on_paper import (
        FEW_RUNS,
        MAX_ROWS,
        MAX_VIEWS_OF_MANY,
        on_paper,
        shortened,
        without_repetition,
    )
    from ssdlab.report.sections.provenance import of_all, panels
    from ssdlab.report.templating import template

    brief = printed and len(placed) > FEW_RUNS
    if printed:
        order = on_paper(order, len(placed), full=full)
    sections = order.sections
    figures = [figure for section in sections for figure in section.figures]
    heads = heads_of(sections, placed)
    styles = tuple(one.style for one in placed)
    shared, prose = of_all(panels(placed) if complete else ())
    data = Page(
        head.title,
        styles,
        heads,
        {figure.id: figure.chart for figure in figures},
        theme.size,
    )
    script = _static("report.js")
    return template().render(
        head=head,
        order=order,
        stills=pictures,
        views=views(figures, styles, theme, MAX_VIEWS_OF_MANY if brief else None, full=full)
        if printed
        else {},
        wide={each for section in sections for part in order.parts_of(section) for each in full_width(part)},
        shared=shared,
        panels=shortened(without_repetition(prose)) if printed else prose,
        printed=printed,
        titles={name: each.title for name, each in heads.items()},
        open_rows=OPEN_ROWS,
        paper_rows=MAX_ROWS,
        few_panels=FEW_RUNS,
        brief=brief,
        runs=placed,
        entries=entries(placed),
        footer=f"ssdlab. {counted(len(placed), 'run')}",
        policy=_policy(script, fonts=bool(theme.faces)),
        style=Markup(_static("report.css").replace("</", "<\\/")) + theme.style(),
        theme=theme,
        script=Markup(script),
        data=packed(json.dumps(plain(data), ensure_ascii=False, allow_nan=False).encode()),
        whole=[_whole(one) for one in placed] if complete and not printed else [],
    )


def contents(
    runs: Sequence[Reported], names: Mapping[str, str] = NO_NAMES, palette: Palette = OURS
) -> tuple[tuple[Shown, ...], list[Section]]:
    """Return the runs of a page with their looks, and its sections. Raises as `render` does."""
    from ssdlab.report.outline import arranged

    placed = placed_of(runs, names, palette)
    check_names(names, (one.run.manifest.drive for one in placed))
    _, order = arranged(runs, body_of(placed))
    return placed, order.sections


def _static(name: str) -> str:
    """Return a file of the front end, with `</script` escaped, which would end the script element early."""
    return static(name).replace("</script", "<\\/script")


def _policy(script: str, *, fonts: bool) -> str:
    """Return a content security policy: nothing is fetched, and only ssdlab's own script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    parts = (
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        *(["font-src data:"] if fonts else []),
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(parts)


def _whole(one: Shown) -> str:
    """Return a run's manifest and result for download, compressed to a sixth."""
    return packed(one.run.manifest.model_dump_json(by_alias=True).encode())


def marked(runs: Sequence[Reported], claims: Sequence[UserClaim]) -> tuple[Judged, ...]:
    """Return the claims of a page, judged by its figures.

    Raises
    ------
    UsageError
        A claim names a figure that no method has, or its bound has a unit of another kind.
    """
    from ssdlab.report.sections.claims import judged

    return judged(claims, shown(single_runs(runs)), {}) if claims else ()


def write(runs: Sequence[Reported], path: Path, edition: Edition = PLAIN) -> int:
    """Write the page to `path` atomically; return its size in bytes. Arguments are those of `render`.

    Raises
    ------
    UsageError, Refused, HostError
        As by `place`, or the file cannot be written.
    """
    with place(path) as file:
        html = render(runs, edition).encode("utf-8")
        file.replace(html)
    return len(html)


def write_text(html: str, path: Path) -> int:
    """Write an assembled page, as `write` does; return its size in bytes."""
    with place(path) as file:
        content = html.encode("utf-8")
        file.replace(content)
    return len(content)


def place(path: Path) -> OutputFile:
    """Reserve the file name of a page; only an older page by ssdlab may be replaced.

    Raises
    ------
    UsageError, Refused
        See `OutputFile`.
    """
    return OutputFile(path, ours=is_page, noun="page")


def is_page(head: bytes) -> bool:
    return head.lstrip().lower().startswith(b"<!doctype html>") and _GENERATOR in head
