"""The replay of a recorded workload."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import Declared, ResultKind, figure_names

TRACE: ResultKind[Any] = ResultKind(
    "trace",
    f"{__name__}.result:TraceResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "trace",
        "procedure",
        True,
        "A recorded workload, replayed as timed, faster, or as fast as possible.",
        figure_names("trace", "mb_s", "service_ns", "read_p99_ns", "write_p99_ns", "energy_j"),
    ),
)
KINDS = (TRACE,)
ORDER = 15
