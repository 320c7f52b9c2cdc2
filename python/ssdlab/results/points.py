"""Measured points of results, with what limited them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ssdlab.analysis.efficiency import Efficiency, efficiency
from ssdlab.model.frozen import Stored
from ssdlab.model.host_load import HostLoad
from ssdlab.model.summary import Direction

if TYPE_CHECKING:
    pass

Latencies = dict[str, float | None]
"""`min mean max p50 p90 p99 p99.9 p99.99 p99.999` in ns; None with fewer than 10 samples beyond."""


class Spread(Stored):
    """The variation of a figure over the full interval rows of one step."""

    n: int
    min: float
    max: float
    mean: float
    sd: float


class Attribution(Stored):
    """Whether host or drive caused the tail of a point."""

    limit: Literal["drive", "link", "host", "unknown"]
    reasons: tuple[str, ...] = Field(default=(), description="each a sentence with its figures")


class FlushPoint(Stored):
    """The flushes of one measured step."""

    label: str
    ordinal: int
    call: Literal["fdatasync", "fsync"]
    every: int = Field(description="number of a worker's writes per flush")
    flushes: int
    failed: int
    latency_ns: Latencies


class Point(Stored):
    """One measured point: a row of a result's table, and a dot of its chart."""

    label: str = Field(description="e.g. 'depth 8' or 'random read'")
    direction: Direction
    pattern: Literal["random", "sequential"]
    block_bytes: int
    workers: int
    depth: int = Field(description="per worker; requested I/Os in flight = workers x depth")
    engine: str
    missing: str | None = Field(
        default=None, description="why there is no measurement; all below is then None"
    )
    ordinal: int | None = None
    seconds: float | None = None
    ios: int | None = None
    failed: int | None = None
    iops: float | None = None
    mb_s: float | None = None
    spread_iops: Spread | None = Field(default=None, description="over the interval rows")
    in_flight: float | None = Field(default=None, description="mean I/Os in flight")
    little_ratio: float | None = Field(
        default=None, description="IOPS x mean service time / I/Os in flight; 1 if consistent (Little's law)"
    )
    service_ns: Latencies | None = None
    response_ns: Latencies | None = None
    cpu_per_io_ns: float | None = None
    mean_w: float | None = Field(default=None, description="mean power over the same window; None: no meter")
    host: HostLoad | None = None
    attribution: Attribution | None = None

    @property
    def in_flight_asked(self) -> int:
        """Requested I/Os in flight."""
        return self.workers * self.depth

    @property
    def efficiency(self) -> Efficiency | None:
        """Work per watt: kIOPS/W for random I/O, MB/s/W for sequential; None without a meter."""
        return efficiency(self.pattern, self.iops, self.mb_s, self.mean_w)
