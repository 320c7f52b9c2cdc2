"""Bounds of a drive's speed, from its link and from measured or rated loads.

Of a load that was not itself measured the nearest ones speak, by block and by I/Os in flight: throughput does
not fall with either by more than its share, and does not rise by more. Several figures of one load, such as
of a fresh drive and of one that was overwritten for long, span the range between them. Nothing moves more
than the link. Where nothing is known the bounds are those of the fastest and the slowest drive that anybody
would test.

Sources of the interpolation: the bounds of a closed network of one queue, E. D. Lazowska et al.,
"Quantitative System Performance" (1984), chapter 5: throughput lies below both its value times the customers
and the capacity of the slowest centre. It is concave in the customers (J. G. Shanthikumar, D. D. Yao,
"Second-order properties of the throughput of a closed queueing network", Mathematics of Operations Research
13 (1988)): beyond two depths that were measured it rises no faster than between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from math import inf, log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FASTEST_BYTES_S = 32e9
"""Two PCIe 5.0 x4 links, and more than this machine class copies in memory per stream."""
SLOWEST_SEQUENTIAL_BYTES_S = 20e6
"""A QLC drive with its cache exhausted still writes faster."""
SLOWEST_RANDOM_IOPS = 50.0
"""A hard disk."""
SHORTEST_LATENCY_S = 1e-6
"""A file in memory."""
SHORTEST = {False: SHORTEST_LATENCY_S, True: SHORTEST_LATENCY_S}
"""By whether it writes: what a command takes at least."""
MIXED_MIN, MIXED_MAX = 0.4, 2.0
"""Of a mix, against its parts one after the other: they get in each other's way, or work side by side."""
NEAR = 0.5
"""Loads count as equally near if they are no further apart than that, in doublings of block and depth."""


@dataclass(frozen=True)
class Load:
    """What a drive is asked for: one direction."""

    writes: bool
    random: bool
    block_bytes: float
    in_flight: float

    def distance(self, other: Load) -> float:
        """Return how far apart two loads of one kind are, in doublings of block and of I/Os in flight."""
        return abs(log2(self.block_bytes / other.block_bytes)) + abs(log2(self.in_flight / other.in_flight))

    def covers(self, other: Load) -> bool:
        """Whether its blocks are as large, and as many I/Os in flight, or more."""
        return self.block_bytes >= other.block_bytes and self.in_flight >= other.in_flight


@dataclass(frozen=True)
class Known:
    """What is known of a load: a throughput, and between what shares of it others of its kind will lie.

    `settled`: it is of a drive that was written for long, where a fresh one is faster.
    """

    load: Load
    bytes_s: float
    min_share: float = 0.5
    max_share: float = 2.0
    settled: bool = False
    source: str = ""

    @property
    def max_bytes_s(self) -> float:
        """What the load itself moves at most."""
        return self.bytes_s * self.max_share

    def at(self, load: Load) -> tuple[float, float]:
        """Return bounds for another load of the kind."""
        block = load.block_bytes / self.load.block_bytes
        depth = load.in_flight / self.load.in_flight
        low = self.bytes_s * self.min_share * min(1.0, block) * min(1.0, depth)
        high = self.bytes_s * self.max_share * max(1.0, block) * max(1.0, depth)
        return low, high


@dataclass(frozen=True)
class Speed:
    """Bounds of a throughput in bytes a second; `settled` is the upper one of a drive written for long."""

    low: float
    high: float
    settled: float
    ahead_bytes: float = 0.0
    """Of writes: what a buffer takes in beside."""


@dataclass(frozen=True)
class Filling:
    """Writing a drive full in order, one I/O at a time: of at least so many bytes, between these speeds."""

    min_bytes: float
    low: float
    high: float | None
    """None: as fast as any load of the kind may be."""
    block_bytes: float
    """What it is known of; in smaller ones it may be slower by their share."""
    cool_low: float | None = None
    """While heat does not slow it, where that is known to be another; `low` is of a warm drive."""
    cool_s: float = inf
    """So long it stays cool, from rest on."""
    disordered_low: float | None = None
    """Of a drive that was written at random since it was purged, where that is known to be another."""

    def low_of(self, target_bytes: float) -> float:
        """Return its mean speed at least over so many bytes."""
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
        More than this it moves in neither direction.
    known
        Loads that were measured or rated.
    fresh_bytes
        So much a drive may write as if it were fresh before it writes as one written for long.
    sources
        In words, what the bounds come from.
    filling
        What is known of writing it full in order, where a cache makes a short look a poor guide.
    command_s
        By whether it writes: the seconds that a command takes at least.
    ceilings
        What is surely not gone beyond, of loads of as large blocks and as many in flight, or less ...
    ahead_bytes
        ... but by what a buffer takes in.
    lasting
        Whether a load goes on as it began: writes leave no other state behind, and no heat builds up.
    discard_bytes_s
        Discards take no longer than so many bytes a second; None where it is not known that they work.
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
        """Return the drive's speed for a load."""
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
        # A figure of a drive that was written for long bounds no fresh one.
        high = min(ceiling, max(highs), _upper_by_others([each for each in kind if not each.settled], load))
        most = min(high, max(settled), _upper_by_others(long_written, load))
        low = max(floor, min(lows), self._low_of_larger(kind, load))
        return Speed(min(low, high), high, most, self.ahead_bytes)

    def _in_order(self, load: Load) -> list[Known]:
        ordered = replace(load, random=False)
        return [each for each in self.known if self._is_kind(each.load, ordered)]

    def _low_of_larger(self, kind: Sequence[Known], load: Load) -> float:
        """Return what random reads move at least by figures of smaller blocks.

        One takes no longer than that of a smaller block, and the rest of its bytes in order. Of writes that
        is not so: larger ones fill a cache, or move more data that is still valid.
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
        """Return how fast it does a mix, both directions together; `read_share` is that of the bytes."""
        if read_share in (0.0, 1.0):
            return self.of(replace(load, writes=read_share == 0.0))
        read, write = (self.of(replace(load, writes=writes)) for writes in (False, True))

        def joined(ends: tuple[float, float]) -> float:
            return 1 / (read_share / ends[0] + (1 - read_share) / ends[1])

        def side_by_side(write_bytes_s: float) -> float:
            # Work that goes on side by side still is, in each direction, no more than that direction alone.
            alone = min(read.high / read_share, write_bytes_s / (1 - read_share))
            return min(2 * self.link_bytes_s, alone, MIXED_MAX * joined((read.high, write_bytes_s)))

        low = MIXED_MIN * joined((read.low, write.low))
        high, settled = side_by_side(write.high), side_by_side(write.settled)
        return Speed(min(low, settled), high, settled, self.ahead_bytes)

    def of_target(self, speed: Speed, target_bytes: float, load: Load) -> Speed:
        """Return how fast a load of so many bytes goes: one that fills the drive as filling it does."""
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
        """Return it for a drive that was at work before, or was written at random since it was purged."""
        fill = self.filling
        if fill is None or not (work or disorder):
            return self
        low = fill.low if fill.disordered_low is None or not disorder else fill.disordered_low
        return replace(self, filling=replace(fill, low=low, cool_low=None))

    def with_known(self, *more: Known, source: str = "") -> Pace:
        """Return it with further knowledge."""
        sources = (*self.sources, source) if source and source not in self.sources else self.sources
        return replace(self, known=(*self.known, *more), sources=sources)

    @staticmethod
    def _is_kind(known: Load, load: Load) -> bool:
        return known.writes == load.writes and known.random == load.random


def _upper_by_others(kind: Sequence[Known], load: Load) -> float:
    """Return what a load moves at most by figures of others, of one state of the drive.

    One of larger blocks and more in flight moves no less; and beyond two depths throughput rises no faster
    than between them.
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
    """Return what random I/O moves at most: in order, as many bytes in flight move no less."""
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
    """Return what is moved at most with more in flight than in two figures, by the slope between them."""
    slope = (more.bytes_s - fewer.bytes_s) / (more.load.in_flight - fewer.load.in_flight)
    share = max(fewer.max_share, more.max_share)
    return share * (more.bytes_s + max(0.0, slope) * (in_flight - more.load.in_flight))


def _nearest(known: Sequence[Known], load: Load) -> list[Known]:
    """Return those of the loads that are nearest to one, and as good as that."""
    nearest = min((each.load.distance(load) for each in known), default=0.0)
    return [each for each in known if each.load.distance(load) <= nearest + NEAR]


ANY_DRIVE = Pace()
"""The bounds if nothing is known."""
