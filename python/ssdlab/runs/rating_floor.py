"""How fast a simulated drive is written in order at least, by closed forms over its figures.

`rating_limits` bounds a load from above, by the slowest part alone. From below: the buffer parts the host's
side from the flash's, and within each side no part works beside another (E. D. Lazowska et al.,
"Quantitative System Performance" (1984), chapter 5: throughput is no less than one customer's alone). What a
cache took is moved once more, and a limit of power slows what is beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log1p
from typing import TYPE_CHECKING

from ssdlab.model.workload import FILL_BLOCK_BYTES
from ssdlab.runs.rating_limits import UNIT_BYTES, Parts, command_s, fastest_writes, part_times

if TYPE_CHECKING:
    from ssdlab.host.documents import Document

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
