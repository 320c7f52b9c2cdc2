"""Reports of a drive during work: samples every second, readings between steps, and marks.

A value that the drive does not report is None. Counters cover the drive's whole life. `at_ns` is the
time since the start of the step, on the clock of its interval rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from ssdlab.model.frozen import Stored

PERIOD_S = 1.0
"""Seconds between samples. The first comes one period after the start, to avoid waking the drive early."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One telemetry sample.

    Attributes
    ----------
    at_ns
        Time since the start of the step.
    temperature_c, hottest_c
        Composite temperature, and temperature of the hottest sensor.
    drawn_w
        Mean power since the last sample, if the drive reports it.
    limit_w
        Power limit due to heat; None if there is none.
    throttle_events, throttled_s
        Number and total time of thermal throttling.
    media_errors
        Errors that the drive's error correction could not repair.
    host_read_bytes, host_written_bytes, nand_written_bytes
        Bytes moved by the host, and programmed to the medium.
    link_retrains, link_mb_s
        Number of link retrains, and throughput of the link.
    cpu_busy_share
        Busy share of the host's CPUs since the last sample, 0 to 1.
    """

    at_ns: int
    temperature_c: float | None = None
    hottest_c: float | None = None
    drawn_w: float | None = None
    limit_w: float | None = None
    throttle_events: int | None = None
    throttled_s: float | None = None
    media_errors: int | None = None
    host_read_bytes: int | None = None
    host_written_bytes: int | None = None
    nand_written_bytes: int | None = None
    link_retrains: int | None = None
    link_mb_s: float | None = None
    cpu_busy_share: float | None = None


FIGURES = tuple(name for name in Sample.__slots__ if name != "at_ns")
"""Values of a sample besides its time."""

MarkCode = Literal[
    "throttled",
    "media-errors",
    "link-errors",
    "link-changed",
    "drive-error",
    "drive-reset",
    "kernel-log",
    "drive-failing",
    "worn-out",
    "unanswered",
]


class Mark(Stored):
    """An event of the drive, at its time within the step."""

    code: MarkCode
    at_ns: int = Field(description="since the start of the step")
    until_ns: int | None = Field(default=None, description="its end, if it lasted; None: a moment")
    what: str
    temperature_c: float | None = None


class DriveHealth(Stored):
    """What a drive reports when queried; None means not reported. Counters are over its life."""

    source: Literal["nvme", "ata", "model"]
    failing: tuple[str, ...] = Field(default=(), description="what its critical warning is for, in words")
    temperature_c: float | None = None
    hottest_c: float | None = None
    spare_pct: int | None = None
    used_pct: int | None = Field(
        default=None, description="share of the rated endurance used, may exceed 100"
    )
    host_read_bytes: int | None = None
    host_written_bytes: int | None = None
    nand_written_bytes: int | None = None
    media_errors: int | None = None
    error_log_entries: int | None = None
    link_errors: int | None = Field(default=None, description="counted by the drive: SATA CRC")
    link_retrains: int | None = None
    throttle_events: int | None = None
    throttled_s: float | None = None
    drawn_w: float | None = Field(
        default=None, description="mean power of the last second, as the drive reports it"
    )
    energy_wh: int | None = Field(default=None, description="energy over its life, as the drive reports it")
    power_error: float | None = Field(
        default=None, description="maximum error of the reported power, as a share"
    )
    power_estimated: bool | None = Field(
        default=None, description="whether the reported power is computed rather than measured"
    )
    unsafe_shutdowns: int | None = None
    power_on_hours: int | None = None
    slow_commands: int | None = Field(
        default=None, description="commands above the lowest threshold of its latency monitor"
    )


COUNTED = (
    "host_read_bytes",
    "host_written_bytes",
    "nand_written_bytes",
    "media_errors",
    "error_log_entries",
    "link_errors",
    "link_retrains",
    "throttle_events",
    "throttled_s",
    "energy_wh",
    "unsafe_shutdowns",
    "slow_commands",
)
"""Fields of `DriveHealth` that are counters, whose growth is compared between readings."""


class StepTelemetry(Stored):
    """What the drive reported during one step; its samples are in the run's telemetry table."""

    sources: tuple[str, ...] = Field(description="source of the readings, in words")
    samples: int
    began_ns: int = Field(description="start of the step on the run's own clock")
    ended_ns: int = Field(description="its end; for a simulated drive both are in its own time")
    hottest_c: float | None = Field(default=None, description="highest temperature of the samples")
    health: DriveHealth | None = Field(default=None, description="reading at the end of the step")
    changes: dict[str, float] = Field(
        default={}, description="growth of the drive's counters since the last reading"
    )
    marks: tuple[Mark, ...] = ()

    @property
    def write_amplification(self) -> float | None:
        """Bytes programmed per byte that the host wrote; None if either is not reported."""
        host, medium = self.changes.get("host_written_bytes"), self.changes.get("nand_written_bytes")
        return medium / host if host and medium is not None else None


def changes_between(before: DriveHealth | None, after: DriveHealth | None) -> dict[str, float]:
    """Return the growth of the counters that both readings have.

    >>> a, b = (DriveHealth(source="nvme", media_errors=n) for n in (2, 5))
    >>> changes_between(a, b)
    {'media_errors': 3}
    """
    if before is None or after is None:
        return {}
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in COUNTED)
    return {name: now - then for name, then, now in pairs if then is not None and now is not None}
