"""Every kind of Result of ssdlab itself, in the order of the page.

A method names its kind (`Method.result`). Places are texts: reading one kind loads no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.results.kind import ResultKind

if TYPE_CHECKING:
    from ssdlab.methods.results.suite import SuiteResult

Kind = ResultKind[Any]

_MODELS = "ssdlab.methods.results."
_SCHEMA = "ssdlab.results.schema:"
_SAYS = "ssdlab.methods.presented."
_PAGE = "ssdlab.report.sections."

QD1: Kind = ResultKind(
    "qd1",
    f"{_SCHEMA}Qd1Result",
    section=f"{_PAGE}qd1:section",
    findings=f"{_SAYS}points:qd1_findings",
    tables=f"{_SAYS}points:qd1_tables",
)
PEAK: Kind = ResultKind(
    "peak",
    f"{_SCHEMA}PeakResult",
    section=f"{_PAGE}sweep:section",
    findings=f"{_SAYS}points:peak_findings",
    tables=f"{_SAYS}points:peak_tables",
)
MIXED: Kind = ResultKind(
    "mixed",
    f"{_MODELS}mixed:MixedResult",
    section=f"{_PAGE}mixed:section",
    findings=f"{_SAYS}mixed:findings",
    tables=f"{_SAYS}mixed:tables",
)
READ_UNDER_WRITES: Kind = ResultKind(
    "read-under-writes",
    f"{_MODELS}read_under_writes:ReadUnderWritesResult",
    section=f"{_PAGE}read_under_writes:section",
    findings=f"{_SAYS}read_under_writes:findings",
    tables=f"{_SAYS}read_under_writes:tables",
)
CONSISTENCY: Kind = ResultKind(
    "consistency",
    f"{_MODELS}consistency:ConsistencyResult",
    section=f"{_PAGE}consistency:section",
    findings=f"{_SAYS}consistency:findings",
    tables=f"{_SAYS}consistency:tables",
)
FILL: Kind = ResultKind(
    "fill",
    f"{_MODELS}fill:FillResult",
    section=f"{_PAGE}fill:section",
    findings=f"{_SAYS}fill:findings",
    tables=f"{_SAYS}fill:tables",
)
TRIM: Kind = ResultKind(
    "trim",
    f"{_MODELS}trim:TrimResult",
    section=f"{_PAGE}trim:section",
    findings=f"{_SAYS}trim:findings",
    tables=f"{_SAYS}trim:tables",
)
PACED_BURST: Kind = ResultKind(
    "paced-burst",
    f"{_MODELS}paced:PacedBurstResult",
    section=f"{_PAGE}paced_burst:section",
    findings=f"{_SAYS}paced:findings",
    tables=f"{_SAYS}paced:tables",
)
RATE_LIMIT: Kind = ResultKind(
    "rate-limit",
    f"{_MODELS}rate_limit:RateLimitResult",
    section=f"{_PAGE}rate_limit:section",
    findings=f"{_SAYS}rate_limit:findings",
    tables=f"{_SAYS}rate_limit:tables",
)
IDLE_POWER: Kind = ResultKind(
    "idle-power",
    f"{_MODELS}idle_power:IdlePowerResult",
    section=f"{_PAGE}idle_power:section",
    findings=f"{_SAYS}idle_power:findings",
    tables=f"{_SAYS}idle_power:tables",
)
ENERGY_JOB: Kind = ResultKind(
    "energy-job",
    f"{_MODELS}energy_job:EnergyJobResult",
    findings=f"{_SAYS}energy_job:findings",
    tables=f"{_SAYS}energy_job:tables",
)
PTS: Kind = ResultKind(
    "pts",
    f"{_MODELS}pts:PtsResult",
    section=f"{_PAGE}pts:section",
    findings=f"{_SAYS}pts:findings",
    tables=f"{_SAYS}pts:tables",
)
PTS_DEMAND: Kind = ResultKind(
    "pts-demand",
    f"{_MODELS}pts:DemandResult",
    section=f"{_PAGE}pts_demand:section",
    findings=f"{_SAYS}pts_demand:findings",
    tables=f"{_SAYS}pts_demand:tables",
)
PTS_SATURATION: Kind = ResultKind(
    "pts-saturation",
    f"{_MODELS}pts:PtsSaturationResult",
    section=f"{_PAGE}pts_saturation:section",
    findings=f"{_SAYS}pts_series:saturation_findings",
    tables=f"{_SAYS}pts_series:saturation_tables",
)
PTS_IDLE_RECOVERY: Kind = ResultKind(
    "pts-idle-recovery",
    f"{_MODELS}pts:PtsIdleRecoveryResult",
    section=f"{_PAGE}pts_recovery:idle_section",
    findings=f"{_SAYS}pts_series:idle_findings",
    tables=f"{_SAYS}pts_series:idle_tables",
)
PTS_CROSS_STIMULUS: Kind = ResultKind(
    "pts-cross-stimulus",
    f"{_MODELS}pts:PtsCrossStimulusResult",
    section=f"{_PAGE}pts_recovery:cross_section",
    findings=f"{_SAYS}pts_series:cross_findings",
    tables=f"{_SAYS}pts_series:cross_tables",
)
ACT: Kind = ResultKind(
    "act",
    f"{_MODELS}act:ActResult",
    section=f"{_PAGE}act:section",
    findings=f"{_SAYS}act:findings",
    tables=f"{_SAYS}act:tables",
)
ACT_SEARCH: Kind = ResultKind(
    "act-search",
    f"{_MODELS}act:ActSearchResult",
    section=f"{_PAGE}act:search_section",
    findings=f"{_SAYS}act:search_findings",
    tables=f"{_SAYS}act:search_tables",
)
TRACE: Kind = ResultKind(
    "trace",
    f"{_MODELS}replay:TraceResult",
    section=f"{_PAGE}trace:section",
    findings=f"{_SAYS}trace:findings",
    tables=f"{_SAYS}trace:tables",
)
POINTS: Kind = ResultKind(
    "points",
    f"{_MODELS}points:PointsResult",
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
SUITE: ResultKind[SuiteResult] = ResultKind("suite", f"{_MODELS}suite:SuiteResult")
"""Shown by its runs, in the terminal and on the page."""
UNKNOWN: Kind = ResultKind(
    "unknown",
    f"{_MODELS}outcome:UnknownResult",
    findings=f"{_SAYS}points:unknown_findings",
)
"""Of a kind that nobody here knows: of a method whose package is not installed."""

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        *(QD1, PEAK, MIXED, READ_UNDER_WRITES, CONSISTENCY, FILL, TRIM, PACED_BURST, RATE_LIMIT),
        *(IDLE_POWER, ENERGY_JOB),
        *(PTS, PTS_DEMAND, PTS_SATURATION, PTS_IDLE_RECOVERY, PTS_CROSS_STIMULUS),
        *(ACT, ACT_SEARCH, TRACE, POINTS, MEASURE, JOB, SUITE),
    )
}
"""By their names, in the order of the page."""
