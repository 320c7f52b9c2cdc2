"""Mixed random reads and writes, over every share of reads."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import IOPS_OF_MB_S, POWER, Declared, RatedAs, ResultKind, figure_names

MIXED: ResultKind[Any] = ResultKind(
    "mixed",
    f"{__name__}.result:MixedResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "mixed-random",
        "procedure",
        True,
        "Mixed 4 KiB random reads and writes, from all reads to all writes.",
        figure_names("mixed_random_qd*", "mb_s", *POWER),
        rated={"mixed_random_qd32_mb_s": (RatedAs("mixed_70_30_iops", IOPS_OF_MB_S, "steady"),)},
        top=(4, "mixed_random_qd32_mb_s"),
    ),
)
KINDS = (MIXED,)
ORDER = 3
