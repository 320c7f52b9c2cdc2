"""Results of the client-drive methods: TRIM validation and paced bursts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdlab.analysis.efficiency import Efficiency, efficiency
from ssdlab.results.schema import Direction, Latencies, ResultBase
from ssdlab.results.stored import Stored

VERDICTS = {"works": "works", "fails": "does not work", "no contrast": "cannot be judged"}
"""What the verdicts on TRIM are in words."""


class LbaPlot(Stored):
    """Write speed over the position on the drive, in one state of it."""

    name: str = Field(description="clean, after TRIM, or before TRIM")
    ordinal: int
    part_bytes: float
    parts_mb_s: tuple[float, ...]
    mean_mb_s: float = Field(description="from the first block to the last")
    sustained_mb_s: float = Field(description="over the first `sustained_s` seconds of the writing")
    mean_w: float | None = Field(default=None, description="mean power over the plot; None: no meter")

    @property
    def efficiency(self) -> Efficiency | None:
        """MB/s for each watt, from the first block to the last; None without a meter."""
        return efficiency("sequential", 0.0, self.mean_mb_s, self.mean_w)


class TrimEffect(Stored):
    """What is known of the discard itself."""

    reached_device: bool | None = Field(description="None where nothing shows it")
    evidence: str | None = Field(description="what shows it: tracepoint, counters, simulated")
    reads: str | None = Field(description="what trimmed blocks return: zeroes, unchanged, ...")
    seconds: float | None


class TrimResult(ResultBase):
    """Whether TRIM gives a drive that was tortured its clean speed back."""

    kind: Literal["trim"] = "trim"
    block_bytes: int
    torture_s: float = Field(description="of random writes before")
    sustained_s: float
    clean: LbaPlot
    after: LbaPlot
    before: LbaPlot | None = Field(description="the contrast; from a cycle of its own")
    recovered: float = Field(
        description="speed after TRIM / clean: of sustained and whole pass the lesser share"
    )
    regained: float | None = Field(
        description="of the speed over all blocks that was lost, the share that came back; None: hardly any"
    )
    passes_from: float = Field(description="`recovered` from which TRIM is said to work: 0.95")
    verdict: Literal["works", "fails", "no contrast"]
    trim: TrimEffect
    purged: bool

    @property
    def passed(self) -> bool | None:
        """Whether TRIM works; None where it could not be judged, and of a quick run, which judges nothing."""
        return None if self.quick or self.verdict == "no contrast" else self.verdict == "works"


class BurstSide(Stored):
    """One direction of a load, while it had I/Os in flight."""

    direction: Direction
    ios: int
    bytes: int
    busy_s: float = Field(description="time with an I/O of this direction in flight")
    latencies_s: float = Field(description="plain sum of the latencies")
    mb_s: float = Field(description="bytes / busy_s: idle time is not counted")
    by_count: Latencies = Field(description="service latency, ns: percentiles of the I/Os")
    by_time: Latencies = Field(description="service latency, ns: percentiles of the time waited")


class BurstLoad(Stored):
    """Both streams at once, in bursts or without a pause."""

    name: Literal["paced", "saturated"]
    ordinal: int
    seconds: float
    sides: tuple[BurstSide, ...]
    mean_w: float | None = Field(
        default=None, description="mean power over all of it, pauses included; None: no meter"
    )

    @property
    def efficiency(self) -> Efficiency | None:
        """MB/s for each watt over all of the load, pauses included; None without a meter."""
        if self.seconds <= 0:
            return None
        moved = sum(side.bytes for side in self.sides)
        return efficiency("mixed", 0.0, moved / self.seconds / 1e6, self.mean_w)

    def side(self, direction: Direction) -> BurstSide | None:
        """Return a direction, if it did anything."""
        return next((side for side in self.sides if side.direction == direction), None)


class PacedRate(Stored):
    """One sustained rate of paced writes that was tried."""

    rate: int = Field(description="MB/s")
    ordinal: int
    written_bytes: int = 0
    p99_ns: float | None = Field(default=None, description="service latency of the writes")
    max_ns: float | None = None
    held: bool
    why: str = Field(default="", description="why it did not hold")


class PacedBurstResult(ResultBase):
    """Writes in bursts beside large reads, as a desktop does them."""

    kind: Literal["paced-burst"] = "paced-burst"
    span_bytes: int
    block_bytes: int
    burst_bytes: int
    every_s: float
    read_bytes: int = Field(description="of each read")
    read_every_s: float
    depth: int
    loads: tuple[BurstLoad, ...]
    load_s: float = Field(description="time with a read in flight, of all reads of the paced load")
    load_latencies_s: float = Field(description="plain sum of their latencies")
    reads_s: tuple[float, ...] = Field(description="of each read, from when it was due to its last I/O")
    rates: tuple[PacedRate, ...] = Field(description="by rising rate")
    safe_mb_s: int | None = Field(description="highest rate that held below the lowest that did not")
    lowest_failed_mb_s: int | None
    factor: float = Field(description="times the unloaded p99 that the p99 may reach")
