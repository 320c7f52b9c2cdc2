"""Assembles the page: sections into one self-contained HTML file that makes no request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ssdlab.host.output_files import OutputFile
from ssdlab.methods.results.kinds import KINDS
from ssdlab.methods.results.outcome import shown_by
from ssdlab.methods.suites.absent import absent_drives
from ssdlab.model.document import Document
from ssdlab.model.errors import UsageError
from ssdlab.report.abreast import full_width
from ssdlab.report.charts import Page, plain
from ssdlab.report.engine import static
from ssdlab.report.heads import heads_of
from ssdlab.report.outline import outline
from ssdlab.report.pictures import stills, views
from ssdlab.report.runs import Shown, entries, shown
from ssdlab.report.sections import conclusion, drive, efficiency, specifications, suite
from ssdlab.report.sections.header import header
from ssdlab.report.sections.repetition import without_repetition
from ssdlab.report.source import Comparison, Run, SuiteRun
from ssdlab.results.kind import loaded

_CLOSED = re.compile(r"<details(?! open)(?! class=\"(?:steps?|points)\")( |>)")
"""What paper shows open: all but the workload of each step and the notices of each: hundreds of sheets."""
_FEW_PANELS = 4
"""So many runs have open what was done in them; of more each is opened by its heading."""
_NAMED_RUNS = 24
"""So many runs are named at the foot of a page; of more only their count."""
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


def render(runs: Sequence[Reported], claims: Sequence[UserClaim] = (), *, printed: bool = False) -> str:
    """Return the page of these finished runs as HTML; a suite or a comparison stands for all its runs.

    Parameters
    ----------
    runs
        What it is of.
    claims
        Sentences of the user's, each to be marked true, false or not measured.
    printed
        For paper: all but the workload of each step is open, every view of a chart stands in it, and nothing
        runs.

    Raises
    ------
    UsageError
        When there is no run, or the same run twice.
    HostError
        When the front end was not built.
    """
    placed, head, order = arranged(runs, claims)
    html = assembled(head, placed, order, complete=True, printed=printed)
    return _CLOSED.sub(r"<details open\1", html) if printed else html


def assembled(
    head: Header,
    placed: Sequence[Shown],
    order: Outline,
    *,
    complete: bool = False,
    printed: bool = False,
) -> str:
    """Put a page together: head and sections, if `complete` how each run was measured and all of the run."""
    sections = [section for chapter in order.chapters for section in chapter.sections]
    figures = [figure for section in sections for figure in section.figures]
    footer = (
        "; ".join(
            f"{one.label}: run {one.run.manifest.run_id}, {one.run.manifest.created[:10]}" for one in placed
        )
        if len(placed) <= _NAMED_RUNS
        else f"{len(placed)} runs"
    )
    heads = heads_of(sections, placed)
    styles = tuple(one.style for one in placed)
    pictures: Mapping[str, Markup] = {} if printed else stills(figures, heads, styles)
    # While they are drawn:
    from ssdlab.report.sections.provenance import panels
    from ssdlab.report.templating import template

    prose = panels(placed) if complete else ()
    data = Page(
        head.title,
        styles,
        heads,
        {figure.id: figure.chart for figure in figures},
    )
    script = _static("report.js")
    return template().render(
        head=head,
        order=order,
        stills=pictures,
        views=views(figures, styles) if printed else {},
        wide={each for section in sections for each in full_width(section.figures)},
        panels=without_repetition(prose) if printed else prose,
        printed=printed,
        few_panels=_FEW_PANELS,
        runs=placed,
        entries=entries(placed),
        footer=f"ssdlab. {footer}",
        policy=_policy(script),
        style=Markup(_static("report.css").replace("</", "<\\/")),
        script=Markup(script),
        data=_script_json(plain(data)),
        whole=[_script_json(_whole(one)) for one in placed] if complete and not printed else [],
    )


def _review(runs: Sequence[Reported]) -> Document:
    """Return what a declaration says of the page, where all of it is of one review."""
    found = [one.manifest.review for one in runs]
    return found[0] if found and all(each == found[0] for each in found) else {}


def contents(runs: Sequence[Reported]) -> tuple[tuple[Shown, ...], list[Section]]:
    """Return the runs of a page with their looks, and its sections; raises as `render` does."""
    placed, _, order = arranged(runs)
    return placed, [section for chapter in order.chapters for section in chapter.sections]


def arranged(
    runs: Sequence[Reported], claims: Sequence[UserClaim] = ()
) -> tuple[tuple[Shown, ...], Header, Outline]:
    """Return the runs of a page with their looks, its head, and what stands where; raises as `render`."""
    suites = [suite for each in runs for suite in _suites(each)]
    single = _single(runs)
    _check(single)
    placed = shown(single)
    head = header(placed)
    review = _review(runs)
    found = _sections(placed)
    measured = efficiency.not_metered([section for section, _ in found], placed)
    behind = (
        drive.section(placed),
        conclusion.section(placed),
        specifications.section(
            placed,
            review.get("drives", ()),
            absent_drives(review, [one.manifest.drive.text for one in single]),
        ),
        suite.section(suites),
    )
    order = outline(
        head.cards,
        [(section, own) for section, (_, own) in zip(measured, found, strict=True)],
        [each for each in behind if each is not None],
        placed,
        review,
        claims,
    )
    if suites and not any(isinstance(each, Run) for each in runs):
        titles = ", ".join(dict.fromkeys(each.manifest.method.title for each in suites))
        # What somebody declared has its own title; a suite of ours is named after the drive it was of.
        head = replace(head, title=titles, subtitle=head.title) if review else replace(head, subtitle=titles)
    return placed, head, order


def _suites(reported: Reported) -> tuple[SuiteRun, ...]:
    if isinstance(reported, Comparison):
        return reported.suites
    return (reported,) if isinstance(reported, SuiteRun) else ()


def _check(runs: Sequence[Run]) -> None:
    if not runs:
        raise UsageError("there is no run to report", "name one or more runs")
    ids = [run.manifest.run_id for run in runs]
    if twice := next((run_id for run_id in ids if ids.count(run_id) > 1), None):
        raise UsageError(f"run {twice} is named twice", "name each run once", run=twice)


def _sections(placed: Sequence[Shown]) -> list[tuple[Section, list[Shown]]]:
    """One section for each method with its runs, in the order of the page."""
    sections: list[tuple[Section, list[Shown]]] = []
    for kind in dict.fromkeys([*KINDS, *(one.run.result.kind for one in placed)]):
        methods: dict[str, list[Shown]] = {}
        for one in placed:
            if one.run.result.kind == kind:
                methods.setdefault(one.run.manifest.method.name, []).append(one)
        sections += [
            (loaded(shown_by(group[0].run.result, name).section)(group), group)
            for name, group in methods.items()
        ]
    return sections


def _static(name: str) -> str:
    """Return a file of the front end, its `</script` escaped: it would end the script element early."""
    return static(name).replace("</script", "<\\/script")


def _policy(script: str) -> str:
    """Return a policy under which nothing is fetched and only our own script runs, whatever slips in."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    parts = (
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(parts)


def _script_json(data: Any) -> Markup:  # noqa: ANN401 - whatever JSON holds
    """JSON inside a script element: `<` is written as an escape, so that no text can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def _whole(one: Shown) -> Document:
    """Return the whole run as it is offered for download: the manifest with its Result."""
    return one.run.manifest.model_dump(mode="json", by_alias=True)


def _single(runs: Sequence[Reported]) -> list[Run]:
    """Return the runs of a page one by one, those of its suites among them."""
    return [run for each in runs for run in ((each,) if isinstance(each, Run) else each.runs)]


def marked(runs: Sequence[Reported], claims: Sequence[UserClaim]) -> tuple[Judged, ...]:
    """Return what the figures of a page say of its claims, as it has them.

    Raises
    ------
    UsageError
        A claim is of a figure that no method has, or its bound of another unit.
    """
    from ssdlab.report.sections.claims import judged

    return judged(claims, shown(_single(runs)), {}) if claims else ()


def write(runs: Sequence[Reported], path: Path, claims: Sequence[UserClaim] = ()) -> int:
    """Write the page to `path` in one piece, and return its size in bytes; arguments are those of `render`.

    Raises
    ------
    UsageError, Refused, HostError
        See `place`; or the file cannot be written.
    """
    with place(path) as file:
        html = render(runs, claims).encode("utf-8")
        file.replace(html)
    return len(html)


def write_text(html: str, path: Path) -> int:
    """Write a page that was put together, as `write` does."""
    with place(path) as file:
        content = html.encode("utf-8")
        file.replace(content)
    return len(content)


def place(path: Path) -> OutputFile:
    """Hold the name that a page is to have, where nothing is yet or an older page of ours.

    Raises
    ------
    UsageError, Refused
        See `OutputFile`.
    """
    return OutputFile(path, ours=is_page, noun="page")


def is_page(head: bytes) -> bool:
    """Say by the beginning of a file whether it is a page of ours."""
    return head.lstrip().lower().startswith(b"<!doctype html>") and _GENERATOR in head
