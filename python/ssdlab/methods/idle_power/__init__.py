"""Power at rest, and the time to wake up from it."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import Declared, RatedAs, ResultKind

IDLE_POWER: ResultKind[Any] = ResultKind(
    "idle-power",
    f"{__name__}.result:IdlePowerResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "idle-power",
        "procedure",
        False,
        "Idle power in each power state, and the time to wake up from it.",
        ("idle_w", "least_idle_w", "wake_up_us"),
        rated={"idle_w": (RatedAs("idle_w"),)},
    ),
)
KINDS = (IDLE_POWER,)
ORDER = 11
