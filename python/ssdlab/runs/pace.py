"""What is known about a drive's speed before a run: link, ratings, earlier runs, minimum by model.

Nothing here touches the drive; `probe` measures it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import islice
from math import inf
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
from ssdlab.runs.rating_limits import buffer_bytes, command_s, fastest_writes, slowest_fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.drives.base import Drive
    from ssdlab.drives.ratings import Rated
    from ssdlab.host.documents import Document
    from ssdlab.results.run_folder import Step


FRESH_CAPACITIES = 1.3
"""Drive writes at the speed of a fresh drive, until its flash is full; assumed if the spare is unknown ..."""
CACHE_CAPACITIES = 0.05
"""... and, if it is known, the drive writes that a cache absorbs beyond capacity and spare."""
SETTLED_CAPACITIES = 1.5
"""Drive writes of random I/O after which a drive counts as steady in a plan."""
FILLS_FROM = 0.3
"""Share of the capacity; sequential writes of this much exceed any cache."""
RUNS_READ = 12
"""Number of earlier runs to read, newest first ..."""
STEPS_READ = 400
"""... and number of their steps in all."""
_EARLIER = (0.6, 1.6)
"""Range of the speed of the same load on another day, with another drive state and host load."""
_RATED: dict[str, tuple[bool, bool, int, tuple[float, float]]] = {
    "sequential_read_mb_s": (False, False, 128 * 1024, (0.5, 1.15)),
    "sequential_write_mb_s": (True, False, 128 * 1024, (0.3, 1.15)),
    "random_read_iops": (False, True, 4096, (0.4, 1.25)),
    "random_write_iops": (True, True, 4096, (0.5, 2.0)),
}
"""For each metric: whether it writes, whether it is random, its block size, and the range of real speeds as
shares of the rating. Makers rate reads at their best and steady random writes as floors."""
_IN_FLIGHT = 32
_LARGEST_BYTES = 16 << 20
"""Largest block size, in bytes."""
_UNSTEADY_MIN = 0.05
"""Minimum share of a write rating (of a fresh drive or a cache) that remains after long writing."""


def planning_of(drive: Identity | Drive, pace: Pace | None = None) -> Planning:
    """Return what a plan may assume about a drive; `pace` adds knowledge beyond link and ratings."""
    identity = drive if isinstance(drive, Identity) else drive.identity
    if not isinstance(identity, Identity):  # the identity in a record, whose drive may be gone
        return Planning(purges_at_once=drive.capabilities.purges_at_once, pace=pace or ANY_DRIVE)
    found = pace or pace_of(identity)
    return Planning(
        purges_at_once=drive.capabilities.purges_at_once,
        purge_max_s=cache(partial(_purge_max_s, identity, found)),
        pace=found,
        power_features=partial(planned_features, identity),
    )


def pace_of(identity: Identity, library: Path | None = None) -> Pace:
    """Return what link, ratings and earlier runs in the library, if given, show of a drive's speed."""
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
        share = None  # the code that needs the drive record reports its faults
    return FRESH_CAPACITIES if share is None else 1 / (1 - share) + CACHE_CAPACITIES


def _link_of(identity: Identity) -> float | None:
    if not identity.capabilities.block_device:
        return None
    from ssdlab.host.attributes import disk_of

    node = (Path("/sys/class/block") / identity.name.replace("/", "!")).resolve()
    return link_bytes_s(disk_of(node), identity.transport)


def _made(identity: Identity) -> Document | None:
    """Return the checked profile of a simulated drive; None for any other drive."""
    if not identity.capabilities.made_to_order:
        return None
    from ssdlab.drives.simulated.profiles import check_profile
    from ssdlab.drives.simulated.text import SimulatedText

    text = SimulatedText.parse(identity.path)
    return check_profile(text.profile, **text.settings())


def _with_profile(pace: Pace, made: Document, identity: Identity) -> Pace:
    """Add the limits of a simulated drive's parts: a maximum write speed and a minimum command time."""
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
    """Return the minimum speed at which a simulated drive is filled, from its parts; None if unknown."""
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
        return  # the code that needs the drive record reports its faults
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
        # A fresh drive writes at random as fast as in order: there is nothing to collect.
        over = Load(writes=True, random=True, block_bytes=4096, in_flight=_IN_FLIGHT)
        yield Known(over, bytes_s, _UNSTEADY_MIN, highest, source="rating")


def _of_earlier_runs(identity: Identity, library: Path) -> Iterator[Known]:
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
    """Return the speed that a step measured; None unless it had one closed stream of only reads or writes.

    Parameters
    ----------
    step
        A finished step.
    capacities
        Drive writes since the purge, before this step.
    share
        Range of speeds to expect from other steps of this load, as shares of the measured speed.
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
    """Return the maximum time of a purge, by the features that a block device reports; None if unknown."""
    if not identity.capabilities.block_device:
        return None
    from ssdlab.drives.purge import check_method
    from ssdlab.drives.purge.planning import longest_s
    from ssdlab.drives.trim.medium import SAMPLE_BYTES

    zeroes = pace.of(Load(writes=True, random=False, block_bytes=1 << 20, in_flight=1)).low
    command_s = max(
        SAMPLE_BYTES / pace.of(Load(writes, random=True, block_bytes=SAMPLE_BYTES, in_flight=1)).low
        for writes in (False, True)
    )
    named = None if method is None else check_method(method)
    return longest_s(identity, named, zeroes, command_s, discard_bytes_s=pace.discard_bytes_s)


def planned_features(identity: Identity) -> PowerFeatures | None:
    """Return the power features of an unopened drive: all for a simulated drive, the link's for SATA."""
    if identity.capabilities.made_to_order:
        from ssdlab.drives.simulated.profiles import check_profile
        from ssdlab.drives.simulated.saving import features_of_profile
        from ssdlab.drives.simulated.text import SimulatedText

        return features_of_profile(check_profile(SimulatedText.parse(identity.path).profile)["profile"])
    if identity.transport == "sata":
        values = (SAVING_OFF[LINK_POWER], *COMPARED_LINK_POLICIES)
        return PowerFeatures(protocol="sata", saving=LINK_POWER, values=values, found=values[0])
    return None
