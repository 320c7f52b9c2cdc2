"""The three points of a demand-intensity test: the most, the middle and the least of its grid.

A grid of thread counts and depths gives each cell its IOPS and its average response time (ART). MaxIOPS is
the cell of the highest IOPS whose ART still stays below a limit: beyond it a drive only lets I/Os queue, and
IOPS without the limit would name a point that nobody can work at. MinIOPS is the cell of the fewest I/Os in
flight, TC1 QD1. MidIOPS is the cell, again of those below the limit, whose IOPS are nearest to half-way
between the two. Both figures of a cell are its means over the measurement window, reads and writes together.

Source: SNIA SSS PTS 2.0.1, section 14 (demand intensity), as an open implementation follows it. The limit of
5 ms, and that it holds for MidIOPS too, is read from that implementation alone; it is therefore a parameter.
Neither says what to do when two cells are equally near: here the one that answers sooner is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

ART_LIMIT_MS = 5.0
"""Average response time that MaxIOPS has to stay below, in ms."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One cell of the grid: `threads` with `depth` I/Os in flight each, and its means over the window."""

    threads: int
    depth: int
    iops: float
    art_ns: float


@dataclass(frozen=True, slots=True)
class Chosen:
    """The three points; without a cell below the limit there is no `highest`, and so no `middle`."""

    highest: Demand | None
    middle: Demand | None
    lowest: Demand


def choose(grid: Sequence[Demand], limit_ns: float) -> Chosen:
    """Choose MaxIOPS, MidIOPS and MinIOPS among the measured cells of threads and queue depths.

    Parameters
    ----------
    grid
        All cells, in any order.
    limit_ns
        What the ART of MaxIOPS and MidIOPS has to stay below.

    Raises
    ------
    ValueError
        The grid has no cell.
    """
    if not grid:
        raise ValueError("a grid without cells has no points")
    lowest = min(grid, key=lambda each: (each.threads * each.depth, each.threads))
    swift = [each for each in grid if each.art_ns < limit_ns]
    if not swift:
        return Chosen(None, None, lowest)
    highest = max(swift, key=lambda each: (each.iops, -each.art_ns))
    half_way = (highest.iops + lowest.iops) / 2
    middle = min(swift, key=lambda each: (abs(each.iops - half_way), each.art_ns))
    return Chosen(highest, middle, lowest)


def unwritten_reads(fills: float, parts: Sequence[tuple[float, float]]) -> float:
    """Return the share of random reads that go where random writes have not been yet, 0 to 1.

    Writes at random places leave gaps: a block that is due n writes on the mean has had none with a
    probability of exp(-n), the Poisson limit of the binomial.

    Parameters
    ----------
    fills
        Bytes written since the purge / bytes of the part in use.
    parts
        Of each part of it, its share of the I/Os and its share of the bytes, both 0 to 1.
    """
    return sum(ios * exp(-fills * ios / span) for ios, span in parts)
