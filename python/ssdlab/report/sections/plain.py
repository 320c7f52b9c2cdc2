"""The section of a kind of Result that brings none: its findings and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lab.outcome import shown_by
from ssdlab.report.together import joined, lead
from ssdlab.report.view import Exhibit, Section
from ssdlab.results.kind import loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.cells import Table


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of all runs of one method."""
    method = runs[0].run.manifest.method
    kind = shown_by(runs[0].run.result, method.name)
    found: dict[tuple[str, tuple[str, ...]], list[tuple[Shown, Table]]] = {}
    for shown in runs:
        for table in loaded(kind.tables)(shown.run.result):
            found.setdefault((table.caption, table.head), []).append((shown, table))
    return Section(
        id=method.name,
        title=method.title,
        lead=tuple(lead(shown, loaded(kind.findings)(shown.run.result)) for shown in runs),
        runs=tuple(shown.index for shown in runs),
        figures=(),
        exhibits=(Exhibit("In figures", "What the method reports.", tuple(map(joined, found.values()))),),
    )
