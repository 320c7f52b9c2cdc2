"""Measured points of results, with what limited them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdlab.analysis.ratios import Efficiency, efficiency
from ssdlab.model.frozen import Stored
from ssdlab.model.host_load import HostLoad
from ssdlab.model.summary import Direction
from ssdlab.model.units import fixed_share_text, share_text

Latencies = dict[str, float | None]
"""Latencies in ns by name: `min mean max p50 p90 p99 p99.9 p99.99 p99.999`. A percentile with fewer than 10
samples beyond it is None."""


class Spread(Stored):
    """The variation of a figure over the full interval rows of one step."""

    n: int
    min: float
    max: float
    mean: float
    sd: float


class Attribution(Stored):
    """What limited a point, with the reasons."""

    limit: Literal["drive", "link", "host", "unknown"]
    reasons: tuple[str, ...] = Field(default=(), description="each a sentence with its figures")


BUSY_SHARE = 0.90
RUN_QUEUE_DELAY_SHARE = 0.10
CROWDED_BUSY_SHARE = 0.70
"""With more threads than cores, a host this busy makes some of them wait."""


def attribute(load: HostLoad | None) -> Attribution:
    """Judge whether the host limited a point; ``unknown``: its load was not recorded.

    Published reviews use one thread per I/O in flight. With more threads than cores, a completion that finds
    no free core looks like a slow drive. Each of three signs alone makes a tail doubtful:

    threads over cores
        More runnable threads than cores. Threads that wait for the drive need no core, so this counts only on
        a busy host.
    CPU near saturation
        Above 90 % busy, waits for the CPU grow without bound. They follow rho / (1 - rho), which is ten times
        the service time at 0.91.
    run-queue delay
        The time in which threads were runnable but not running, by the kernel's count (schedstat), as a share
        of the CPU time needed. At 10 %, submissions and completions are that much late on average, and far
        more in the tail.

    Sources: AnandTech, review of the Kingston DC500 series (2019), on software overhead at high thread
    counts; L. Kleinrock, "Queueing Systems" vol. 1 (1975), M/M/1; kernel
    Documentation/scheduler/sched-stats.rst.
    """
    if load is None:
        return Attribution(limit="unknown", reasons=("the host's load was not recorded",))
    reasons = []
    busy, delay = load.cpu_busy_share, load.run_queue_delay_share
    if busy is not None and busy >= BUSY_SHARE:
        reasons.append(
            f"the CPUs were {share_text(busy)} busy ({fixed_share_text(BUSY_SHARE)} is near saturation)"
        )
    elif busy is not None and load.threads > load.cores and busy >= CROWDED_BUSY_SHARE:
        reasons.append(f"{load.threads} threads shared {load.cores} cores that were {share_text(busy)} busy")
    if delay is not None and delay >= RUN_QUEUE_DELAY_SHARE:
        reasons.append(f"threads waited for a CPU for {share_text(delay)} of their runnable time")
    if reasons:
        return Attribution(limit="host", reasons=tuple(reasons))
    if busy is None and delay is None:
        return Attribution(limit="unknown", reasons=("neither CPU load nor run-queue delay could be read",))
    return Attribution(limit="drive")


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
        return self.workers * self.depth

    @property
    def efficiency(self) -> Efficiency | None:
        """Work per watt: kIOPS/W for random I/O, MB/s/W for sequential; None: no meter."""
        return efficiency(self.pattern, self.iops, self.mb_s, self.mean_w)
