"""The highest 4 KiB random read rate, and the latency at that load.

Question
    The peak of random reading, reported at the lowest queue depth that reaches 95 % of it. Throughput and
    latency both come from that one point.

Procedure
    Queue depths 1, 2, 4 ... 512 in rising order, one minute each. A depth of n is n threads, each with one
    synchronous 4 KiB read in flight at a uniformly random block of the span: no batching, no asynchronous
    I/O. Every block was written before, because unwritten blocks are answered without touching the flash.
    The result keeps the whole curve with its spread.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State": threads with
    one I/O each, depths up to 512, the 95 % rule. Durations are ssdlab's; the review gives none.

What it cannot show
    Reads during writes, or reads of a drive that was busy just before. A SATA drive queues 32 commands:
    above that depth requests wait in the host, and latency includes the wait. At depths above the number of
    CPU cores the tail may be the host's; each point says which. `--set engine=uring` gives the same depths
    from one io_uring thread: a different workload, labelled as such.
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
    """A class of its own, because the prose of a method is the docstring of its parameters' module."""


def procedure(lab: Lab, p: PeakRandomReadParams) -> None:
    read_sweep(lab, p, "random", BLOCK_BYTES)


def conclude(data: RunData, p: PeakRandomReadParams) -> PeakResult:
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
