"""SNIA's Solid State Storage Performance Test Specification."""

from __future__ import annotations

from typing import Any

from ssdlab.plugin import Declared, ResultKind

PTS: ResultKind[Any] = ResultKind(
    "pts",
    f"{__name__}.result:PtsResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.findings:findings",
    tables=f"{__name__}.findings:tables",
)

PTS_DEMAND: ResultKind[Any] = ResultKind(
    "pts-demand",
    f"{__name__}.result:DemandResult",
    section=f"{__name__}.demand_page:section",
    findings=f"{__name__}.demand_findings:findings",
    tables=f"{__name__}.demand_findings:tables",
)

PTS_SATURATION: ResultKind[Any] = ResultKind(
    "pts-saturation",
    f"{__name__}.result:PtsSaturationResult",
    section=f"{__name__}.saturation_page:section",
    findings=f"{__name__}.series_findings:saturation_findings",
    tables=f"{__name__}.series_findings:saturation_tables",
)

PTS_IDLE_RECOVERY: ResultKind[Any] = ResultKind(
    "pts-idle-recovery",
    f"{__name__}.result:PtsIdleRecoveryResult",
    section=f"{__name__}.recovery_page:idle_section",
    findings=f"{__name__}.series_findings:idle_findings",
    tables=f"{__name__}.series_findings:idle_tables",
)

PTS_CROSS_STIMULUS: ResultKind[Any] = ResultKind(
    "pts-cross-stimulus",
    f"{__name__}.result:PtsCrossStimulusResult",
    section=f"{__name__}.recovery_page:cross_section",
    findings=f"{__name__}.series_findings:cross_findings",
    tables=f"{__name__}.series_findings:cross_tables",
)

DECLARED = (
    Declared(
        "pts-iops",
        "iops",
        True,
        "SNIA's IOPS test: random I/O of eight block sizes and seven mixes, in rounds until steady.",
        ("pts_iops_*",),
    ),
    Declared(
        "pts-throughput",
        "throughput",
        True,
        "SNIA's throughput test: sequential I/O of 1024 and 128 KiB, in rounds until steady.",
        ("pts_throughput_*",),
    ),
    Declared(
        "pts-latency",
        "latency",
        True,
        "SNIA's latency test: one I/O at a time until steady, then a histogram of 20 minutes of writes.",
        ("pts_latency_*",),
    ),
    Declared(
        "latency-qd32",
        "latency_qd32",
        True,
        "Mean and maximum latency at 32 I/Os in flight, as a review reports it with SNIA's matrix.",
        ("pts_latency_*",),
    ),
    Declared(
        "pts-write-saturation",
        "write_saturation",
        True,
        "SNIA's write saturation test: random writes from the fresh drive until it is saturated.",
        ("pts_write_saturation_iops",),
    ),
    Declared(
        "pts-host-idle-recovery",
        "idle_recovery",
        True,
        "SNIA's host idle recovery test: how much faster writes are after the host was idle.",
        ("pts_idle_recovery_baseline_iops", "pts_idle_recovery_iops"),
    ),
    Declared(
        "pts-cross-stimulus-recovery",
        "cross_stimulus",
        True,
        "SNIA's cross stimulus recovery test: sequential, then random, then sequential writes again.",
        ("pts_cross_stimulus_mb_s",),
    ),
    Declared(
        "pts-composite",
        "composite",
        True,
        "SNIA's composite workload: twelve block sizes at once, mostly in a small part of the drive.",
        ("pts_composite_*",),
    ),
    Declared(
        "pts-demand-intensity",
        "demand_intensity",
        True,
        "SNIA's demand intensity test: IOPS and response time under rising demand.",
        ("pts_demand_intensity_*",),
    ),
)
KINDS = (PTS, PTS_DEMAND, PTS_SATURATION, PTS_IDLE_RECOVERY, PTS_CROSS_STIMULUS)
ORDER = 13
