"""Assembles the page: its head, the sections of its runs and its end, in one file that makes no request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ssdlab.host.documents import Document
from ssdlab.host.output_files import OutputFile
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.outcome import shown_by
from ssdlab.lab.suites.suite import absent_drives
from ssdlab.model.errors import UsageError
from ssdlab.model.units import counted
from ssdlab.report.charts import Page, plain
from ssdlab.report.engine import static
from ssdlab.report.heads import heads_of
from ssdlab.report.on_paper import FEW_RUNS, MAX_VIEWS_OF_MANY, on_paper, shortened, without_repetition
from ssdlab.report.outline import outline
from ssdlab.report.pictures import Stills, full_width, views
from ssdlab.report.runs import Shown, entries, shown
from ssdlab.report.sections import conclusion, drive, efficiency, specifications, suite
from ssdlab.report.sections.header import header
from ssdlab.report.sections.verdict import Median
from ssdlab.report.source import Comparison, Run, SuiteRun
from ssdlab.results.kind import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ssdlab.report.claims import UserClaim
    from ssdlab.report.outline import Outline
    from ssdlab.report.sections.claims import Judged
    from ssdlab.report.sections.header import Header
    from ssdlab.report.source import Reported
    from ssdlab.report.view import Section


# What a page has charts of: its runs with their looks, the section of each method, and that of the drives.
#
# A page waits longest for its pictures, and all of them are of these: each section is handed on as soon as it
# is there, to be drawn while the next is made and while `arranged` finds what leads to them.


@dataclass(frozen=True)
class Body:
    """The sections of a page that have charts."""

    placed: tuple[Shown, ...]
    methods: tuple[tuple[Section, tuple[Shown, ...]], ...]
    """The section of each method with its runs, in the order of the page."""
    drives: Section | None


def placed_of(runs: Sequence[Reported]) -> tuple[Shown, ...]:
    """Return the runs of a page with their looks; those of a suite or a comparison one by one.

    Raises
    ------
    UsageError
        When there is no run, or the same run twice.
    """
    single = single_runs(runs)
    if not single:
        raise UsageError("there is no run to report", "name one or more runs")
    ids = [run.manifest.run_id for run in single]
    if twice := next((run_id for run_id in ids if ids.count(run_id) > 1), None):
        raise UsageError(f"run {twice} is named twice", "name each run once", run=twice)
    return shown(single)


def single_runs(runs: Sequence[Reported]) -> list[Run]:
    """Return the runs of a page one by one, those of its suites among them."""
    return [run for each in runs for run in ((each,) if isinstance(each, Run) else each.runs)]


def body_of(placed: tuple[Shown, ...], found: Callable[[Section], object] = lambda _: None) -> Body:
    """Return the sections that have charts; `found` is told of each as soon as there is one."""
    methods = []
    for section, own in _of_methods(placed):
        found(section)
        methods.append((section, own))
    if drives := drive.section(placed):
        found(drives)
    return Body(placed, tuple(methods), drives)


def _of_methods(placed: Sequence[Shown]) -> Iterator[tuple[Section, tuple[Shown, ...]]]:
    """Yield one section for each method with its runs, in the order of the page."""
    for kind in dict.fromkeys([*KINDS, *(one.run.result.kind for one in placed)]):
        methods: dict[str, list[Shown]] = {}
        for one in placed:
            if one.run.result.kind == kind:
                methods.setdefault(one.run.manifest.method.name, []).append(one)
        for name, group in methods.items():
            yield loaded(shown_by(group[0].run.result, name).section)(group), tuple(group)


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
        [(_filled(section), own) for section, (_, own) in zip(measured, body.methods, strict=True)],
        [each for each in behind if each is not None],
        placed,
        review,
        claims,
        [
            Median(each, suite.manifest.drive.name if len(suites) > 1 else "")
            for suite in suites
            for each in suite.result.repeated
        ],
    )
    if suites and not any(isinstance(each, Run) for each in runs):
        titles = ", ".join(dict.fromkeys(each.manifest.method.title for each in suites))
        # What somebody declared has its own title; a suite of ours is named after the drive it was of.
        head = replace(head, title=titles, subtitle=head.title) if review else replace(head, subtitle=titles)
    return head, order


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
    """Return what a declaration says of the page, where all of it is of one review."""
    found = [one.manifest.review for one in runs]
    return found[0] if found and all(each == found[0] for each in found) else {}


def _suites(reported: Reported) -> tuple[SuiteRun, ...]:
    if isinstance(reported, Comparison):
        return reported.suites
    return (reported,) if isinstance(reported, SuiteRun) else ()


_CLOSED = re.compile(r"<details(?! open)(?! class=\"(?:steps?|points)\")( |>)")
"""What paper shows open: all but the workload of each step and the notices of each: hundreds of sheets."""
_GENERATOR = b'<meta name="generator" content="ssdlab">'


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
    placed = placed_of(runs)
    pictures = Stills(placed)
    body = body_of(placed) if printed else body_of(placed, pictures.begin)

    head, order = arranged(runs, body, claims)
    html = assembled(head, placed, order, pictures, complete=True, printed=printed)
    return _CLOSED.sub(r"<details open\1", html) if printed else html


def assembled(
    head: Header,
    placed: Sequence[Shown],
    order: Outline,
    pictures: Stills,
    *,
    complete: bool = False,
    printed: bool = False,
) -> str:
    """Put a page together: head and sections, if `complete` how each run was measured and all of the run."""
    from ssdlab.report.sections.provenance import of_all, panels
    from ssdlab.report.templating import template

    brief = printed and len(placed) > FEW_RUNS
    if printed:
        order = on_paper(order, len(placed))
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
    )
    script = _static("report.js")
    return template().render(
        head=head,
        order=order,
        stills=pictures,
        views=views(figures, styles, MAX_VIEWS_OF_MANY if brief else None) if printed else {},
        wide={each for section in sections for each in full_width(section.figures)},
        shared=shared,
        panels=shortened(without_repetition(prose)) if printed else prose,
        printed=printed,
        few_panels=FEW_RUNS,
        brief=brief,
        runs=placed,
        entries=entries(placed),
        footer=f"ssdlab. {counted(len(placed), 'run')}",
        policy=_policy(script),
        style=Markup(_static("report.css").replace("</", "<\\/")),
        script=Markup(script),
        data=_script_json(plain(data)),
        whole=[_script_json(_whole(one)) for one in placed] if complete and not printed else [],
    )


def contents(runs: Sequence[Reported]) -> tuple[tuple[Shown, ...], list[Section]]:
    """Return the runs of a page with their looks, and its sections; raises as `render` does."""
    placed = placed_of(runs)
    _, order = arranged(runs, body_of(placed))
    return placed, order.sections


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


def marked(runs: Sequence[Reported], claims: Sequence[UserClaim]) -> tuple[Judged, ...]:
    """Return what the figures of a page say of its claims, as it has them.

    Raises
    ------
    UsageError
        A claim is of a figure that no method has, or its bound of another unit.
    """
    from ssdlab.report.sections.claims import judged

    return judged(claims, shown(single_runs(runs)), {}) if claims else ()


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
