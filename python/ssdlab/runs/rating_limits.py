"""Bounds of a simulated drive's speed in closed form: upper bounds for rated loads, lower bounds for fills.

Upper bound: each part is taken alone and fully busy; the slowest part bounds the drive. Source of the write
amplification of uniform random writes: Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012.

Lower bound: the write buffer separates the host side from the flash side, so the slower side counts. The
parts of one side are assumed never to overlap (E. D. Lazowska et al., "Quantitative System Performance"
(1984), chapter 5: throughput is no less than that of a single customer). Cached data is moved once more, and
a power limit lowers the rate further.
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
"""Bytes of memory for a changed entry."""
_SIGMAS = 3
"""Standard deviations of one block's speed; no stretch of blocks deviates more from the profile."""


@dataclass(frozen=True)
class Limit:
    """A part of the drive and the maximum that it allows, in the rating's unit."""

    part: str
    value: float


@dataclass(frozen=True)
class Parts:
    """Times of a drive's parts in us, from the result of `check_profile`."""

    made: Document

    def figure(self, table: str, name: str, otherwise: float = 0.0) -> float:
        """Return a figure of the profile, or the mean of a list; `otherwise` if the profile has none."""
        found = (self.made["profile"].get(table) or {}).get(name)
        if found is None:
            return otherwise
        value = found["value"]
        return sum(value) / len(value) if isinstance(value, list) else float(value)

    @property
    def flash(self) -> str:
        """Name of the profile's table for the storage medium."""
        return "flash" if self.made["profile"].get("flash") else "xpoint"

    @property
    def dies(self) -> float:
        """Number of dies on all channels."""
        return self.channels * self.figure(self.flash, "dies_per_channel")

    @property
    def channels(self) -> float:
        return self.figure(self.flash, "channels")

    @property
    def page_units(self) -> float:
        """4 KiB units that one array read returns."""
        return self.figure("flash", "page_kib", 4) / 4 * self.figure("flash", "planes", 1)

    @property
    def transfer_us(self) -> float:
        """Time to transfer one unit on its channel."""
        overhead = 1 + self.figure(self.flash, "bus_overhead_pct") / 100
        return UNIT_BYTES * overhead / self.figure(self.flash, "bus_mt_s")

    @property
    def command_us(self) -> float:
        return self.figure(self.flash, "command_us")

    def link_us(self, size: int) -> float:
        return size / self.figure("link", "bandwidth_mb_s") + self.figure("link", "turnaround_us")

    def program_us(self, *, cached: bool, erased: bool = False) -> float:
        """Return the die time to program one unit, with its share of an erase unless that is done."""
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
        pauses_us = self.figure("flash", "suspend_us") + self.figure("flash", "resume_us")
        return self.figure(self.flash, "read_us") + pauses_us

    @property
    def units_together(self) -> float:
        """4 KiB units in a mapping unit, which is programmed and moved as a whole."""
        return self.figure("mapping", "unit_kib", 4) / 4

    @property
    def parity(self) -> float:
        """Word lines programmed per word line of data, including parity."""
        dies = self.figure("mapping", "parity_dies")
        return dies / (dies - 1) if dies else 1.0

    @property
    def map_entries(self) -> float:
        return float(self.made["profile"]["capacity_bytes"]["value"]) / UNIT_BYTES / self.units_together

    @property
    def changes_mib(self) -> float:
        """Part of the map cache that holds changed entries, in MiB; by default half of the cache."""
        return self.figure("mapping", "changes_mib", self.figure("mapping", "cache_mib") / 2)

    @property
    def map_misses(self) -> float:
        """Share of random look-ups whose map page is not cached, with four bytes per mapping unit."""
        cache_mib = self.figure("mapping", "cache_mib", math.inf) - self.changes_mib
        return max(0.0, 1 - cache_mib / (self.map_entries * 4 / 2**20))

    def map_updates(self, changed: float) -> tuple[float, float]:
        """Return the pages of a map in flash that are written, and the array reads for them.

        Map pages are written in turn; pages that one array read returns are written together. From one turn
        to the next, a page gathers twice the mean number of its waiting changes. A page without changes is
        not written. If changes are at random places, this has the probability `exp(-gathered)`.

        Parameters
        ----------
        changed
            Number of map entries at random places that change.
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
        """Whether each write passes the SLC cache, and folds one cached unit into the main flash."""
        cache = self.made["profile"].get("slc_cache")
        return bool(cache) and cache["when_full"]["value"] == "fold"

    @property
    def staging_us(self) -> float:
        """Die time to write a unit to the SLC cache and to read it again."""
        return (
            self.figure("slc_cache", "program_us") + self.figure("slc_cache", "read_us")
        ) / self.page_units

    @property
    def slowest_die(self) -> float:
        """Expected time of the slowest die, as a multiple of the profile's time.

        Streams go from die to die, so all run at the pace of the slowest die. Its deviation is the expected
        largest of so many normal values (Blom, "Statistical Estimates and Transformed Beta-Variables", 1958).
        """
        rank = (self.dies - 0.375) / (self.dies + 0.25)
        return 1 + NormalDist().inv_cdf(rank) * self.figure("spread", "die_sigma_pct") / 100

    @property
    def unevenness(self) -> float:
        """Factor by which a stretch of blocks may be faster or slower than the profile."""
        uneven = math.hypot(self.figure("spread", "block_sigma_pct"), self.figure("spread", "die_sigma_pct"))
        return 1 + _SIGMAS * uneven / 100

    def senses_of_a_move(self, amplification: float) -> float:
        """Return the array reads per moved unit; each read of a victim's page brings all its valid units."""
        valid = 1 - 1 / amplification
        if not valid:
            return 0.0
        untouched = math.pow(1 - valid, self.page_units / self.units_together)
        return (1 - untouched) / (valid * self.page_units)

    def collection_us(self, moved: float, senses: float, programs_us: float | None) -> float:
        """Return the time, in us, of collection and command for one host write, if few reads run at once.

        It is 0 if reads are not limited. Each read is sensed, transferred over the channel and entered into
        the map before the next read starts. Host commands are served between two reads.

        A read waits if its die is programming. While a program of duration `S` runs, reads for its die arrive
        at the rate `r`: the rate of all reads over the number of dies. The first of them waits for the rest
        of the program, on average `S (1 - (1 - exp(-r S)) / (r S))` per program. The rate depends on that
        time in turn, so it is found by iteration. Simultaneous programs are counted one by one, although a
        read waits for all of them at once. So the result is an upper bound. If no read ever waits, and
        commands are served while collection reads, it is a lower bound.

        Parameters
        ----------
        moved
            Units moved for one write.
        senses
            Array reads for the moved units.
        programs_us
            Die time of programs and erases for one write, divided by the number of dies; None: no read waits.
        """
        at_once = self.figure("collection", "reads_at_once")
        if not at_once or not moved:
            return 0.0
        read_us = self.figure("flash", "read_us") + self.command_us
        moves_us = senses * read_us + moved * (self.transfer_us + self.figure("controller", "move_us"))
        if programs_us is None:
            return moves_us / at_once
        # Each command delays all reads that run at once.
        busy_us = moves_us + at_once * self.figure("controller", "write_us")
        time_us, for_each = busy_us, self.figure("flash", "program_us") * senses / self.dies
        for _ in range(100):
            met = at_once * for_each / (time_us - (time_us - moves_us) / self.dies)
            waits_us = self.dies * programs_us * (1 + math.expm1(-met) / met)
            time_us = (time_us + busy_us + waits_us) / 2
        return time_us / at_once

    @cached_property
    def write_amplification(self) -> float:
        """Write amplification in steady state, for uniform random writes over the whole drive."""
        if self.flash == "xpoint":
            return 1.0
        return steady_amplification(self.made["effective_spare"])


def limiting(made: Document, rating: Rating) -> Limit | None:
    """Return the part that bounds a rated load; None where parts add up, as in a latency or power.

    Parameters
    ----------
    made
        The drive, from `check_profile`.
    rating
        The rated load: its metric, state and depth.
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
    """Return the part that bounds 4 KiB random writes at an amplification; None: that of steady state."""
    parts = Parts(made)
    found = parts.write_amplification if amplification is None else amplification
    bounds = part_times(parts, UNIT_BYTES, found, cached=False, scattered=True)
    part, us = max(bounds.items(), key=lambda bound: bound[1])
    return Limit(part, 1e6 / us)


def fastest_writes(made: Document, block_bytes: int) -> float:
    """Return the maximum rate of writes, in bytes a second: into a cache, or into erased flash."""
    parts = Parts(made)
    times = part_times(parts, block_bytes, 1.0, cached=True, erased=True, waits=False)
    return block_bytes * 1e6 / max(times.values()) * parts.unevenness


def buffer_bytes(made: Document) -> float:
    return Parts(made).figure("buffer", "size_mib") * 2**20


def command_s(made: Document, *, writes: bool) -> float:
    """Return the minimum seconds of a command: on the link and on a controller core."""
    parts = Parts(made)
    core = "write_us" if writes else "read_us"
    return (parts.figure("link", "command_us") + parts.figure("controller", core)) / 1e6


def _reads(parts: Parts, size: int, *, whole_pages: bool) -> dict[str, float]:
    """Return the time of each part for one read, in us."""
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
    """Return the time of each part for one write and the collection that it causes, in us.

    Parameters
    ----------
    size
        Bytes of the write.
    cached
        Whether the SLC cache takes the write.
    erased
        Whether the flash is already erased, so that no erase counts.
    waits
        Whether moves wait for programs, and all dies for the slowest. This predicts a speed; without it the
        result bounds the speed.
    scattered
        Whether the write is at a random place. Then no other write joins it in the buffer. The rest of its
        mapping unit is read and programmed with it. Changed map entries share pages only by chance. If
        not scattered, they may share all pages, so map pages are left out.
    """
    units = size / UNIT_BYTES
    placed = max(units, parts.units_together) if scattered else units
    lacking = placed - units
    moved = placed * (amplification - 1)
    data_mb_s = parts.figure("controller", "data_mb_s", math.inf)
    senses = moved * parts.senses_of_a_move(amplification)
    rests = 1 if lacking else 0
    staged = 1 if parts.stages and not cached else 0
    # The map entry changes each time a unit is placed, folded or moved.
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
    """Return the part that bounds a rated load, and how close the drive came to the bound: ``link (98 %)``.

    Empty where parts add up, or where the drive has no figure.
    """
    limit = limiting(made, judged.rating)
    if limit is None or judged.model is None:
        return ""
    return f"{limit.part} ({fixed_share_text(round(judged.model / limit.value, 2))})"


_UNITS = FILL_BLOCK_BYTES / UNIT_BYTES
_HOST = ("link", "controller cores")
_FLASH = ("controller data path", "channels", "flash", "collection")
"""The data path is behind the write buffer; it carries host writes and the moves of collection."""


@dataclass(frozen=True)
class SlowestFill:
    """Minimum rates of sequential writes, in bytes a second, for a cool drive and for the hottest."""

    cool_bytes_s: float
    cool_s: float
    """Seconds for which a drive stays cool after it starts at rest; inf where heat does not limit it."""
    warm_bytes_s: float


def slowest_fill(made: Document, share: float, *, in_order: bool = True) -> SlowestFill | None:
    """Return the minimum rates of filling a drive; None without a write cache.

    Parameters
    ----------
    made
        The drive, from `check_profile`.
    share
        Minimum share of the capacity that is written. The larger it is, the less a cache matters.
    in_order
        Whether the drive is fresh or was written sequentially. Otherwise valid data must be moved: over a
        whole pass, no more than random writes move in steady state.
    """
    parts = Parts(made)
    if not made["write_cache"]:
        return None  # each write waits for its own program, so the number of busy dies depends on the depth
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
    """Return the share of writes that is cached and then moved; 0 if all writes are staged."""
    if parts.stages or not parts.made["profile"].get("slc_cache"):
        return 0.0
    cache_bytes = parts.figure("slc_cache", "size_gb") * 1e9
    return min(1.0, cache_bytes / (share * float(parts.made["profile"]["capacity_bytes"]["value"])))


def _moved_us(parts: Parts) -> float:
    """Return the time, in us, to program one write into a cache, read it and move it."""
    channels_us = _UNITS * 2 * parts.transfer_us / parts.channels
    data_us = FILL_BLOCK_BYTES / parts.figure("controller", "data_mb_s", inf)
    return _UNITS * parts.staging_us / parts.dies + channels_us + data_us


def _of_heat(parts: Parts, fastest_bytes_s: float) -> tuple[list[float], float]:
    """Return the power limits that heat may impose, in W, and after how many seconds from rest."""
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
        # The limit at which the drive's power keeps its temperature constant.
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
    """Return the maximum power while writing `bytes_s` bytes a second with all dies busy."""
    busiest_mw = max(parts.figure("power", f"die_{does}_mw") for does in ("read", "program", "erase"))
    write_j = _write_j(parts, 1.0) - _dies_j(parts, 1.0)
    return _awake_w(parts) + parts.dies * busiest_mw / 1e3 + write_j * bytes_s / FILL_BLOCK_BYTES


def _rate_within(parts: Parts, watts: float, amplification: float) -> float:
    return FILL_BLOCK_BYTES * max(0.0, watts - _awake_w(parts)) / _write_j(parts, amplification)


def _dies_j(parts: Parts, amplification: float) -> float:
    times = part_times(parts, FILL_BLOCK_BYTES, amplification, cached=False, waits=False)
    return times["flash"] * parts.dies * parts.figure("power", "die_program_mw") * 1e-9


def _write_j(parts: Parts, amplification: float) -> float:
    """Return the energy of one write and its moves: dies, channels, controller and link."""
    moves = _UNITS * amplification * parts.parity
    staged = _UNITS * 2 if parts.made["profile"].get("slc_cache") else 0.0
    return (
        _dies_j(parts, amplification)
        + (moves + staged) * parts.figure("power", "transfer_nj") * 1e-9
        + parts.figure("power", "command_uj") * 1e-6
        + FILL_BLOCK_BYTES * parts.figure("power", "link_pj_per_byte") * 1e-12
    )
