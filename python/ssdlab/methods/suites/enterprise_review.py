"""An enterprise drive as reviews judge one: alone, at its peaks, in steady state, and under mixed load.

Question
    What does a drive do for one thread, at its peaks of reading, and after hours of writing, which is how a
    server meets it?

Procedure
    `peak-random-read` and `peak-sequential-read` on a drive that was filled once, then `qd1`, which reads
    before it writes; `steady-random-write`, `steady-sequential-write` and `mixed-random`, each from steady
    state with its proof. On a real drive they go one after the other: what was filled once is read by three
    of them, and each of the others fills and writes to steady state for itself, since between two runs the
    drive rests. A simulated drive is forked: the steady state that random writes and mixes begin in is made
    once, and two runs go on at a time.

Source
    AnandTech, enterprise suite of 2018 to 2020: the pages of a review, in the order "Performance at Queue
    Depth 1", "Peak Throughput And Steady State", "Mixed I/O Performance". That the reads come before all
    writes, whatever the order of the pages, is ours.

What it cannot show
    Endurance, what an application sees, or a second drive of the model. Each method says what it itself
    cannot show.
"""

from __future__ import annotations

from ssdlab.methods.suites.suite import Part, Suite

SUITE = Suite(
    name="enterprise-review",
    version=1,
    title="Enterprise review",
    module=__name__,
    parts=(
        Part("peak-random-read", "written", {"fill": "true"}),
        Part("peak-sequential-read", "written", {"fill": "true"}),
        Part("qd1", "written"),
        Part("steady-random-write", "random-steady"),
        Part("mixed-random", "random-steady"),
        Part("steady-sequential-write", "sequential-steady"),
    ),
)
