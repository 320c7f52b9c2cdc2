"""Random and sequential I/O, with one I/O in flight."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import POWER, Declared, RatedAs, ResultKind, figure_names

QD1: ResultKind[Any] = ResultKind(
    "qd1",
    f"{__name__}.result:Qd1Result",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "qd1",
        "procedure",
        True,
        "Latency and throughput with one I/O at a time, so without queueing.",
        (
            *figure_names("qd1_random_read", "iops", "mean_ns", *POWER),
            *figure_names("qd1_random_write", "iops", "mean_ns", *POWER),
            *figure_names("qd1_sequential_read", "mb_s", "mean_ns", *POWER),
            *figure_names("qd1_sequential_write", "mb_s", "mean_ns", *POWER),
        ),
        rated={
            "qd1_random_read_mean_ns": (RatedAs("depth_1_read_us", 1e-3),),
            "qd1_random_write_mean_ns": (RatedAs("depth_1_write_us", 1e-3, "steady"),),
        },
        top=(1, "qd1_random_read_iops"),
    ),
)
KINDS = (QD1,)
ORDER = 1
