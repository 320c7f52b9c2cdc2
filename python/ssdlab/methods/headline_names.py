"""Names of the headline figures that each method can have, so that a word which none has is refused early.

A star stands for what parameters say, such as a depth. Efficiency and power are had with a meter alone.
Methods of other packages are not in the table: what they name is not known before they ran.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_POWER = ("kiops_per_w", "mb_s_per_w", "w")
_SWEEP = ("iops", "mb_s", "depth", "mean_ns", "p99_ns", "p99.99_ns", *_POWER)


def _of(name: str, *figures: str) -> tuple[str, ...]:
    return tuple(f"{name}_{figure}" for figure in figures)


_QD1 = (
    *(
        name
        for direction in ("read", "write")
        for name in _of(f"qd1_random_{direction}", "iops", "mean_ns", *_POWER)
    ),
    *(
        name
        for direction in ("read", "write")
        for name in _of(f"qd1_sequential_{direction}", "mb_s", "mean_ns", *_POWER)
    ),
)
_LOW_DEPTHS = tuple(
    name
    for order in ("random", "sequential")
    for direction in ("read", "write")
    for name in _of(f"low_depths_{order}_{direction}", "mb_s", *_POWER)
)
_PACED = ("load_s", "load_service_s", "read_mb_s", "write_mb_s", "safe_mb_s", "safe_beyond_mb_s", *_POWER)
_JOBS = ("steady_random_writes", "steady_sequential_writes", "fill", "reads", "trace")
_ACT_SCORE = ("act_score", *_of("act_score", "by_rule", "per_w", "w"))

NAMES: dict[str, tuple[str, ...]] = {
    "qd1": _QD1,
    "peak-random-read": _of("peak_random_read", *_SWEEP),
    "peak-sequential-read": _of("peak_sequential_read", *_SWEEP),
    "steady-random-write": _of("steady_random_write", *_SWEEP),
    "steady-sequential-write": _of("steady_sequential_write", *_SWEEP),
    "mixed-random": _of("mixed_random_qd*", "mb_s", *_POWER),
    "read-under-writes": _of("read_under_writes", "mean_ns", "p99_ns", "p99_times", *_POWER),
    "low-depths": _LOW_DEPTHS,
    "whole-drive-fill": _of("fill", "mb_s", *_POWER),
    "consistency": (
        *_of("consistency_stock", "iops", *_POWER),
        *_of("consistency_spare_*", "iops", *_POWER),
    ),
    "trim-validation": ("trim_recovered", *_of("trim_clean", *_POWER)),
    "paced-burst": _of("paced", *_PACED),
    "rate-limit": ("rate_under_*_ms_*",),
    "idle-power": ("idle_w", "least_idle_w", "wake_up_us"),
    "energy-per-job": tuple(name for job in _JOBS for name in _of(job, "j", "j_per_gb", "w", "s")),
    "pts-iops": ("pts_iops_*",),
    "pts-throughput": ("pts_throughput_*",),
    "pts-latency": ("pts_latency_*",),
    "latency-qd32": ("pts_latency_*",),
    "pts-write-saturation": ("pts_write_saturation_iops",),
    "pts-host-idle-recovery": ("pts_idle_recovery_baseline_iops", "pts_idle_recovery_iops"),
    "pts-cross-stimulus-recovery": ("pts_cross_stimulus_mb_s",),
    "pts-composite": ("pts_composite_*",),
    "pts-demand-intensity": ("pts_demand_intensity_*",),
    "act": ("act_load_passed",),
    "act-index": ("act_index_load_passed",),
    "act-search": _ACT_SCORE,
    "act-certify": ("act_load_passed",),
    "trace": _of("trace", "mb_s", "service_ns", "read_p99_ns", "write_p99_ns", "energy_j"),
}
"""By method."""


def names_of(methods: Iterable[str]) -> tuple[str, ...] | None:
    """Return what the headline figures of these methods can be called; None where one is of a package."""
    found: list[str] = []
    for method in methods:
        if method not in NAMES:
            return None
        found += NAMES[method]
    return tuple(dict.fromkeys(found))


def is_named(name: str, names: Iterable[str]) -> bool:
    """Say whether a figure's name is one of these."""
    return any(fnmatchcase(name, each) for each in names)
