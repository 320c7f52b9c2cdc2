"""Every kind of Result of ssdlab itself, in the order of the page, and where those of others are found.

A method names its kind (`Method.result`). A stored result says its own, and the run its method: of a kind
that is none of ours the method's package is asked. Places are texts: reading one kind loads no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.model.errors import LabError
from ssdlab.results.kind import ResultKind

if TYPE_CHECKING:
    from ssdlab.results.schema import ResultBase

    Kind = ResultKind[Any]

_MODELS = "ssdlab.methods.results."
_SCHEMA = "ssdlab.results.schema:"
_CLI = "ssdlab.cli."
_PAGE = "ssdlab.report.sections."

QD1: Kind = ResultKind(
    "qd1",
    f"{_SCHEMA}Qd1Result",
    section=f"{_PAGE}qd1:section",
    headlines=f"{_PAGE}headlines:of_qd1",
    terminal=f"{_CLI}showing_points:print_qd1",
)
PEAK: Kind = ResultKind(
    "peak",
    f"{_SCHEMA}PeakResult",
    section=f"{_PAGE}sweep:section",
    headlines=f"{_PAGE}headlines:of_peak",
    terminal=f"{_CLI}showing_points:print_peak",
)
MIXED: Kind = ResultKind(
    "mixed",
    f"{_MODELS}mixed:MixedResult",
    section=f"{_PAGE}mixed:section",
    terminal=f"{_CLI}showing_points:print_mixed",
)
CONSISTENCY: Kind = ResultKind(
    "consistency",
    f"{_MODELS}consistency:ConsistencyResult",
    section=f"{_PAGE}consistency:section",
    terminal=f"{_CLI}showing_client:print_consistency",
)
FILL: Kind = ResultKind(
    "fill",
    f"{_MODELS}fill:FillResult",
    section=f"{_PAGE}fill:section",
    terminal=f"{_CLI}showing_client:print_fill",
)
TRIM: Kind = ResultKind(
    "trim",
    f"{_MODELS}trim:TrimResult",
    section=f"{_PAGE}trim:section",
    headlines=f"{_PAGE}headlines:of_trim",
    terminal=f"{_CLI}showing_client:print_trim",
)
PACED_BURST: Kind = ResultKind(
    "paced-burst",
    f"{_MODELS}paced:PacedBurstResult",
    section=f"{_PAGE}paced_burst:section",
    terminal=f"{_CLI}showing_client:print_paced",
)
RATE_LIMIT: Kind = ResultKind(
    "rate-limit",
    f"{_MODELS}rate_limit:RateLimitResult",
    section=f"{_PAGE}rate_limit:section",
    terminal=f"{_CLI}showing_points:print_rates",
)
PTS: Kind = ResultKind(
    "pts",
    f"{_MODELS}pts:PtsResult",
    section=f"{_PAGE}pts:section",
    terminal=f"{_CLI}showing_pts:print_pts",
)
PTS_DEMAND: Kind = ResultKind(
    "pts-demand",
    f"{_MODELS}pts:DemandResult",
    section=f"{_PAGE}pts_demand:section",
    terminal=f"{_CLI}showing_pts:print_demand",
)
PTS_SATURATION: Kind = ResultKind(
    "pts-saturation",
    f"{_MODELS}pts:PtsSaturationResult",
    section=f"{_PAGE}pts_saturation:section",
    terminal=f"{_CLI}showing_pts:print_saturation",
)
PTS_IDLE_RECOVERY: Kind = ResultKind(
    "pts-idle-recovery",
    f"{_MODELS}pts:PtsIdleRecoveryResult",
    section=f"{_PAGE}pts_recovery:idle_section",
    terminal=f"{_CLI}showing_pts:print_idle_recovery",
)
PTS_CROSS_STIMULUS: Kind = ResultKind(
    "pts-cross-stimulus",
    f"{_MODELS}pts:PtsCrossStimulusResult",
    section=f"{_PAGE}pts_recovery:cross_section",
    terminal=f"{_CLI}showing_pts:print_cross_stimulus",
)
ACT: Kind = ResultKind(
    "act", f"{_MODELS}act:ActResult", section=f"{_PAGE}act:section", terminal=f"{_CLI}act:print_act"
)
ACT_SEARCH: Kind = ResultKind(
    "act-search",
    f"{_MODELS}act:ActSearchResult",
    section=f"{_PAGE}act:search_section",
    terminal=f"{_CLI}act:print_search",
)
TRACE: Kind = ResultKind(
    "trace",
    f"{_MODELS}replay:TraceResult",
    section=f"{_PAGE}trace:section",
    terminal=f"{_CLI}showing_trace:print_trace",
)
POINTS: Kind = ResultKind(
    "points",
    f"{_MODELS}points:PointsResult",
    section=f"{_PAGE}points:section",
    terminal=f"{_CLI}showing_points:print_measured",
)
MEASURE: Kind = ResultKind(
    "measure",
    f"{_SCHEMA}MeasureResult",
    section=f"{_PAGE}measure:measured",
    headlines=f"{_PAGE}headlines:of_measure",
    terminal=f"{_CLI}figures:print_result",
)
JOB: Kind = ResultKind(
    "job",
    f"{_SCHEMA}JobResult",
    section=f"{_PAGE}job:section",
    headlines=None,
    terminal=f"{_CLI}showing_points:print_measured",
)
SUITE: Kind = ResultKind("suite", f"{_MODELS}suite:SuiteResult", headlines=None)
"""Shown by its runs, in the terminal and on the page."""
UNKNOWN: Kind = ResultKind(
    "unknown",
    f"{_MODELS}outcome:UnknownResult",
    section=f"{_PAGE}unknown:section",
    terminal=f"{_CLI}showing_points:print_unknown",
)
"""Of a kind that nobody here knows: of a method whose package is not installed."""

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        *(QD1, PEAK, MIXED, CONSISTENCY, FILL, TRIM, PACED_BURST, RATE_LIMIT),
        *(PTS, PTS_DEMAND, PTS_SATURATION, PTS_IDLE_RECOVERY, PTS_CROSS_STIMULUS),
        *(ACT, ACT_SEARCH, TRACE, POINTS, MEASURE, JOB, SUITE),
    )
}
"""By their names, in the order of the page."""


def kind_of(name: str, method: str = "") -> Kind:
    """Return a kind by its name: one of ours, or that of the named method of another package.

    `UNKNOWN` where nobody here has it: the package is not installed, or cannot be used.
    """
    from ssdlab.methods import find_method

    if name in KINDS or not method:
        return KINDS.get(name, UNKNOWN)
    try:
        found = find_method(method).result
    except LabError:
        return UNKNOWN
    return found if found is not None and found.name == name else UNKNOWN


def shown_by(result: ResultBase, method: str) -> Kind:
    """Return who shows a result that was read: what nobody could read is shown as unknown."""
    kind = kind_of(result.kind, method)
    return kind if isinstance(result, kind.loaded_model()) else UNKNOWN
