"""Bounds of a simulated drive's speed by closed forms: what limits a rated load, and how slowly it is filled.

Each part is taken alone and at full work; the slowest of them bounds the drive. Source of the write
amplification of uniform random writes: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012.

How fast a simulated drive is written in order at least, by closed forms over its figures.

`rating_limits` bounds a load from above, by the slowest part alone. From below: the buffer parts the host's
side from the flash's, and within each side no part works beside another (E. D. Lazowska et al.,
"Quantitative System Performance" (1984), chapter 5: throughput is no less than one customer's alone). What a
cache took is moved once more, and a limit of power slows what is beyond it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from math import inf, log1p
from statistics import NormalDist

from ssdlab.analysis.one_pass import steady_amplification
from ssdlab.drives.ratings import Judged, Rating
from ssdlab.host.documents import Document
from ssdlab.model.units import fixed_share_text
from ssdlab.model.workload import FILL_BLOCK_BYTES

UNIT_BYTES = 4096
_SEQUENTIAL_BYTES = 128 * 1024
_PAGE_ENTRIES = 1024
"""Entries on a page of the map."""
_CHANGE_BYTES = 8
"""Memory for a changed entry."""
_SIGMAS = 3
"""No stretch of blocks is faster than the profile says by more, of what one block is."""


@dataclass(frozen=True)
class Limit:
    """A part and what it allows, in the unit of the rating."""

    part: str
    value: float


@dataclass(frozen=True)
class Parts:
    """Times of a drive's parts in us, from its profile and what was made of it."""

    made: Document

    def figure(self, table: str, name: str, otherwise: float = 0.0) -> float:
        """Return a figure of the profile; of a list its mean."""
        found = (self.made["profile"].get(table) or {}).get(name)
        if found is None:
            return otherwise
        value = found["value"]
        return sum(value) / len(value) if isinstance(value, list) else float(value)

    @property
    def flash(self) -> str:
        """Name of the table of its medium."""
        return "flash" if self.made["profile"].get("flash") else "xpoint"

    @property
    def dies(self) -> float:
        """Of all channels."""
        return self.channels * self.figure(self.flash, "dies_per_channel")

    @property
    def channels(self) -> float:
        """Between controller and dies."""
        return self.figure(self.flash, "channels")

    @property
    def page_units(self) -> float:
        """Units that an array read brings."""
        return self.figure("flash", "page_kib", 4) / 4 * self.figure("flash", "planes", 1)

    @property
    def transfer_us(self) -> float:
        """Time of a unit on its channel."""
        overhead = 1 + self.figure(self.flash, "bus_overhead_pct") / 100
        return UNIT_BYTES * overhead / self.figure(self.flash, "bus_mt_s")

    @property
    def command_us(self) -> float:
        """Time of a command on its channel."""
        return self.figure(self.flash, "command_us")

    def link_us(self, size: int) -> float:
        """Return the time of so many bytes on the link."""
        return size / self.figure("link", "bandwidth_mb_s") + self.figure("link", "turnaround_us")

    def program_us(self, *, cached: bool, erased: bool = False) -> float:
        """Die time of one unit that is written, its share of the erase with it if that is not done."""
        if self.flash == "xpoint":
            return self.figure("xpoint", "write_us")
        if cached and self.made["profile"].get("slc_cache"):
            return self.figure("slc_cache", "program_us") / self.page_units
        bits = self.figure("flash", "bits_per_cell")
        block_units = self.figure("flash", "pages_per_block") * self.page_units
        program = self.figure("flash", "program_us") / (self.page_units * bits)
        return program if erased else program + self.figure("flash", "erase_ms") * 1e3 / block_units

    @property
    def interrupting_us(self) -> float:
        """Die time of an array read that suspends a program."""
        pauses_us = self.figure("flash", "suspend_us") + self.figure("flash", "resume_us")
        return self.figure(self.flash, "read_us") + pauses_us

    @property
    def units_together(self) -> float:
        """Units of 4 KiB that one entry of the map stands for: they are programmed and moved together."""
        return self.figure("mapping", "unit_kib", 4) / 4

    @property
    def parity(self) -> float:
        """Word lines that are programmed for each of data."""
        dies = self.figure("mapping", "parity_dies")
        return dies / (dies - 1) if dies else 1.0

    @property
    def map_entries(self) -> float:
        """Entries of the map: one for each mapping unit."""
        return float(self.made["profile"]["capacity_bytes"]["value"]) / UNIT_BYTES / self.units_together

    @property
    def changes_mib(self) -> float:
        """Of the memory for a map in flash what holds changed entries: half of it if nothing is said."""
        return self.figure("mapping", "changes_mib", self.figure("mapping", "cache_mib") / 2)

    @property
    def map_misses(self) -> float:
        """Share of random look-ups whose page of the map is not at hand: four bytes map a mapping unit."""
        cache_mib = self.figure("mapping", "cache_mib", math.inf) - self.changes_mib
        return max(0.0, 1 - cache_mib / (self.map_entries * 4 / 2**20))

    def map_updates(self, changed: float) -> tuple[float, float]:
        """Return the pages of a map in flash that are written, and the array reads for them.

        Pages have their turns in order, those together that an array read brings. From one turn to the next
        a page gathers twice the changes that wait for it in the mean. If none comes it is not written: of so
        many that come at random that has a probability of `exp(-gathered)`.

        Parameters
        ----------
        changed
            Entries at random places that change.
        """
        if not self.figure("mapping", "cache_mib"):
            return 0.0, 0.0
        room = self.changes_mib * 2**20 / _CHANGE_BYTES
        gathered = 2 * room / (self.map_entries / _PAGE_ENTRIES)
        written = -changed * math.expm1(-gathered) / gathered
        together = gathered * self.page_units
        return written, -changed * math.expm1(-together) / together

    @property
    def stages(self) -> bool:
        """Whether all writes pass the cache of one bit a cell, and one is folded for each that comes."""
        cache = self.made["profile"].get("slc_cache")
        return bool(cache) and cache["when_full"]["value"] == "fold"

    @property
    def staging_us(self) -> float:
        """Die time of a unit that is written to that cache and read again."""
        return (
            self.figure("slc_cache", "program_us") + self.figure("slc_cache", "read_us")
        ) / self.page_units

    @property
    def slowest_die(self) -> float:
        """By how many times the slowest die is slower than the profile says, in the mean of drives.

        Streams go from die to die, so that all go at its pace. The largest of so many normal numbers is taken
        at its median rank (Blom, "Statistical Estimates and Transformed Beta-Variables", 1958).
        """
        rank = (self.dies - 0.375) / (self.dies + 0.25)
        return 1 + NormalDist().inv_cdf(rank) * self.figure("spread", "die_sigma_pct") / 100

    @property
    def unevenness(self) -> float:
        """By how many times a stretch of blocks may be faster or slower than the profile says."""
        uneven = math.hypot(self.figure("spread", "block_sigma_pct"), self.figure("spread", "die_sigma_pct"))
        return 1 + _SIGMAS * uneven / 100

    def senses_of_a_move(self, amplification: float) -> float:
        """Array reads for each unit that is moved: a victim's pages that hold any valid unit."""
        valid = 1 - 1 / amplification
        if not valid:
            return 0.0
        untouched = math.pow(1 - valid, self.page_units / self.units_together)
        return (1 - untouched) / (valid * self.page_units)

    def collection_us(self, moved: float, senses: float, programs_us: float | None) -> float:
        """Time of what collection moves for one write, and of its command, where few reads are at once.

        Each read is sensed, taken over the channel and entered into the map before the next is asked for, and
        commands of the host are taken between two of them. A read
        waits for the program that its die is at. While a program of `S` runs, reads for its die come at the
        rate `r` (of all, over the number of dies), and the first waits for the rest of it: on average
        `S (1 - (1 - exp(-r S)) / (r S))` for each program. The rate follows from that time in turn. Programs
        that run beside each other are counted one by one, although who waits for one waits for all: no drive
        takes longer, and the best that one can do is never to wait, with commands taken while it reads.

        Parameters
        ----------
        moved
            Units that are moved for one write.
        senses
            Array reads for them.
        programs_us
            Die time of programs and erases for one write, over the number of dies; None: no read waits.
        """
        at_once = self.figure("collection", "reads_at_once")
        if not at_once or not moved:
            return 0.0
        read_us = self.figure("flash", "read_us") + self.command_us
        moves_us = senses * read_us + moved * (self.transfer_us + self.figure("controller", "move_us"))
        if programs_us is None:
            return moves_us / at_once
        # Every one of the reads that are at once is put off by each command.
        busy_us = moves_us + at_once * self.figure("controller", "write_us")
        time_us, for_each = busy_us, self.figure("flash", "program_us") * senses / self.dies
        for _ in range(100):
            met = at_once * for_each / (time_us - (time_us - moves_us) / self.dies)
            waits_us = self.dies * programs_us * (1 + math.expm1(-met) / met)
            time_us = (time_us + busy_us + waits_us) / 2
        return time_us / at_once

    @cached_property
    def write_amplification(self) -> float:
        """In the steady state of uniform random writes over the whole drive."""
        if self.flash == "xpoint":
            return 1.0
        return steady_amplification(self.made["effective_spare"])


def limiting(made: Document, rating: Rating) -> Limit | None:
    """Return the part that bounds a rated load, or None where parts add up, as in a latency or power.

    Parameters
    ----------
    made
        What `check_profile` returns of the drive.
    rating
        The load: its metric, state and depth.
    """
    parts = Parts(made)
    match rating.metric:
        case "sequential_read_mb_s":
            bounds = _reads(parts, _SEQUENTIAL_BYTES, whole_pages=True)
        case "random_read_iops":
            bounds = _reads(parts, UNIT_BYTES, whole_pages=False)
        case "sequential_write_mb_s":
            bounds = part_times(parts, _SEQUENTIAL_BYTES, 1.0, cached=rating.state == "cached", waits=False)
        case "random_write_iops":
            steady = rating.state == "steady" and rating.span_gb is None
            amplification = parts.write_amplification if steady else 1.0
            cached = rating.state == "cached"
            bounds = part_times(parts, UNIT_BYTES, amplification, cached=cached, waits=False, scattered=True)
        case _:
            return None
    part, us = max(bounds.items(), key=lambda bound: bound[1])
    size = 1e6 if rating.metric.endswith("_iops") else _SEQUENTIAL_BYTES
    return Limit(part, size / us)


def random_writes(made: Document, amplification: float | None = None) -> Limit:
    """Return the part that bounds 4 KiB random writes at an amplification, that of steady state if None."""
    parts = Parts(made)
    found = parts.write_amplification if amplification is None else amplification
    bounds = part_times(parts, UNIT_BYTES, found, cached=False, scattered=True)
    part, us = max(bounds.items(), key=lambda bound: bound[1])
    return Limit(part, 1e6 / us)


def fastest_writes(made: Document, block_bytes: int) -> float:
    """Return the bytes a second that no writes go beyond: into a cache, or into flash that is erased."""
    parts = Parts(made)
    times = part_times(parts, block_bytes, 1.0, cached=True, erased=True, waits=False)
    return block_bytes * 1e6 / max(times.values()) * parts.unevenness


def buffer_bytes(made: Document) -> float:
    """Return what a drive takes in ahead of its flash."""
    return Parts(made).figure("buffer", "size_mib") * 2**20


def command_s(made: Document, *, writes: bool) -> float:
    """Return the seconds that a command takes at least: its way and its core."""
    parts = Parts(made)
    core = "write_us" if writes else "read_us"
    return (parts.figure("link", "command_us") + parts.figure("controller", core)) / 1e6


def _reads(parts: Parts, size: int, *, whole_pages: bool) -> dict[str, float]:
    """Time that each part takes for one read, in us."""
    units = size / UNIT_BYTES
    senses = units / parts.page_units if whole_pages else units
    read_us = parts.figure(parts.flash, "read_us")
    missed = 0.0 if whole_pages else parts.map_misses
    reads = senses + missed
    return {
        "link": parts.link_us(size),
        "controller cores": parts.figure("controller", "read_us") / parts.figure("controller", "cores"),
        "channels": ((units + missed) * parts.transfer_us + reads * parts.command_us) / parts.channels,
        "flash": reads * read_us / parts.dies,
    }


def part_times(
    parts: Parts,
    size: int,
    amplification: float,
    *,
    cached: bool,
    erased: bool = False,
    waits: bool = True,
    scattered: bool = False,
) -> dict[str, float]:
    """Time that each part takes for one write and what collection does for it, in us.

    `waits`: whether moves wait for programs and all dies for the slowest, as they do where a speed is
    predicted; not where it is bounded.
    `scattered`: it is at a place at random, so that no other write meets it in the buffer, and what it lacks
    of a mapping unit is read and programmed with it; nor do entries of a map in flash that it changes share
    more of their pages than chance has it. What is not may share all of them: their pages are left out.
    """
    units = size / UNIT_BYTES
    placed = max(units, parts.units_together) if scattered else units
    lacking = placed - units
    moved = placed * (amplification - 1)
    data_mb_s = parts.figure("controller", "data_mb_s", math.inf)
    senses = moved * parts.senses_of_a_move(amplification)
    rests = 1 if lacking else 0
    staged = 1 if parts.stages and not cached else 0
    # Its entry changes whenever it is placed, folded or moved.
    map_pages, map_reads = parts.map_updates(amplification + staged) if scattered else (0.0, 0.0)
    map_us = map_pages * parts.program_us(cached=False, erased=True) + map_reads * parts.interrupting_us
    with_parity = amplification * parts.parity
    program_us = parts.program_us(cached=cached, erased=erased)
    programs_us = placed * (with_parity * program_us + staged * parts.staging_us) / parts.dies
    slowest = parts.slowest_die if waits else 1.0
    cores_us = parts.figure("controller", "write_us") + moved * parts.figure("controller", "move_us")
    return {
        "link": parts.link_us(size),
        "controller cores": cores_us / parts.figure("controller", "cores"),
        "controller data path": placed * (amplification + staged) * UNIT_BYTES / data_mb_s,
        "channels": (placed * (with_parity + 2 * staged) + moved + lacking + 2 * map_pages)
        * parts.transfer_us
        / parts.channels,
        "flash": slowest
        * (programs_us + ((senses + rests) * parts.figure(parts.flash, "read_us") + map_us) / parts.dies),
        "collection": parts.collection_us(moved, senses, programs_us if waits else None),
    }


def limit_text(made: Document, judged: Judged) -> str:
    """Return the part that bounds a rated load, and how near the drive came to it: ``link (98 %)``.

    Empty where parts add up, or where the drive does not tell.
    """
    limit = limiting(made, judged.rating)
    if limit is None or judged.model is None:
        return ""
    return f"{limit.part} ({fixed_share_text(round(judged.model / limit.value, 2))})"


_UNITS = FILL_BLOCK_BYTES / UNIT_BYTES
_HOST = ("link", "controller cores")
_FLASH = ("controller data path", "channels", "flash", "collection")
"""The data path lies behind the buffer: for what the host wrote, and for what collection moves."""


@dataclass(frozen=True)
class SlowestFill:
    """Bytes a second at least of writing a drive in order; cool, and as warm as it may be."""

    cool_bytes_s: float
    cool_s: float
    """So long a drive stays cool that begins at rest; inf where no heat limits it."""
    warm_bytes_s: float


def slowest_fill(made: Document, share: float, *, in_order: bool = True) -> SlowestFill | None:
    """Return how fast a drive is written in order at least; None where no part says.

    Parameters
    ----------
    made
        What `check_profile` returns of the drive.
    share
        Of the capacity that is written at least: over more of it a cache counts for less.
    in_order
        Whether it is fresh, or was written in order. Else what is valid in a victim has to be moved: over
        a whole pass no more than random writes move in their steady state.
    """
    parts = Parts(made)
    if not made["write_cache"]:
        return None  # each write waits for its own program: how many dies are at work hangs on the depth
    amplification = 1.0 if in_order else parts.write_amplification
    times = part_times(parts, FILL_BLOCK_BYTES, amplification, cached=False)
    host_us = sum(times.get(name, 0.0) for name in _HOST) + 1e6 * command_s(made, writes=True)
    flash_us = sum(times.get(name, 0.0) for name in _FLASH)
    flash_us += _cached_share(parts, share) * _moved_us(parts)
    cool = FILL_BLOCK_BYTES * 1e6 / (max(host_us, flash_us) * parts.unevenness)
    if not parts.made["profile"].get("power"):
        return SlowestFill(cool, inf, cool)
    if made["power_cap_w"] is not None:
        cool = min(cool, _rate_within(parts, float(made["power_cap_w"]), amplification))
    caps_w, cool_s = _of_heat(parts, fastest_writes(made, FILL_BLOCK_BYTES))
    warm = min([cool, *(_rate_within(parts, each, amplification) for each in caps_w)])
    return SlowestFill(cool, cool_s, warm)


def _cached_share(parts: Parts, share: float) -> float:
    """Return what share of the writes passes a cache and is moved once more, beside all that is staged."""
    if parts.stages or not parts.made["profile"].get("slc_cache"):
        return 0.0
    cache_bytes = parts.figure("slc_cache", "size_gb") * 1e9
    return min(1.0, cache_bytes / (share * float(parts.made["profile"]["capacity_bytes"]["value"])))


def _moved_us(parts: Parts) -> float:
    """Return the time of one write that is programmed into a cache, read from it and moved, in us."""
    channels_us = _UNITS * 2 * parts.transfer_us / parts.channels
    data_us = FILL_BLOCK_BYTES / parts.figure("controller", "data_mb_s", inf)
    return _UNITS * parts.staging_us / parts.dies + channels_us + data_us


def _of_heat(parts: Parts, fastest_bytes_s: float) -> tuple[list[float], float]:
    """Return the limits of power that heat may bring into force, in W, and after how many seconds at rest."""
    thermal = parts.made["profile"].get("thermal")
    if not thermal:
        return [], inf
    k_per_w, ambient_c = (parts.figure("thermal", name) for name in ("resistance_k_per_w", "ambient_c"))
    made_w = parts.made["power_cap_w"]
    draws_w = _max_w(parts, fastest_bytes_s) if made_w is None else float(made_w)
    rest_c, warmest_c = (ambient_c + watts * k_per_w for watts in (_awake_w(parts), draws_w))
    time_constant_s = parts.figure("thermal", "time_constant_s")

    def seconds_to(above_c: float) -> float:
        left = max(0.0, above_c - rest_c) / (warmest_c - rest_c)
        return -time_constant_s * log1p(-left)

    if graded := thermal.get("graded"):
        from_c, from_w, to_c, to_w = (graded[name]["value"] for name in ("from_c", "from_w", "to_c", "to_w"))
        if warmest_c <= from_c:
            return [], inf
        w_per_c = (from_w - to_w) / (to_c - from_c)
        # Where what it may draw keeps it as warm as it is.
        even_w = (from_w + (from_c - ambient_c) * w_per_c) / (1.0 + k_per_w * w_per_c)
        return [max(to_w, even_w)], seconds_to(from_c)
    caps_w: list[float] = []
    cool_s = inf
    for point in thermal.get("throttle", ()):
        above_c = point["above_c"]["value"]
        if warmest_c <= above_c:
            break
        if not caps_w:
            cool_s = seconds_to(above_c)
        caps_w.append(float(point["cap_w"]["value"]))
        warmest_c = ambient_c + caps_w[-1] * k_per_w
    return caps_w, cool_s


def _awake_w(parts: Parts) -> float:
    return (parts.figure("power", "idle_mw") + parts.figure("power", "active_mw")) / 1e3


def _max_w(parts: Parts, bytes_s: float) -> float:
    """Return what it draws at most while it writes: all dies at work, and so many bytes a second."""
    busiest_mw = max(parts.figure("power", f"die_{does}_mw") for does in ("read", "program", "erase"))
    write_j = _write_j(parts, 1.0) - _dies_j(parts, 1.0)
    return _awake_w(parts) + parts.dies * busiest_mw / 1e3 + write_j * bytes_s / FILL_BLOCK_BYTES


def _rate_within(parts: Parts, watts: float, amplification: float) -> float:
    return FILL_BLOCK_BYTES * max(0.0, watts - _awake_w(parts)) / _write_j(parts, amplification)


def _dies_j(parts: Parts, amplification: float) -> float:
    times = part_times(parts, FILL_BLOCK_BYTES, amplification, cached=False, waits=False)
    return times["flash"] * parts.dies * parts.figure("power", "die_program_mw") * 1e-9


def _write_j(parts: Parts, amplification: float) -> float:
    """Return the energy of one write and what is moved for it: of dies, channels, controller and link."""
    moves = _UNITS * amplification * parts.parity
    staged = _UNITS * 2 if parts.made["profile"].get("slc_cache") else 0.0
    return (
        _dies_j(parts, amplification)
        + (moves + staged) * parts.figure("power", "transfer_nj") * 1e-9
        + parts.figure("power", "command_uj") * 1e-6
        + FILL_BLOCK_BYTES * parts.figure("power", "link_pj_per_byte") * 1e-12
    )
