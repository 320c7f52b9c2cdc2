"""A synthetic workload for trying out a replay without a trace: it represents no real use.

Each second a program is opened: a burst of small random I/Os, mostly reads, then a sequential read of a large
file. Every fifth second a document is saved. In between the drive is idle.
"""

from __future__ import annotations

from collections.abc import Iterator

NAME = "example"
"""Name that selects this workload instead of a trace file."""
SECONDS = 30
EXTENT_BYTES = 64 << 30

_PAGE = 4096
_BIG = 128 * 1024
_SECOND_US = 1_000_000


def lines() -> Iterator[str]:
    """Yield the lines of the example, in the columns of the Alibaba traces."""
    state = 1
    for second in range(SECONDS):
        at = second * _SECOND_US
        for number in range(150):
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            draw = state >> 33
            length = _PAGE << draw % 5
            offset = draw * _PAGE % EXTENT_BYTES // length * length
            yield f"example,{'W' if draw % 11 == 0 else 'R'},{offset},{length},{at + number * 200}\n"
        begin = (second * 977 << 20) % (EXTENT_BYTES >> 1)
        for number in range(64):
            yield f"example,R,{begin + number * _BIG},{_BIG},{at + 50_000 + number * 100}\n"
        if second % 5 == 4:
            for number in range(32):
                yield f"example,W,{(EXTENT_BYTES >> 1) + number * _BIG},{_BIG},{at + 300_000 + number * 50}\n"
