"""All eight tests of SNIA's Solid State Storage Performance Test Specification, in one report.

Question
    What does a drive do by the standard that buyers quote: fresh and saturated, in steady state, one I/O at a
    time, after a rest, after another load, and under more and more demand?

Procedure
    `pts-write-saturation` from the fresh drive on; `pts-iops`, `pts-throughput` and `pts-latency` in rounds
    after the drive was written twice over; `pts-host-idle-recovery`; `pts-cross-stimulus-recovery`;
    `pts-demand-intensity` and `pts-composite`. Each purges the drive for itself, as the specification demands
    of every test, and each says where it departs. Of a simulated drive each gets its own, and two go on at a
    time; where it was made smaller, what has a length in time is made as much shorter, so that as many of its
    capacities are written as of the drive in its full size.

Source
    SNIA SSS PTS 2.0.2. Where the text was not at hand the tests say so.

What it cannot show
    A drive in another configuration: run it again with `--usable`, and put both into one report. Each test
    says what it itself cannot show.
"""

from __future__ import annotations

from ssdlab.methods.suites.suite import Part, Suite

SUITE = Suite(
    name="snia",
    version=1,
    title="SNIA PTS",
    module=__name__,
    scaled_times=True,
    parts=(
        Part("pts-write-saturation", "fresh"),
        Part("pts-iops", "fresh"),
        Part("pts-throughput", "fresh"),
        Part("pts-latency", "fresh"),
        Part("pts-host-idle-recovery", "fresh"),
        Part("pts-cross-stimulus-recovery", "fresh"),
        Part("pts-demand-intensity", "fresh"),
        Part("pts-composite", "fresh"),
    ),
)
