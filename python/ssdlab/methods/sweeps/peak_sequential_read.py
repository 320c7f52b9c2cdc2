"""How fast the drive reads sequentially, and how many readers that takes.

Question
    The peak of sequential reading, at the lowest queue depth that reaches 95 % of it.

Procedure
    The whole span has been written before. With depths 1, 2, 4 ... 512, each for a minute: n threads, each
    with one synchronous 128 KiB read in flight, thread i of n starting at i/n of the span and reading on
    from there, none waiting for another. That is the shape of a file server with n clients and not one big
    stream. The scheduler is none.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State". Durations are
    ours; the review states none.

What it cannot show
    One reader with read-ahead, which is `--set engine=uring`: one stream with that many reads in flight. A
    drive whose interface is full at depth 1 or 2 shows the interface. What was written in another order
    than it is read may be slower on some drives than here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Method, RunData

from . import PEAK
from .depth_sweep import PeakReadParams, conclude_sweep, read_sweep
from .result import PeakResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

BLOCK_BYTES = 128 * 1024


class PeakSequentialReadParams(PeakReadParams):
    """As of every depth sweep."""


def procedure(lab: Lab, p: PeakSequentialReadParams) -> None:
    """Sweep the number of sequential 128 KiB readers."""
    read_sweep(lab, p, "sequential", BLOCK_BYTES)


def conclude(data: RunData, p: PeakSequentialReadParams) -> PeakResult:
    """Report the lowest depth with at least 95 % of the best."""
    return conclude_sweep(data, p, "sequential", "read", BLOCK_BYTES)


METHOD = Method(
    name="peak-sequential-read",
    version=1,
    title="Peak sequential read",
    params=PeakSequentialReadParams,
    procedure=procedure,
    conclude=conclude,
    result=PEAK,
    writes=lambda p: bool(p.fill),
    needs=("span written",),
    conditions={"scheduler": "none"},
)
