"""IOPS second by second under random writes, with the stock spare area and with more."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import POWER, Declared, RatedAs, ResultKind, figure_names

CONSISTENCY: ResultKind[Any] = ResultKind(
    "consistency",
    f"{__name__}.result:ConsistencyResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "consistency",
        "procedure",
        True,
        "IOPS in every second of a long 4 KiB random write, with stock and with more spare area.",
        (
            *figure_names("consistency_stock", "iops", *POWER),
            *figure_names("consistency_spare_*", "iops", *POWER),
        ),
        rated={"consistency_stock_iops": (RatedAs("random_write_iops", 1.0, "steady"),)},
        top=(9, "consistency_stock_iops"),
    ),
)
KINDS = (CONSISTENCY,)
ORDER = 7
