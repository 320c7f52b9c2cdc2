"""SNIA PTS: the section of a test, from what its runs found and its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ssdlab.methods.results.pts import PtsBase
from ssdlab.report.sections.pts_header import pages
from ssdlab.report.view import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.view import Exhibit, Figure

R = TypeVar("R", bound=PtsBase)


def of_kind(runs: Sequence[Shown], kind: type[R]) -> list[tuple[Shown, R]]:
    """Return the runs that have a result of that kind, with it."""
    return [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, kind)]


def section_of(
    kept: Sequence[tuple[Shown, R]],
    finding: Callable[[Shown, R], str],
    figures: Sequence[Figure],
    *,
    groups: Sequence[str] = (),
    exhibits: tuple[Exhibit, ...] = (),
) -> Section:
    """Return a test's section: each run's finding, the pages under the specification's header, the caveats.

    `groups`: the group of cells that each figure is about, where the test has several.
    """
    method = kept[0][0].run.manifest.method
    return Section(
        id=method.name,
        title=method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=pages(kept, figures, groups),
        exhibits=exhibits,
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )
