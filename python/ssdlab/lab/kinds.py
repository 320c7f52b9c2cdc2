"""Every kind of Result of ssdlab itself, in the order of the page; those that are no method's are here.

A method names its kind (`Method.result`). Places are texts: reading one kind loads no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.lab import folders
from ssdlab.results.kind import ResultKind

if TYPE_CHECKING:
    from ssdlab.lab.suite_result import SuiteResult

Kind = ResultKind[Any]

_SCHEMA = "ssdlab.results.schema:"
_SAYS = "ssdlab.lab.presented."
_PAGE = "ssdlab.report.sections."

POINTS: Kind = ResultKind(
    "points",
    "ssdlab.lab.points_result:PointsResult",
    section=f"{_PAGE}points:section",
    findings=f"{_SAYS}points:points_findings",
    tables=f"{_SAYS}points:points_tables",
)
MEASURE: Kind = ResultKind(
    "measure",
    f"{_SCHEMA}MeasureResult",
    section=f"{_PAGE}measure:measured",
    terminal="ssdlab.cli.figures:print_result",
)
JOB: Kind = ResultKind(
    "job",
    f"{_SCHEMA}JobResult",
    section=f"{_PAGE}job:section",
    findings=f"{_SAYS}points:job_findings",
    tables=f"{_SAYS}points:points_tables",
)
SUITE: ResultKind[SuiteResult] = ResultKind("suite", "ssdlab.lab.suite_result:SuiteResult")
"""Shown by its runs, in the terminal and on the page."""
UNKNOWN: Kind = ResultKind(
    "unknown",
    "ssdlab.lab.outcome:UnknownResult",
    findings=f"{_SAYS}points:unknown_findings",
)
"""Of a kind that nobody here knows: of a method whose package is not installed."""

KINDS: dict[str, Kind] = {kind.name: kind for kind in (*folders.KINDS, POINTS, MEASURE, JOB, SUITE)}
"""By their names, in the order of the page."""
