"""Results of SNIA's demand tests: demand intensity (DIRTH), and the composite of block sizes (CBW)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdlab.methods.results.pts import PtsRounds, SteadyWindow
from ssdlab.methods.results.pts_series import PtsHistogram, PtsRecords, PtsSamples, PtsSeriesResult
from ssdlab.model.stored import Stored

PointName = Literal["MaxIOPS", "MidIOPS", "MinIOPS"]


class BlockShare(Stored):
    """A block size and its share of the I/Os."""

    block_bytes: int
    share: float = Field(description="of the I/Os, 0 to 1")


class RangeShare(Stored):
    """A part of the LBAs in use, in their order, and its share of the I/Os."""

    range_share: float = Field(description="of the LBAs in use, 0 to 1")
    share: float = Field(description="of the I/Os, 0 to 1")


class DemandCell(Stored):
    """One demand, in every round."""

    threads: int = Field(description="TC")
    depth: int = Field(description="QD: I/Os in flight of each thread")
    ordinals: tuple[int, ...]
    iops: tuple[float, ...] = Field(description="reads and writes together")
    mb_s: tuple[float, ...]
    mean_ns: tuple[float, ...] = Field(description="ART, reads and writes by count")
    five_nines_ns: tuple[float | None, ...] = Field(description="99.999 %; None: too few I/Os for it")
    max_ns: tuple[float | None, ...] = Field(description="MRT")
    cpu_busy_share: tuple[float | None, ...] = Field(
        description="busy share of all CPUs of the host, 0 to 1; None: not known"
    )

    @property
    def in_flight(self) -> int:
        """Total outstanding I/Os (TOIO)."""
        return self.threads * self.depth


class DemandPoint(Stored):
    """MaxIOPS, MidIOPS or MinIOPS: a demand of the grid, and the response times at it."""

    name: PointName
    missing: str | None = Field(default=None, description="why there is none; all below is then empty")
    threads: int = 0
    depth: int = 0
    window_iops: float = Field(default=0.0, description="in the grid: mean of the measurement window")
    window_mean_ns: float = Field(default=0.0, description="ART in the grid: mean of the window")
    pre_write_ordinal: int | None = None
    ordinal: int | None = Field(default=None, description="the step of the histogram")
    histogram: PtsHistogram | None = None


class DemandResult(PtsSeriesResult):
    """A grid of thread counts and depths in steady state, and the response times at three of its demands.

    Threads and depth of the base are those of preconditioning and pre-writes.
    """

    kind: Literal["pts-demand"] = "pts-demand"
    test: Literal["demand-intensity", "composite"]
    seconds: float = Field(description="of a cell, and of a record of the preconditioning")
    simulated: bool = Field(description="by a simulated drive: the host's CPU has no part in the figures")
    read_pct: int = Field(description="share of reads in the grid and the histograms (RW1)")
    blocks: tuple[BlockShare, ...]
    ranges: tuple[RangeShare, ...] = Field(description="empty: every LBA in use is equally likely")
    writes: PtsRecords = Field(description="the preconditioning, record by record")
    samples: PtsSamples = Field(description="of the preconditioning: the first record of each cycle")
    rounds: PtsRounds = Field(description="the loop; its cells are those of the result")
    pre_writes: DemandCell = Field(description="before every round")
    cells: tuple[DemandCell, ...] = Field(description="in the written order of a round")
    art_limit_ms: float = Field(description="that the ART of MaxIOPS and MidIOPS stays below")
    points: tuple[DemandPoint, ...]

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        """That of the preconditioning, and that of the rounds."""
        return (
            SteadyWindow(what="the preconditioning", steady=self.samples.steady, fills=self.samples.fills),
            SteadyWindow(what="the rounds", steady=self.rounds.steady, fills=self.rounds.fills),
        )
