"""Reads during writes, at several rates of each."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import POWER, Declared, ResultKind, figure_names

READ_UNDER_WRITES: ResultKind[Any] = ResultKind(
    "read-under-writes",
    f"{__name__}.result:ReadUnderWritesResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "read-under-writes",
        "procedure",
        True,
        "Read latency while the drive is being written, over read rate and write rate.",
        figure_names("read_under_writes", "mean_ns", "p99_ns", "p99_times", *POWER),
    ),
)
KINDS = (READ_UNDER_WRITES,)
ORDER = 4
