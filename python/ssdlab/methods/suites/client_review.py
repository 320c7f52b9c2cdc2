"""A client drive as reviews judge one: fresh and full, in bursts and without a pause.

Question
    What does a drive do for one user: at one to four I/Os in flight, in bursts with rests between them, when
    it is filled from end to end, and when it is written without a pause?

Procedure
    `low-depths` and `qd1` on a drive that was filled once, `paced-burst` on one that it fills itself;
    `whole-drive-fill` from the fresh drive on; `consistency` with the stock spare area and with a quarter of
    the raw flash spare; `trim-validation`. On a real drive they go one after the other, and each purges
    or fills for itself what the one before has left. Of a simulated drive each gets its own, and two runs go
    on at a time. What has a size or a time of its own, such as bursts of 40 MB or the last 16 GB of a fill,
    is measured on the drive in its full size, whatever scale was asked for.

Source
    AnandTech, client suites from 2014 on ("Performance Consistency", "TRIM Validation", "Whole-Drive Fill",
    sustained I/O at depths 1, 2 and 4 with their mean) and the latency at depth 1 of the enterprise suite; PC
    Perspective, review of the Intel 600p (2016), "mixed burst".

What it cannot show
    What software on the drive sees, or idle power and its states. Each method says what it itself cannot
    show.
"""

from __future__ import annotations

from ssdlab.methods.suites.suite import Part, Suite

SUITE = Suite(
    name="client-review",
    version=1,
    title="Client review",
    module=__name__,
    parts=(
        Part("low-depths", "written", absolute=True),
        Part("qd1", "written", {"steady": "false"}),
        Part("paced-burst", absolute=True),
        Part("whole-drive-fill", "fresh", absolute=True),
        Part("consistency", "fresh", absolute=True),
        Part("trim-validation", "fresh", absolute=True),
    ),
)
