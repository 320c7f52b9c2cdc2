"""The highest rate of arrivals within a latency bound."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import Declared, ResultKind

RATE_LIMIT: ResultKind[Any] = ResultKind(
    "rate-limit",
    f"{__name__}.result:RateLimitResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "rate-limit",
        "procedure",
        False,
        "The highest I/O rate before tail latency exceeds a limit.",
        ("rate_under_*_ms_*",),
    ),
)
KINDS = (RATE_LIMIT,)
ORDER = 10
