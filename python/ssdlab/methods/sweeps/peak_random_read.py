"""How many 4 KiB random reads a second the drive serves, and how long each takes then.

Question
    The peak of random reading, at the lowest queue depth that reaches 95 % of it; throughput and latency
    both come from that one point.

Procedure
    The whole span has been written before: blocks never written are answered without touching the flash.
    With depths 1, 2, 4 ... 512, each for a minute: n threads, each with one synchronous 4 KiB read in
    flight at a uniformly random block of the span; no batching, no asynchronous I/O. The scheduler is none.
    The whole curve is kept with its spread.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State": threads of
    one I/O, depths up to 512, the 95 % rule. Durations are ours; the review states none.

What it cannot show
    Reads beside writes, or a drive that is not idle before. Beyond 32 outstanding commands a SATA drive's
    own queue is full and requests wait in the host, which the latency includes. At depths over the number
    of cores the tail may be the host's: each point says which. `--set engine=uring` gives the same depths
    by one io_uring thread; that is another workload, labelled as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Method, RunData

from . import PEAK
from .depth_sweep import PeakReadParams, conclude_sweep, read_sweep
from .result import PeakResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

BLOCK_BYTES = 4096


class PeakRandomReadParams(PeakReadParams):
    """As of every depth sweep."""


def procedure(lab: Lab, p: PeakRandomReadParams) -> None:
    """Sweep the depth of 4 KiB random reads."""
    read_sweep(lab, p, "random", BLOCK_BYTES)


def conclude(data: RunData, p: PeakRandomReadParams) -> PeakResult:
    """Report the lowest depth with at least 95 % of the best."""
    return conclude_sweep(data, p, "random", "read", BLOCK_BYTES)


METHOD = Method(
    name="peak-random-read",
    version=1,
    title="Peak random read",
    params=PeakRandomReadParams,
    procedure=procedure,
    conclude=conclude,
    result=PEAK,
    writes=lambda p: bool(p.fill),
    needs=("span written",),
    conditions={"scheduler": "none"},
)
