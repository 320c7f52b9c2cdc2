"""What is known of a drive's speed before a run: its link, its ratings, earlier runs of it.

`probe` measures it; what is put together here touches nothing.

How fast a simulated drive is written in order at least, by closed forms over its figures.

`rating_limits` bounds a load from above, by the slowest part alone. From below: the buffer parts the host's
side from the flash's, and within each side no part works beside another (E. D. Lazowska et al.,
"Quantitative System Performance" (1984), chapter 5: throughput is no less than one customer's alone). What a
cache took is moved once more, and a limit of power slows what is beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from math import inf, log1p
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.analysis.pace import ANY_DRIVE, FASTEST_BYTES_S, Filling, Known, Load, Pace
from ssdlab.drives.power_features import COMPARED_LINK_POLICIES
from ssdlab.drives.ratings import rated_values
from ssdlab.drives.settings.nvme_power import LINK_POWER
from ssdlab.drives.spare import spare_of
from ssdlab.host.identity import Identity, link_bytes_s
from ssdlab.lab.verbs.stream_bounds import load_of
from ssdlab.lab.verbs.verb import Planning
from ssdlab.model.arrival import Closed
from ssdlab.model.errors import LabError
from ssdlab.model.pattern import Recording
from ssdlab.model.power_features import SAVING_OFF, PowerFeatures
from ssdlab.model.units import significant
from ssdlab.model.workload import FILL_BLOCK_BYTES, Mix
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders
from ssdlab.runs.rating_limits import UNIT_BYTES, Parts, buffer_bytes, command_s, fastest_writes, part_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.drives.base import Drive
    from ssdlab.drives.ratings import Rated
    from ssdlab.host.documents import Document
    from ssdlab.results.run_folder import Step

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


FRESH_CAPACITIES = 1.3
"""A fresh drive writes at its first speed until its flash is full: its capacity and the spare area, which is
so much where nobody knows it ..."""
CACHE_CAPACITIES = 0.05
"""... and what a cache takes in beside."""
SETTLED_CAPACITIES = 1.5
"""Written over so often by random writes a drive is as it will stay, near enough for a plan."""
FILLS_FROM = 0.3
"""Of a capacity: what writes so much in order goes beyond any cache."""
RUNS_READ = 12
"""Earlier runs of the drive that are read, the newest first ..."""
STEPS_READ = 400
"""... and of them together so many steps."""
_EARLIER = (0.6, 1.6)
"""What the same load gives on another day: other state, other load of the host."""
_RATED: dict[str, tuple[bool, bool, int, tuple[float, float]]] = {
    "sequential_read_mb_s": (False, False, 128 * 1024, (0.5, 1.15)),
    "sequential_write_mb_s": (True, False, 128 * 1024, (0.3, 1.15)),
    "random_read_iops": (False, True, 4096, (0.4, 1.25)),
    "random_write_iops": (True, True, 4096, (0.5, 2.0)),
}
"""Of each metric: whether it writes, whether it is random, its block, and what of it a drive will do. Makers
rate reads at their best, and steady random writes as floors."""
_IN_FLIGHT = 32
_LARGEST_BYTES = 16 << 20
"""Of blocks."""
_UNSTEADY_MIN = 0.05
"""What is left of a random write rating of a fresh drive or a cache when the drive was written for long."""


def planning_of(drive: Identity | Drive, pace: Pace | None = None) -> Planning:
    """Return what a plan knows of a drive; `pace` is what is known beyond link and ratings."""
    identity = drive if isinstance(drive, Identity) else drive.identity
    if not isinstance(identity, Identity):  # that of a record, whose drive may be gone
        return Planning(purges_at_once=drive.capabilities.purges_at_once, pace=pace or ANY_DRIVE)
    found = pace or pace_of(identity)
    return Planning(
        purges_at_once=drive.capabilities.purges_at_once,
        purge_max_s=cache(partial(_purge_max_s, identity, found)),
        pace=found,
        power_features=partial(planned_features, identity),
    )


def pace_of(identity: Identity, library: Path | None = None) -> Pace:
    """Return what is known of a drive: by its link, its ratings and, in a library, earlier runs of it."""
    found = Pace(fresh_bytes=_fresh_capacities(identity) * identity.capacity_bytes)
    made = _made(identity)
    link = _link_of(identity) if made is None else 1e6 * made["profile"]["link"]["bandwidth_mb_s"]["value"]
    if link is not None:
        words = f"link, {significant(link / 1e6)} MB/s"
        found = Pace(min(link, FASTEST_BYTES_S), fresh_bytes=found.fresh_bytes, sources=(words,))
    if made is not None:
        found = _with_profile(found, made, identity)
    rated = tuple(_of_ratings(identity))
    if rated:
        found = found.with_known(*rated, source="ratings")
    if library is not None:
        measured = tuple(_of_earlier_runs(identity, library))
        if measured:
            found = found.with_known(*measured, source="earlier runs of this drive")
    return found


def _fresh_capacities(identity: Identity) -> float:
    try:
        share = spare_of(identity).share
    except LabError:
        share = None  # a wrong drive record is said by who needs it
    return FRESH_CAPACITIES if share is None else 1 / (1 - share) + CACHE_CAPACITIES


def _link_of(identity: Identity) -> float | None:
    if not identity.capabilities.block_device:
        return None
    from ssdlab.host.attributes import disk_of

    node = (Path("/sys/class/block") / identity.name.replace("/", "!")).resolve()
    return link_bytes_s(disk_of(node), identity.transport)


def _made(identity: Identity) -> Document | None:
    """Return what a profile says of a simulated drive; None of any other."""
    if not identity.capabilities.made_to_order:
        return None
    from ssdlab.drives.simulated.profiles import check_profile
    from ssdlab.drives.simulated.text import SimulatedText

    text = SimulatedText.parse(identity.path)
    return check_profile(text.profile, **text.settings())


def _with_profile(pace: Pace, made: Document, identity: Identity) -> Pace:
    """Add what the parts of a simulated drive allow: no writes go beyond, and no command is shorter."""
    ceilings = tuple(
        Known(Load(True, random, block, inf), fastest_writes(made, block), max_share=1.0, source="profile")
        for random, block in ((False, _LARGEST_BYTES), (True, _LARGEST_BYTES), (True, 4096))
    )
    fastest = significant(min(pace.link_bytes_s, ceilings[0].bytes_s) / 1e6)
    return replace(
        pace,
        ceilings=ceilings,
        filling=_filling(made, identity),
        ahead_bytes=buffer_bytes(made),
        command_s={writes: command_s(made, writes=writes) for writes in (False, True)},
        lasting=bool(made["profile"].get("xpoint")) and not made["profile"].get("thermal"),
        sources=(*pace.sources, f"profile, at most {fastest} MB/s of writes"),
    )


def _filling(made: Document, identity: Identity) -> Filling | None:
    """Return how fast a simulated drive is written full at least, by its parts."""
    from ssdlab.drives.simulated.text import SimulatedText

    ordered, disordered = (slowest_fill(made, FILLS_FROM, in_order=each) for each in (True, False))
    if ordered is None or disordered is None:
        return None
    found = Filling(
        FILLS_FROM * identity.capacity_bytes,
        ordered.warm_bytes_s,
        None,
        FILL_BLOCK_BYTES,
        ordered.cool_bytes_s,
        ordered.cool_s,
        disordered.warm_bytes_s,
    )
    if SimulatedText.parse(identity.path).state is None:
        return found
    return replace(found, low=disordered.warm_bytes_s, cool_low=None)


def _of_ratings(identity: Identity) -> Iterator[Known]:
    try:
        ratings = rated_values(identity)
    except LabError:
        return  # a wrong drive record is said by who needs it
    for rated in ratings:
        if rated.metric in _RATED:
            yield from _of_rating(rated)


def _of_rating(rated: Rated) -> Iterator[Known]:
    writes, random, block_bytes, (lowest, highest) = _RATED[rated.metric]
    load = Load(writes, random, block_bytes, _IN_FLIGHT)
    bytes_s = rated.value * (1e6 if rated.metric.endswith("mb_s") else block_bytes)
    steady = rated.state == "steady"
    if writes and not steady:
        lowest = _UNSTEADY_MIN
    yield Known(load, bytes_s, lowest, highest, settled=writes and random and steady, source="rating")
    if writes and not random:
        # A fresh drive writes at random as fast as in order: nothing has to be collected.
        over = Load(writes=True, random=True, block_bytes=4096, in_flight=_IN_FLIGHT)
        yield Known(over, bytes_s, _UNSTEADY_MIN, highest, source="rating")


def _of_earlier_runs(identity: Identity, library: Path) -> Iterator[Known]:
    """Yield the loads that finished steps of earlier runs of the drive have measured, newest first."""
    found = (known for folder in _runs_of(identity, library) for known in _of_run(folder))
    yield from islice(found, STEPS_READ)


def _runs_of(identity: Identity, library: Path) -> Iterator[Path]:
    left = RUNS_READ
    for folder in sorted(run_folders(library), reverse=True):
        try:
            drive = RunFolder(folder).manifest.drive
        except LabError:
            continue
        if drive.id == identity.consent_id and drive.capacity_bytes == identity.capacity_bytes:
            yield folder
            left -= 1
        if not left:
            return


def _of_run(folder: Path) -> Iterator[Known]:
    try:
        run = RunFolder(folder)
        steps, capacity_bytes = run.steps(), run.manifest.drive.capacity_bytes
    except LabError:
        return
    written = 0.0
    for step in steps:
        written = 0.0 if step.verb == "purge" else written
        known = known_of(step, written / capacity_bytes)
        written += step.written_bytes
        if known is not None:
            yield known


def known_of(step: Step, capacities: float, share: tuple[float, float] = _EARLIER) -> Known | None:
    """Return what a measured step of one stream says of the drive; None of a mix, a rate or a replay.

    Parameters
    ----------
    step
        Finished.
    capacities
        Written to the drive before it, since it was purged.
    share
        Between what shares of it other steps of the load will lie.
    """
    workload, summary = step.workload, step.summary
    if workload is None or summary is None or len(workload.streams) != 1 or not summary.moved_bytes:
        return None
    (stream,) = workload.streams
    pure = isinstance(stream.ops, Mix) and stream.ops.read_pct in (0, 100)
    if not pure or not isinstance(stream.arrival, Closed) or isinstance(stream.pattern, Recording):
        return None
    if stream.arrival.think_ns:
        return None
    load = load_of(stream)
    settled = load.writes and load.random and capacities >= SETTLED_CAPACITIES
    return Known(load, summary.mb_s * 1e6, *share, settled=settled, source="run")


def _purge_max_s(identity: Identity, pace: Pace, method: str | None) -> float | None:
    """Return how long a purge takes at most, by what a block device says of itself; None if unknown."""
    if not identity.capabilities.block_device:
        return None
    from ssdlab.drives.purge import check_method
    from ssdlab.drives.purge.expected import longest_s
    from ssdlab.drives.trim.medium import SAMPLE_BYTES

    zeroes = pace.of(Load(writes=True, random=False, block_bytes=1 << 20, in_flight=1)).low
    command_s = max(
        SAMPLE_BYTES / pace.of(Load(writes, random=True, block_bytes=SAMPLE_BYTES, in_flight=1)).low
        for writes in (False, True)
    )
    named = None if method is None else check_method(method)
    return longest_s(identity, named, zeroes, command_s, discard_bytes_s=pace.discard_bytes_s)


def planned_features(identity: Identity) -> PowerFeatures | None:
    """Return what a drive has that is not opened: of a simulated one all, of SATA what its link has."""
    if identity.capabilities.made_to_order:
        from ssdlab.drives.simulated.profiles import check_profile
        from ssdlab.drives.simulated.saving import features_of_profile
        from ssdlab.drives.simulated.text import SimulatedText

        return features_of_profile(check_profile(SimulatedText.parse(identity.path).profile)["profile"])
    if identity.transport == "sata":
        values = (SAVING_OFF[LINK_POWER], *COMPARED_LINK_POLICIES)
        return PowerFeatures(protocol="sata", saving=LINK_POWER, values=values, found=values[0])
    return None
