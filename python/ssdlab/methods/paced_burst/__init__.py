"""Bursts of writes during large reads, and the highest sustained rate of writes."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import POWER, Declared, ResultKind, figure_names

PACED_BURST: ResultKind[Any] = ResultKind(
    "paced-burst",
    f"{__name__}.result:PacedBurstResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.findings:findings",
    tables=f"{__name__}.findings:tables",
)

DECLARED = (
    Declared(
        "paced-burst",
        "procedure",
        True,
        "Write bursts during large reads, as on a desktop.",
        figure_names(
            "paced",
            "load_s",
            "load_service_s",
            "read_mb_s",
            "write_mb_s",
            "safe_mb_s",
            "safe_beyond_mb_s",
            *POWER,
        ),
        top=(6, "paced_load_s"),
    ),
)
KINDS = (PACED_BURST,)
ORDER = 9
