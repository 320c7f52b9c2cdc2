"""Measures a simulated drive against its ratings, each in the rating's drive state.

The drive is scaled down so that long overwriting is quick. Whatever determines the figures is not scaled
(dies, depth, spare, superblocks), and the scale is stated. Each drive state is prepared once and then
restored, so that no figure depends on the order of the ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from ssdlab.drives.ratings import Judged, Rating, Ratings, Unmeasured, judge
from ssdlab.drives.simulated.drive import SimulatedDrive, SimulatedText, profile_text
from ssdlab.drives.simulated.profiles import check_profile, profile_id, shipped_ratings
from ssdlab.host.documents import Document, read_document, user_path
from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.pattern import Sequential, Span, Uniform
from ssdlab.model.summary import NO_SIDE
from ssdlab.model.units import NS_PER_S, capacity_text, span_text
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload, fill_workloads

if TYPE_CHECKING:
    import ssdlab._core as _core
    from ssdlab.model.measurement import Measurement

_SEQUENTIAL_BYTES = 128 * 1024
_RANDOM_BYTES = 4096
_INTERVAL_NS = 10_000_000
_RAMP_NS = 50_000_000
"""Every die is busy by then."""
_WRITE_RAMP_NS = 500_000_000
"""The write buffer is full by then, even if the flash is nearly as fast as the link."""
_SHORT_INTERVAL_NS = 1_000_000
"""Interval for spans that are written in less than twice the ramp; the shortest interval there is."""
_MIN_SPAN_NS = 8_000_000
"""Minimum time to write a span. Half is ramp; fewer than four rows after it would show only row edges."""
_BUFFERS = 2
"""Minimum span, in write buffers: the buffer, which does not scale, is full after half of the span."""
_NO_POWER = Unmeasured("the drive has no power model")
_REST_S = 120.0
"""Idle time after writing; background work is done by then."""
_DRAIN_S = 1.0
"""Idle time before a measurement; the write buffer is in flash by then, so that reads do not wait for it."""
_SETTLED = 0.01
"""Steady state: the write amplification of passes in a row differs by less than this share."""
_SETTLING_DEPTH = 32
_MAX_SCALE = 1024
_MAX_PASSES = 24
"""Maximum number of half passes; a spare of 2 % settles within ten full passes."""


@dataclass(frozen=True)
class Effort:
    """Limits of a check: capacity and time.

    Attributes
    ----------
    capacity_bytes
        Largest capacity to simulate, if the profile allows it.
    seconds
        Virtual time to measure each rating.
    """

    capacity_bytes: int
    seconds: float


FULL = Effort(capacity_bytes=24 << 30, seconds=1.0)
QUICK = Effort(capacity_bytes=6 << 30, seconds=0.25)


@dataclass(frozen=True)
class Checked:
    profile: str
    scale: int
    ratings: tuple[Judged, ...]
    made: Document = field(default_factory=dict)
    """Facts of the drive from `check_profile`."""

    @property
    def passed(self) -> bool:
        """Whether each missed rating has a stated reason."""
        return not any(judged.failed for judged in self.ratings)


def ratings_of(profile: str, path: Path | None = None) -> Ratings:
    """Return the ratings of a profile: built-in, or from a file.

    Raises
    ------
    UsageError
        There are no ratings, they cannot be read, or they are for another profile.
    """
    asked, name = check_profile(profile)["profile"], profile_id(profile)
    if path is not None:
        place = user_path(path)
        ratings = Ratings.parse(read_document(place, "file of ratings", "name a TOML file"), str(place))
        if ratings.profile not in (name, asked["name"], *asked.get("aliases", ())):
            raise UsageError(
                f"the ratings in {place} are for {ratings.profile}, not for {name}",
                f'set profile = "{name}" there if they are its ratings, or name the other profile',
                profile=name,
                rated=ratings.profile,
            )
        return ratings
    known = shipped_ratings()
    if name not in known:
        raise UsageError(
            f"{name} has no ratings: it is a class of drives, or your own profile",
            "name a file with --ratings, or one of: " + ", ".join(known),
            profile=name,
        )
    return Ratings.parse(known[name])


def check(
    profile: str,
    ratings: Ratings,
    effort: Effort = FULL,
    *,
    on_rating: Callable[[Rating], None] | None = None,
) -> Checked:
    """Measure every rating of a profile on its simulated drive.

    Parameters
    ----------
    profile
        Name, alias or path of a profile.
    ratings, effort
        The ratings to check, and the limits of the check.
    on_rating
        Called before each rating is measured.

    Raises
    ------
    UsageError
        There is no such profile, or a rating needs a larger SLC cache than it has.
    """
    _check_spans(profile, ratings)
    scale = scale_for(profile, effort.capacity_bytes)
    prepared = _PreparedDrive(profile, scale, effort.seconds)
    judged = []
    for rating in ratings.rating:
        if on_rating is not None:
            on_rating(rating)
        judged.append(judge(rating, prepared.measure(rating)))
    made = check_profile(profile, scale=scale)
    return Checked(profile_id(profile), scale, tuple(judged), made)


def scale_for(profile: str, capacity_bytes: int) -> int:
    """Return the smallest scale with at most `capacity_bytes`, else the largest scale of the profile."""
    import ssdlab._core as _core

    text = profile_text(profile)
    best = 1
    for scale in range(1, _MAX_SCALE + 1):
        try:
            made = _core.check_profile(text, scale=scale)
        except UsageError:
            continue
        best = scale
        if made["capacity_bytes"] <= capacity_bytes:
            break
    return best


def _check_spans(profile: str, ratings: Ratings) -> None:
    """Refuse ratings for an SLC cache that the drive lacks, or that is too small."""
    made = check_profile(profile)["profile"]
    cache = made.get("slc_cache")
    for rating in ratings.rating:
        if rating.state != "cached" or rating.span_gb is None:
            continue
        if not cache:
            raise UsageError(
                f"{rating.metric} is rated within an SLC cache, but {made['name']} has none",
                "rate it as fresh or steady",
                field="state",
            )
        holds_gb = cache["size_gb"]["value"]
        if rating.span_gb > holds_gb:
            raise UsageError(
                f"{rating.metric} is rated within the cache over {rating.span_gb:g} GB, but that "
                f"of {made['name']} holds {holds_gb:g} GB",
                "give a span_gb that is less than the cache holds",
                field="span_gb",
                span_gb=rating.span_gb,
                cache_gb=holds_gb,
            )


class _PreparedDrive:
    """A simulated drive, and the drive states that were prepared on it."""

    def __init__(self, profile: str, scale: int, seconds: float) -> None:
        self._drive = SimulatedDrive(SimulatedText(profile, scale=scale), writing=True, allow_unwritten=True)
        self._profile = profile
        self._scale = scale
        self._seconds = seconds
        self._empty = self._drive.native.snapshot()
        self._states: dict[str, _core.SimulatedState] = {}
        self._seeds = _seeds_of("")

    def measure(self, rating: Rating) -> float | Unmeasured:
        """Return the drive's figure for a rating, or why there is none."""
        if rating.metric == "idle_w":
            self._enter(rating)
            start_ns = self._drive.native.now_ns
            self._drive.idle(self._seconds)
            return self._mean_w(start_ns)
        if rating.metric == "random_write_iops" and rating.state == "steady":
            self._enter(rating)
            # Half a pass or more, so that many superblocks are collected within it.
            return self._overwrite(rating, max(rating.in_flight, _SETTLING_DEPTH)).iops
        if rating.is_bound:
            return self._highest_w(rating)
        workload = self._ready(rating, _is_sequential(rating))
        if isinstance(workload, Unmeasured):
            return workload
        start_ns = self._drive.native.now_ns
        measurement = self._drive.run(workload)
        if rating.metric in ("active_read_w", "active_write_w"):
            return self._mean_w(start_ns + workload.ramp_ns)
        return _figure(rating, measurement)

    def _highest_w(self, rating: Rating) -> float | Unmeasured:
        """Return the higher mean power of two loads: sequential and random."""
        highest = 0.0
        for sequential in (True, False):
            workload = self._ready(rating, sequential)
            if isinstance(workload, Unmeasured):
                return workload
            start_ns = self._drive.native.now_ns
            self._drive.run(workload)
            mean_w = self._mean_w(start_ns + workload.ramp_ns)
            if isinstance(mean_w, Unmeasured):
                return mean_w
            highest = max(highest, mean_w)
        return highest

    def _mean_w(self, start_ns: int) -> float | Unmeasured:
        drawn = self._drive.power(start_ns, self._drive.native.now_ns)
        return _NO_POWER if drawn is None else drawn.mean_w

    def _ready(self, rating: Rating, sequential: bool) -> Workload | Unmeasured:
        """Bring the drive into a rating's state, and return the workload to measure.

        Writes into a cache end with their span, on a fast drive even before the ramp. So they are timed
        first, and the ramp is at most half of that time.
        """
        if _ends_with_span(rating) and (why := self._within_buffer(rating)):
            return Unmeasured(why)
        self._enter(rating)
        workload = self._workload(rating, sequential, _ramp_ns(rating))
        if not _ends_with_span(rating):
            return workload
        start_ns = self._drive.native.now_ns
        self._drive.run(workload)
        took_ns = self._drive.native.now_ns - start_ns
        if took_ns < _MIN_SPAN_NS:
            return Unmeasured(
                f"at scale {self._scale} the span is written in {span_text(took_ns / NS_PER_S)}, "
                "too short to measure: rate it over a larger span_gb"
            )
        self._enter(rating)
        return self._workload(rating, sequential, min(_ramp_ns(rating), took_ns // 2))

    def _within_buffer(self, rating: Rating) -> str | None:
        """Return why the write buffer would distort writes to a span; depth 1 does not fill the buffer."""
        size = round(check_profile(self._profile)["profile"]["buffer"]["size_mib"]["value"] * (1 << 20))
        length = self._span(rating).length
        assert isinstance(length, int)
        if rating.in_flight == 1 or length >= _BUFFERS * size:
            return None
        return (
            f"at scale {self._scale} the span is {capacity_text(length)}, less than twice the "
            f"write buffer of {capacity_text(size)}, which does not scale: rate it over a "
            "larger span_gb"
        )

    def _workload(self, rating: Rating, sequential: bool, ramp_ns: int) -> Workload:
        span = self._span(rating)
        stop_bytes = span.length if _ends_with_span(rating) else None
        stream = Stream(
            ops=Mix(read_pct=_read_pct(rating)),
            block=(Block(bytes=_SEQUENTIAL_BYTES if sequential else _RANDOM_BYTES),),
            pattern=Sequential() if sequential else Uniform(),
            span=span,
            engine="uring",
            depth=rating.in_flight,
            stop=Stop(time_ns=round(self._seconds * NS_PER_S) + ramp_ns, bytes=stop_bytes),
        )
        interval_ns = _INTERVAL_NS if ramp_ns >= _RAMP_NS else _SHORT_INTERVAL_NS
        return Workload(seed=next(self._seeds), interval_ns=interval_ns, ramp_ns=ramp_ns, streams=(stream,))

    def _span(self, rating: Rating) -> Span:
        whole = self._drive.capacity_bytes
        length = whole if rating.span_gb is None else min(whole, round(rating.span_gb * 1e9) // self._scale)
        return Span(start=0, length=length // _SEQUENTIAL_BYTES * _SEQUENTIAL_BYTES)

    def _enter(self, rating: Rating) -> None:
        """Bring the drive into a rating's state, with the write buffer flushed."""
        writes = _read_pct(rating) < 100
        self._seeds = _seeds_of(f"{rating.metric} of {rating.in_flight}, {rating.state}, {rating.span_gb}")
        if rating.state == "steady":
            self._go("sequential" if _is_sequential(rating) else f"steady {rating.span_gb}", rating)
        elif rating.state == "cached" and not writes:
            self._go("empty", rating)
            self._fill(self._span(rating))
        else:
            self._go("empty" if writes else "written", rating)
        self._drive.flush()
        if rating.state != "cached":  # a rested drive would have emptied its cache
            self._drive.idle(_DRAIN_S)

    def _go(self, state: str, rating: Rating) -> None:
        """Restore a state, or make it; its seeds are the same whichever rating needs it first."""
        after, self._seeds = self._seeds, _seeds_of(state)
        self._make(state, rating)
        self._seeds = after

    def _make(self, state: str, rating: Rating) -> None:
        native = self._drive.native
        native.restore(self._states.get(state, self._empty))
        if state in self._states or state == "empty":
            return
        if state == "written":
            self._fill(Span())
        elif state == "sequential":
            self._go("written", rating)
            self._fill(Span())
        else:
            self._go("written", rating)
            self._settle(rating)
        if not state.startswith("steady"):
            self._drive.idle(_REST_S)
        self._states[state] = native.snapshot()

    def _fill(self, span: Span) -> None:
        length = span.length if isinstance(span.length, int) else self._drive.capacity_bytes
        for fill in fill_workloads(length, next(self._seeds)):
            self._drive.run(fill)

    def _settle(self, rating: Rating) -> None:
        """Overwrite at random until the write amplification is steady."""
        before = 0.0
        settled = 0
        for _ in range(_MAX_PASSES):
            now = _amplification(self._overwrite(rating, _SETTLING_DEPTH))
            settled = settled + 1 if abs(now / before - 1 if before else 1) < _SETTLED else 0
            before = now
            if settled >= 2:
                return
        raise LabError(
            f"the simulated drive is not steady after {_MAX_PASSES // 2} passes",
            "check the profile's spare and reserve",
            write_amplification=before,
        )

    def _overwrite(self, rating: Rating, depth: int) -> Measurement:
        """Write at random: half the span's bytes, or an eighth of the capacity if that is more."""
        span = self._span(rating)
        assert isinstance(span.length, int)
        volume = max(span.length // 2, self._drive.capacity_bytes // 8)
        stream = Stream(
            ops=Mix(read_pct=0),
            span=span,
            engine="uring",
            depth=depth,
            stop=Stop(bytes=volume // _RANDOM_BYTES * _RANDOM_BYTES),
        )
        workload = Workload(
            seed=next(self._seeds), interval_ns=_INTERVAL_NS, ramp_ns=_RAMP_NS, streams=(stream,)
        )
        return self._drive.run(workload)


def _seeds_of(what: str) -> Iterator[int]:
    """Return an endless sequence of seeds that depends only on `what`."""
    return count(crc32(what.encode()))


def _read_pct(rating: Rating) -> int:
    match rating.metric:
        case "mixed_70_30_iops":
            return 70
        case (
            "sequential_write_mb_s"
            | "random_write_iops"
            | "depth_1_write_us"
            | "active_write_w"
            | "max_write_w"
        ):
            return 0
    return 100


def _ends_with_span(rating: Rating) -> bool:
    """Whether a rating is for writes into a cache, which end with their span."""
    return rating.state == "cached" and _read_pct(rating) < 100


def _ramp_ns(rating: Rating) -> int:
    # What fits into a cache is written within a fraction of a second.
    return _RAMP_NS if rating.state == "cached" or _read_pct(rating) == 100 else _WRITE_RAMP_NS


def _is_sequential(rating: Rating) -> bool:
    return rating.metric.startswith(("sequential_", "active_"))


def _figure(rating: Rating, measurement: Measurement) -> float:
    if rating.metric.endswith("_mb_s"):
        return measurement.mb_s
    if rating.metric.endswith("_iops"):
        return measurement.iops
    side = measurement.summary().side("write" if rating.metric == "depth_1_write_us" else "read")
    return float((side or NO_SIDE).service_mean_ns) / 1e3


def _amplification(measurement: Measurement) -> float:
    drive = measurement.summary().drive
    return float((drive.write_amplification if drive is not None else None) or 0.0)
