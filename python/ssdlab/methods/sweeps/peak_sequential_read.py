"""The highest 128 KiB sequential read throughput, and how many readers it takes.

Question
    The peak of sequential reading, reported at the lowest queue depth that reaches 95 % of it.

Procedure
    Queue depths 1, 2, 4 ... 512 in rising order, one minute each. A depth of n is n threads, each with one
    synchronous 128 KiB read in flight. Thread i starts at i/n of the span and reads on sequentially; no
    thread waits for another. This is a file server with n clients, not one large stream. Every block was
    written before.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State". Durations are
    ssdlab's; the review gives none.

What it cannot show
    One reader with read-ahead: for that, `--set engine=uring` gives one stream with as many reads in
    flight. A drive that fills its interface at depth 1 or 2 shows the interface. Some drives read
    data more slowly if it was written in another order.
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
    """A class of its own, because the prose of a method is the docstring of its parameters' module."""


def procedure(lab: Lab, p: PeakSequentialReadParams) -> None:
    read_sweep(lab, p, "sequential", BLOCK_BYTES)


def conclude(data: RunData, p: PeakSequentialReadParams) -> PeakResult:
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
