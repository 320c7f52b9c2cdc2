"""A first look at a drive, in under ten minutes.

Question
    Is the drive about what it should be, before it gets a night of real tests?

Procedure
    The first 8 GiB of the drive are filled, and everything happens there: `peak-random-read`,
    `peak-sequential-read`, `qd1` and `mixed-random`, each with its quick presets.

Source
    The procedures are those of the methods; so short a time and so small a span are ours.

What it cannot show
    Nothing here is steady state: points last a second or two and the drive is overwritten less than once.
    In 8 GiB every map fits into a small memory, a cache may hold all that is written, and the rest of the
    drive is spare area, so that most drives look better than they are. High percentiles have too few samples
    to be printed. Quick results are never ranked among full ones.
"""

from __future__ import annotations

from ssdlab.methods.suites.suite import Part, Suite

SPAN_BYTES = 8 << 30
"""What a drive of 100 MB/s fills in a minute and a half."""

SUITE = Suite(
    name="quick-look",
    version=1,
    title="Quick look",
    module=__name__,
    parts=(
        Part("peak-random-read", "written", {"fill": "true"}),
        Part("peak-sequential-read", "written", {"fill": "true"}),
        Part("qd1", "written"),
        Part("mixed-random", "random-steady"),
    ),
    quick=True,
    span_bytes=SPAN_BYTES,
)
