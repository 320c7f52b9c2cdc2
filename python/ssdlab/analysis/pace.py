"""Bounds of a drive's speed, from its link and from measured or rated loads.

The bounds of a load that was not itself measured come from the nearest known loads, by block size and by I/Os
in flight. With a smaller block or depth, throughput falls at most in proportion; with a larger one, it rises
at most in proportion. Several figures of one load, such as fresh and after long writing, give the range
between them. No load moves more than the link. If nothing is known, the bounds are those of the fastest and
the slowest drive that anybody would test.

Sources of the interpolation: the bounds of a closed network of one queue, E. D. Lazowska et al.,
"Quantitative System Performance" (1984), chapter 5. Throughput lies below the throughput of one customer
times the number of customers, and below the capacity of the slowest centre. It is concave in the customers
(J. G. Shanthikumar, D. D. Yao, "Second-order properties of the throughput of a closed queueing network",
Mathematics of Operations Research 13 (1988)). Beyond two measured depths it thus rises no faster than between
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from math import inf, log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FASTEST_BYTES_S = 32e9
"""The speed of two PCIe 5.0 x4 links; a stream cannot copy faster in the memory of such a host."""
SLOWEST_SEQUENTIAL_BYTES_S = 20e6
"""Even a QLC drive with its cache exhausted writes faster."""
SLOWEST_RANDOM_IOPS = 50.0
"""The speed of a hard disk."""
SHORTEST_LATENCY_S = 1e-6
"""The latency of a file in memory."""
SHORTEST = {False: SHORTEST_LATENCY_S, True: SHORTEST_LATENCY_S}
"""Minimum time of a command, by whether it writes."""
MIXED_MIN, MIXED_MAX = 0.4, 2.0
"""Bounds of a mix, as factors of the speed of its parts one after the other. Reads and writes may slow each
other, or overlap."""
NEAR = 0.5
"""Loads within this distance of the nearest one count as equally near; in doublings of block and depth."""


@dataclass(frozen=True)
class Load:
    """Sequential or random I/O in one direction, with its block size and number of I/Os in flight."""

    writes: bool
    random: bool
    block_bytes: float
    in_flight: float

    def distance(self, other: Load) -> float:
        """Return the distance of two loads of one kind, in doublings of block size and of I/Os in flight."""
        return abs(log2(self.block_bytes / other.block_bytes)) + abs(log2(self.in_flight / other.in_flight))

    def covers(self, other: Load) -> bool:
        """Whether both the block size and the I/Os in flight are at least those of `other`."""
        return self.block_bytes >= other.block_bytes and self.in_flight >= other.in_flight


@dataclass(frozen=True)
class Known:
    """The known throughput of a load, and the factors that bound the throughput of similar loads.

    `settled` says that the drive had been written for long; a fresh drive is faster.
    """

    load: Load
    bytes_s: float
    min_share: float = 0.5
    max_share: float = 2.0
    settled: bool = False
    source: str = ""

    @property
    def max_bytes_s(self) -> float:
        return self.bytes_s * self.max_share

    def at(self, load: Load) -> tuple[float, float]:
        """Return lower and upper bound, in bytes a second, for another load of the same kind."""
        block = load.block_bytes / self.load.block_bytes
        depth = load.in_flight / self.load.in_flight
        low = self.bytes_s * self.min_share * min(1.0, block) * min(1.0, depth)
        high = self.bytes_s * self.max_share * max(1.0, block) * max(1.0, depth)
        return low, high


@dataclass(frozen=True)
class Speed:
    """Bounds of a throughput in bytes a second; `settled` is the upper bound after long writing."""

    low: float
    high: float
    settled: float
    ahead_bytes: float = 0.0
    """Bytes that a buffer takes in addition, if the load writes."""


@dataclass(frozen=True)
class Filling:
    """Bounds of the mean speed when a drive is written full in order, one I/O at a time.

    They hold for writes of at least `min_bytes`.
    """

    min_bytes: float
    low: float
    high: float | None
    """None if any load of the kind may be as fast."""
    block_bytes: float
    """Block size that the bounds hold for; with smaller blocks the lower bound falls in proportion."""
    cool_low: float | None = None
    """Lower bound before heat slows the drive, if it differs from `low`, the bound for a warm drive."""
    cool_s: float = inf
    """How long the drive stays cool after rest."""
    disordered_low: float | None = None
    """Lower bound after random writes since the last purge; None if it is not known to differ."""

    def low_of(self, target_bytes: float) -> float:
        """Return the lower bound of the mean speed over `target_bytes`."""
        if self.cool_low is None or not self.cool_s:
            return self.low
        cool_bytes = min(target_bytes, self.cool_low * self.cool_s)
        return target_bytes / (cool_bytes / self.cool_low + (target_bytes - cool_bytes) / self.low)


@dataclass(frozen=True)
class Pace:
    """What is known about a drive's speed.

    Attributes
    ----------
    link_bytes_s
        Speed of the link in one direction, which no load exceeds.
    known
        Loads that were measured or rated.
    fresh_bytes
        Bytes that may be written at the speed of a fresh drive before the speed after long writing applies.
    sources
        Where the bounds come from, in words.
    filling
        Bounds for writing the drive full in order, if a cache makes short measurements misleading.
    command_s
        Minimum seconds of a command, by whether it writes.
    ceilings
        Upper bounds that hold for all loads with at most that block size and at most that many I/Os in
        flight.
    ahead_bytes
        Bytes that a buffer may take in addition to these upper bounds.
    lasting
        Whether a load continues at its first speed: neither earlier writes nor heat change it.
    discard_bytes_s
        Minimum speed of discards; None if it is not known whether they work.
    """

    link_bytes_s: float = FASTEST_BYTES_S
    known: tuple[Known, ...] = ()
    fresh_bytes: float = inf
    sources: tuple[str, ...] = field(default=())
    filling: Filling | None = None
    command_s: Mapping[bool, float] = field(default_factory=lambda: SHORTEST)
    ceilings: tuple[Known, ...] = ()
    ahead_bytes: float = 0.0
    lasting: bool = False
    discard_bytes_s: float | None = None

    def of(self, load: Load) -> Speed:
        """Return bounds of the drive's speed for a load in one direction."""
        kind = [each for each in self.known if self._is_kind(each.load, load)]
        above = [each for each in self.ceilings if self._is_kind(each.load, load)]
        shortest = load.in_flight * load.block_bytes / self.command_s[load.writes]
        ceiling = min(self.link_bytes_s, shortest, _upper_by_others(above, load))
        slowest = SLOWEST_SEQUENTIAL_BYTES_S
        if load.random:
            slowest = min(slowest, SLOWEST_RANDOM_IOPS * load.block_bytes)
        floor = min(slowest, ceiling)
        if not kind:
            return Speed(floor, ceiling, ceiling, self.ahead_bytes)
        lows, highs = zip(*(each.at(load) for each in _nearest(kind, load)), strict=True)
        if load.random:
            most = max(each.max_bytes_s for each in kind)
            ceiling = min(ceiling, max(most, _upper_in_order(self._in_order(load), load)))
        long_written = [each for each in kind if each.settled]
        settled = [each.at(load)[1] for each in _nearest(long_written, load)] or highs
        # A figure after long writing does not bound the speed of a fresh drive.
        high = min(ceiling, max(highs), _upper_by_others([each for each in kind if not each.settled], load))
        most = min(high, max(settled), _upper_by_others(long_written, load))
        low = max(floor, min(lows), self._low_of_larger(kind, load))
        return Speed(min(low, high), high, most, self.ahead_bytes)

    def _in_order(self, load: Load) -> list[Known]:
        ordered = replace(load, random=False)
        return [each for each in self.known if self._is_kind(each.load, ordered)]

    def _low_of_larger(self, kind: Sequence[Known], load: Load) -> float:
        """Return a lower bound for random reads, from figures of smaller blocks.

        A read takes no longer than a read of a smaller block and its remaining bytes in order. This does not
        hold for writes: larger ones fill a cache, or move more valid data.
        """
        smaller = [each for each in kind if each.load.block_bytes < load.block_bytes]
        if load.writes or not load.random or not smaller or not self._in_order(load):
            return 0.0
        sequential = self.of(replace(load, random=False)).low
        lows = []
        for each in _nearest(smaller, load):
            block = each.load.block_bytes
            first_s = block / each.at(replace(load, block_bytes=block))[0]
            lows.append(load.block_bytes / (first_s + (load.block_bytes - block) / sequential))
        return min(lows)

    def of_mix(self, read_share: float, load: Load) -> Speed:
        """Return bounds for a mix, both directions together; `read_share` is a share of the bytes."""
        if read_share in (0.0, 1.0):
            return self.of(replace(load, writes=read_share == 0.0))
        read, write = (self.of(replace(load, writes=writes)) for writes in (False, True))

        def joined(ends: tuple[float, float]) -> float:
            return 1 / (read_share / ends[0] + (1 - read_share) / ends[1])

        def side_by_side(write_bytes_s: float) -> float:
            # Overlapping reads and writes are, in each direction, no faster than that direction alone.
            alone = min(read.high / read_share, write_bytes_s / (1 - read_share))
            return min(2 * self.link_bytes_s, alone, MIXED_MAX * joined((read.high, write_bytes_s)))

        low = MIXED_MIN * joined((read.low, write.low))
        high, settled = side_by_side(write.high), side_by_side(write.settled)
        return Speed(min(low, settled), high, settled, self.ahead_bytes)

    def of_target(self, speed: Speed, target_bytes: float, load: Load) -> Speed:
        """Return the bounds for writing `target_bytes`; those of `filling` if the load fills the drive."""
        fill = self.filling
        if fill is None or not load.writes or load.random or target_bytes < fill.min_bytes:
            return speed
        low = fill.low_of(target_bytes) * min(1.0, load.block_bytes / fill.block_bytes)
        if fill.high is None:
            return replace(speed, low=min(low, speed.high))
        more = 1.0 if load.in_flight <= 1 else speed.high / max(fill.high, 1.0)
        high = min(self.link_bytes_s, fill.high * max(1.0, more))
        return replace(speed, low=min(low, high), high=high, settled=high)

    def after(self, *, work: bool, disorder: bool) -> Pace:
        """Return the pace of a drive after other work, or after random writes since the last purge."""
        fill = self.filling
        if fill is None or not (work or disorder):
            return self
        low = fill.low if fill.disordered_low is None or not disorder else fill.disordered_low
        return replace(self, filling=replace(fill, low=low, cool_low=None))

    def with_known(self, *more: Known, source: str = "") -> Pace:
        sources = (*self.sources, source) if source and source not in self.sources else self.sources
        return replace(self, known=(*self.known, *more), sources=sources)

    @staticmethod
    def _is_kind(known: Load, load: Load) -> bool:
        return known.writes == load.writes and known.random == load.random


def _upper_by_others(kind: Sequence[Known], load: Load) -> float:
    """Return an upper bound for a load, from figures of other loads in one state of the drive.

    A load of larger blocks and more I/Os in flight moves at least as much. Beyond two depths throughput rises
    no faster than between them.
    """
    highest: dict[Load, Known] = {}
    for known in kind:
        if known.load not in highest or known.max_bytes_s > highest[known.load].max_bytes_s:
            highest[known.load] = known
    larger = (known.max_bytes_s for known in highest.values() if known.load.covers(load))
    blocks: dict[float, list[Known]] = {}
    for known in sorted(highest.values(), key=lambda known: known.load.in_flight):
        if known.load.block_bytes >= load.block_bytes and known.load.in_flight < load.in_flight:
            blocks.setdefault(known.load.block_bytes, []).append(known)
    beyond = (_beyond(*pair, load.in_flight) for same in blocks.values() for pair in pairwise(same))
    return min(chain(larger, beyond), default=inf)


def _upper_in_order(in_order: Sequence[Known], load: Load) -> float:
    """Return an upper bound for random I/O: sequential I/O with as many bytes in flight moves no less."""
    blocks: dict[float, list[Known]] = {}
    for known in in_order:
        if not known.settled:
            blocks.setdefault(known.load.block_bytes, []).append(known)
    in_flight_bytes = load.in_flight * load.block_bytes
    uppers = (
        _upper_by_others(same, Load(load.writes, False, block, in_flight_bytes / block))
        for block, same in blocks.items()
    )
    return min(uppers, default=inf)


def _beyond(fewer: Known, more: Known, in_flight: float) -> float:
    """Return an upper bound at a greater depth than two figures have, by the slope between them."""
    slope = (more.bytes_s - fewer.bytes_s) / (more.load.in_flight - fewer.load.in_flight)
    share = max(fewer.max_share, more.max_share)
    return share * (more.bytes_s + max(0.0, slope) * (in_flight - more.load.in_flight))


def _nearest(known: Sequence[Known], load: Load) -> list[Known]:
    """Return the nearest known loads, and those at most `NEAR` further away."""
    nearest = min((each.load.distance(load) for each in known), default=0.0)
    return [each for each in known if each.load.distance(load) <= nearest + NEAR]


ANY_DRIVE = Pace()
"""The bounds if nothing is known about a drive."""
