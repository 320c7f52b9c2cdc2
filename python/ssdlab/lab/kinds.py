"""All kinds of result, in the order of the page, and the models of points and suites.

A method names its kind in `Method.result`. A kind names its functions as text, so that reading one kind does
not import the others.
"""

from __future__ import annotations

from operator import not_
from typing import Any, Literal

from pydantic import Field

from ssdlab.lab import folders
from ssdlab.model.frozen import Stored, absent
from ssdlab.results.drive_states import StateCheck
from ssdlab.results.kind import ResultKind
from ssdlab.results.metric import Load, Qualifier, united
from ssdlab.results.schema import Point, ResultBase


class PointsResult(ResultBase):
    """Measured points and their figures, for methods without a kind of result of their own."""

    kind: Literal["points"] = "points"
    points: tuple[Point, ...]
    checks: tuple[StateCheck, ...] = Field(
        default=(), description="whether the drive's state held while depths were swept"
    )


class ChildOutcome(Stored):
    """The outcome of one part of a suite."""

    part: str
    run_id: str
    method: str
    title: str
    state: str = Field(description="drive state at its start")
    prepared_by: str | None = Field(default=None, description="run that prepared this state, if forked")
    left_out: str | None = Field(default=None, description="why it has no run")
    verdict: bool | None = Field(default=None, description="whether it passed; None: no verdict")


class RepeatedFigure(Stored):
    """One headline figure over several runs of a part."""

    part: str
    name: str
    label: str
    unit: str
    better: Literal["higher", "lower"]
    values: tuple[float, ...] = Field(description="values of the runs that have it, in order")
    median: float | None = Field(description="null: fewer than two runs have it, or they are `apart`")
    low: float | None = Field(description="lower end of the median's confidence interval")
    high: float | None
    confidence: float | None = Field(
        description="confidence level of that interval, 0 to 1: at least 0.95 from six runs; null: no "
        "interval"
    )
    bound: Literal["at least"] | None = Field(
        default=None, exclude_if=absent, description="bound of the median, where a run has only a bound"
    )
    load: Load | None = Field(
        default=None, exclude_if=absent, description="load that all runs chose; absent: none did"
    )
    apart: str = Field(
        default="", exclude_if=not_, description="why its runs are not comparable; it then has no median"
    )
    qualified: dict[str, int] = Field(
        default={}, description="number of runs with each qualifier, by code, withheld or not"
    )
    withheld: int = Field(default=0, exclude_if=not_, description="runs without a value")

    @property
    def runs(self) -> int:
        """Number of runs, including those without a value."""
        return len(self.values) + self.withheld

    @property
    def state(self) -> str:
        """Text: why the runs are not comparable, and their qualifiers.

        The number of runs follows a qualifier that not all runs have.
        """
        runs = self.runs
        counts = [
            (each.label, self.qualified[each.code])
            for each in united(Qualifier(code=code) for code in self.qualified)
        ]
        labels = (label if count == runs else f"{label} in {count} of {runs} runs" for label, count in counts)
        return ", ".join(filter(None, (self.apart, *labels)))


class SuiteResult(ResultBase):
    """The runs of a suite with their results; for repeated parts, the combined figures."""

    kind: Literal["suite"] = "suite"
    outcomes: tuple[ChildOutcome, ...]
    repeats: int = 1
    repeated: tuple[RepeatedFigure, ...] = Field(default=(), description="empty unless parts were repeated")

    @property
    def passed(self) -> bool | None:
        """Whether every part with a verdict passed; None if no part has a verdict."""
        verdicts = [each.verdict for each in self.outcomes if each.verdict is not None]
        return all(verdicts) if verdicts else None


Kind = ResultKind[Any]

_SCHEMA = "ssdlab.results.schema:"
_SAYS = "ssdlab.lab.presented."
_PAGE = "ssdlab.report.sections."

POINTS: Kind = ResultKind(
    "points",
    "ssdlab.lab.kinds:PointsResult",
    section=f"{_PAGE}points:section",
    findings=f"{_SAYS}points:points_findings",
    tables=f"{_SAYS}points:points_tables",
)
"""The kind of `PointsResult`."""
MEASURE: Kind = ResultKind(
    "measure",
    f"{_SCHEMA}MeasureResult",
    section=f"{_PAGE}points:measured",
    terminal="ssdlab.cli.measure:print_result",
)
JOB: Kind = ResultKind(
    "job",
    f"{_SCHEMA}JobResult",
    section=f"{_PAGE}points:job_section",
    findings=f"{_SAYS}points:job_findings",
    tables=f"{_SAYS}points:points_tables",
)
IMPORTED: Kind = ResultKind(
    "imported",
    "ssdlab.lab.imported:ImportedResult",
    section=f"{_PAGE}imported:section",
    findings="ssdlab.lab.imported:findings",
    tables="ssdlab.lab.imported:tables",
)
SUITE: ResultKind[SuiteResult] = ResultKind("suite", "ssdlab.lab.kinds:SuiteResult")
"""The kind of a suite; pages and tables show its runs instead."""
UNKNOWN: Kind = ResultKind(
    "unknown",
    "ssdlab.lab.outcome:UnknownResult",
    findings=f"{_SAYS}points:unknown_findings",
)
"""Stands in for a kind that is unknown here, as when the method's package is not installed."""

KINDS: dict[str, Kind] = {kind.name: kind for kind in (*folders.KINDS, POINTS, MEASURE, JOB, IMPORTED, SUITE)}
"""Kinds by name, in the order of the page."""
