"""Sweeps over queue depth: peaks of reads, and steady state of writes."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import MAX_READ_W, MAX_WRITE_W, POWER, Declared, RatedAs, ResultKind, figure_names

_FIGURES = ("iops", "mb_s", "depth", "mean_ns", "p99_ns", "p99.99_ns", *POWER)

PEAK: ResultKind[Any] = ResultKind(
    "peak",
    f"{__name__}.result:PeakResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)

DECLARED = (
    Declared(
        "peak-random-read",
        "peak_random_read",
        False,
        "The highest 4 KiB random read rate, and the latency at that load.",
        figure_names("peak_random_read", *_FIGURES),
        rated={
            "peak_random_read_iops": (RatedAs("random_read_iops"),),
            "peak_random_read_w": (MAX_READ_W,),
        },
        top=(2, "peak_random_read_iops"),
    ),
    Declared(
        "peak-sequential-read",
        "peak_sequential_read",
        False,
        "The highest 128 KiB sequential read throughput, and how many readers it takes.",
        figure_names("peak_sequential_read", *_FIGURES),
        rated={
            "peak_sequential_read_mb_s": (RatedAs("sequential_read_mb_s"),),
            "peak_sequential_read_w": (RatedAs("active_read_w"), MAX_READ_W),
        },
        top=(7, "peak_sequential_read_mb_s"),
    ),
    Declared(
        "steady-random-write",
        "steady_random_write",
        True,
        "The 4 KiB random write rate that a full drive sustains for hours.",
        figure_names("steady_random_write", *_FIGURES),
        rated={
            "steady_random_write_iops": (RatedAs("random_write_iops", 1.0, "steady"),),
            "steady_random_write_w": (MAX_WRITE_W,),
        },
        top=(3, "steady_random_write_iops"),
    ),
    Declared(
        "steady-sequential-write",
        "steady_sequential_write",
        True,
        "The 128 KiB sequential write throughput that a full drive sustains for hours.",
        figure_names("steady_sequential_write", *_FIGURES),
        rated={
            "steady_sequential_write_mb_s": (RatedAs("sequential_write_mb_s", 1.0, "steady"),),
            "steady_sequential_write_w": (RatedAs("active_write_w", 1.0, "steady"), MAX_WRITE_W),
        },
        top=(8, "steady_sequential_write_mb_s"),
    ),
)
KINDS = (PEAK,)
ORDER = 2
