"""A drive's ratings, and whether its simulation meets them.

A profile has only physical parameters. Ratings are results and have a file of their own. Each rating has a
drive state, and says whether a parameter was fitted to it. A fitted rating only checks the fit; a predicted
one tests the model.

Throughput, latency and power agree if they differ by at most `TOLERANCE`. Makers rate random writes as a
minimum (floor): the drive does at least this much. If the model does much more, the rating must say why. A
measured value is not a floor. Rated maximum power is a bound: no load draws more. No parameter may be fitted
to floors, mixes or power (`_HELD_OUT`), so these stay predictions.

Source: SNIA, Solid State Storage Performance Test Specification (a figure belongs to a drive state); Sargent,
"Verification and validation of simulation models", Journal of Simulation 7 (2013) (data used to build a model
do not validate it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from ssdlab.host.documents import parse_toml
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen, Stored

if TYPE_CHECKING:
    from ssdlab.drives.drive_record import DriveRecord
    from ssdlab.host.identity import Identity

TOLERANCE = 0.10
"""Largest difference of model and rating, as a share: makers round, and samples of a model differ as much."""

MetricName = Literal[
    "sequential_read_mb_s",
    "sequential_write_mb_s",
    "random_read_iops",
    "random_write_iops",
    "mixed_70_30_iops",
    "depth_1_read_us",
    "depth_1_write_us",
    "active_read_w",
    "active_write_w",
    "max_read_w",
    "max_write_w",
    "idle_w",
]
State = Literal["fresh", "steady", "cached"]
Verdict = Literal["met", "surplus", "unmet", "missed", "unexplained", "unmeasured"]

FAILED: frozenset[Verdict] = frozenset({"missed", "unexplained"})
"""Verdicts that fail a check."""


class RatedMetric(NamedTuple):
    title: str
    unit: str
    depth: int
    """Queue depth, unless the rating has its own."""


METRICS: dict[MetricName, RatedMetric] = {
    "sequential_read_mb_s": RatedMetric("sequential read", "MB/s", 32),
    "sequential_write_mb_s": RatedMetric("sequential write", "MB/s", 32),
    "random_read_iops": RatedMetric("random read", "IOPS", 32),
    "random_write_iops": RatedMetric("random write", "IOPS", 32),
    "mixed_70_30_iops": RatedMetric("random, 70 % reads", "IOPS", 32),
    "depth_1_read_us": RatedMetric("read latency at depth 1", "us", 1),
    "depth_1_write_us": RatedMetric("write latency at depth 1", "us", 1),
    "active_read_w": RatedMetric("power, sequential read", "W", 32),
    "active_write_w": RatedMetric("power, sequential write", "W", 32),
    "max_read_w": RatedMetric("highest power, reads", "W", 32),
    "max_write_w": RatedMetric("highest power, writes", "W", 32),
    "idle_w": RatedMetric("power, idle", "W", 0),
}
"""Sequential I/Os have 128 KiB; random I/Os and those of latencies have 4 KiB."""

_HELD_OUT: dict[MetricName, str] = {
    "random_write_iops": "a floor",
    "mixed_70_30_iops": "a mix of two loads",
    "active_read_w": "power, which follows from currents",
    "active_write_w": "power, which follows from currents",
    "max_read_w": "a bound",
    "max_write_w": "a bound",
    "idle_w": "power, which a profile states and does not fit",
}
"""Metrics that no parameter may be fitted to, and what they are."""


class Rating(Frozen):
    """One figure that a maker or a reviewer states for a drive."""

    metric: MetricName = Field(description="rated metric, with its unit")
    value: float = Field(gt=0, description="the value, in the unit at the end of the metric's name")
    state: State = Field(
        description="drive state of the rating: fresh (written once at most), steady (overwritten for long), "
        "cached (within an SLC cache)"
    )
    source: Literal["data-sheet", "measurement", "recalled"] = Field(description="where it comes from")
    fitted_to: bool = Field(False, description="whether a parameter of the profile was fitted to it")
    given: bool = Field(
        False, description="whether the profile contains this value itself, as its idle power"
    )
    depth: int | None = Field(None, ge=1, le=4096, description="commands in flight of the rating")
    span_gb: float | None = Field(
        None, gt=0, description="part of the drive that was used, in GB; the whole drive if absent"
    )
    note: str | None = Field(None, description="more about it")
    surplus: str | None = Field(None, description="why the model exceeds this minimum so much")
    unmet: str | None = Field(None, description="why the model cannot meet it")

    @property
    def is_floor(self) -> bool:
        """Whether the rating is a minimum: makers rate minima, reviewers measure values."""
        return self.metric == "random_write_iops" and self.source != "measurement"

    @property
    def is_bound(self) -> bool:
        """Whether the rating is a maximum."""
        return self.metric in ("max_read_w", "max_write_w")

    @property
    def use(self) -> Literal["fitted", "given", "predicted"]:
        """Role of the rating for the profile; only a predicted rating tests the model."""
        return "fitted" if self.fitted_to else "given" if self.given else "predicted"

    @property
    def in_flight(self) -> int:
        """Queue depth of the measurement that is compared with the rating."""
        return METRICS[self.metric].depth if self.depth is None else self.depth

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.surplus is not None and not self.is_floor:
            raise UsageError(
                f"{self.metric} is not a minimum and cannot have a surplus",
                "say in `unmet` why it is not met",
            )
        if self.state == "cached" and self.span_gb is None:
            raise UsageError(
                f"{self.metric} is rated within a cache, but span_gb is missing",
                "give span_gb, less than the cache holds",
            )
        if self.fitted_to and (why := _HELD_OUT.get(self.metric)):
            raise UsageError(
                f"{self.metric} is {why}, so nothing may be fitted to it",
                "remove fitted_to, and derive the parameter from the parts",
            )
        if self.given and self.metric != "idle_w":
            raise UsageError(
                f"{self.metric} is marked given, but no profile contains it",
                "remove given: only idle_w may have it",
            )
        return self


def _called(number: int, table: Mapping[str, object]) -> str:
    """Return the name of a rating in errors: its number, and metric and state as in the file."""
    words = [each for key in ("metric", "state") if isinstance(each := table.get(key), str)]
    return f"rating {number}" + (f" ({', '.join(words)})" if words else "")


@contextmanager
def _placed_in(place: str) -> Iterator[None]:
    """Prefix errors with the place where they arose."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error.what}", error.advice, **error.facts) from error


class Fact(Frozen):
    """A fact about a drive that no measured figure shows."""

    value: str | float | bool = Field(description="as a drive record has it")
    source: Literal["data-sheet", "review", "recalled", "assumed"] = Field(
        description="where it comes from; review: a published article"
    )
    note: str | None = Field(None, description="more about it")


class Ratings(Frozen):
    """Ratings of one drive, and other facts about it."""

    profile: str = Field(min_length=1, description="name of their profile")
    drive: dict[str, Fact] = Field(
        {}, description="entries of a drive record, each with its source: class, link, endurance, price"
    )
    rating: tuple[Rating, ...] = Field(min_length=1, description="ratings, each a table [[rating]]")

    @classmethod
    def parse(cls, text: str, name: str = "the ratings") -> Self:
        """Read ratings from TOML; `name` is their name in errors.

        Raises
        ------
        UsageError
            The text is not TOML, a key is unknown or missing, a value is out of bounds, or a metric is rated
            twice in one state. The error names the file and the rating.
        """
        parsed = parse_toml(text, name)
        tables = parsed.get("rating")
        for number, table in enumerate(tables if isinstance(tables, list) else (), 1):
            if isinstance(table, dict):
                with _placed_in(f"{name}, {_called(number, table)}"):
                    Rating.model_validate(table)
        with _placed_in(name):
            return cls.model_validate(parsed)

    @model_validator(mode="after")
    def _check(self) -> Self:
        seen: set[tuple[str, str]] = set()
        for rating in self.rating:
            key = (rating.metric, rating.state)
            if key in seen:
                raise UsageError(
                    f"{rating.metric} in the state {rating.state} is rated twice", "remove one of them"
                )
            seen.add(key)
        self._check_power()
        if self.drive:
            self.record()
        return self

    def record(self) -> DriveRecord:
        """Return the facts as a drive record; raises `UsageError` if a record cannot have them."""
        from ssdlab.drives.drive_record import DriveRecord

        values = {name: each.value for name, each in self.drive.items()}
        return DriveRecord.model_validate({"model": self.profile, **values})

    def _check_power(self) -> None:
        """Refuse ratings that draw less power at work than when idle, or more than the maximum."""
        for low, high in (
            ("idle_w", "active_read_w"),
            ("idle_w", "active_write_w"),
            ("idle_w", "max_read_w"),
            ("idle_w", "max_write_w"),
            ("active_read_w", "max_read_w"),
            ("active_write_w", "max_write_w"),
        ):
            lowest = max((each.value for each in self.rating if each.metric == low), default=0.0)
            for each in self.rating:
                if each.metric == high and each.value < lowest:
                    raise UsageError(
                        f"{high} of {each.value:g} W contradicts {low} of {lowest:g} W", "correct one of them"
                    )


@dataclass(frozen=True)
class Unmeasured:
    """Why the model has no figure for a rating."""

    why: str


@dataclass(frozen=True)
class Judged:
    """A rating and the model's figure; `ratio` is model to rating, None if nothing was measured."""

    rating: Rating
    model: float | None
    ratio: float | None
    verdict: Verdict
    why_unmeasured: str | None = None

    @property
    def failed(self) -> bool:
        return self.verdict in FAILED

    @property
    def reason(self) -> str | None:
        """Explanation of the verdict, if there is one."""
        return {
            "surplus": self.rating.surplus,
            "unmet": self.rating.unmet,
            "unmeasured": self.why_unmeasured,
        }.get(self.verdict)


def judge(rating: Rating, model: float | Unmeasured) -> Judged:
    """Compare a figure of the model with its rating.

    Returns
    -------
    Judged
        ``met``: within the tolerance; a floor is reached, a bound is kept. ``surplus``: above a floor by more
        than the tolerance, with a reason in the rating. ``unexplained``: the same without a reason.
        ``unmet``: not met, with a reason in the rating. ``missed``: the same without a reason.
        ``unmeasured``: there is no figure, and `Judged.reason` says why.

    >>> floor = Rating(metric="random_write_iops", value=20_000, state="steady", source="data-sheet")
    >>> judge(floor, 21_000).verdict
    'met'
    >>> judge(floor, 30_000).verdict
    'unexplained'
    """
    if isinstance(model, Unmeasured):
        return Judged(rating, None, None, "unmeasured", model.why)
    ratio = model / rating.value
    return Judged(rating, model, ratio, _verdict(rating, ratio))


def _verdict(rating: Rating, ratio: float) -> Verdict:
    if rating.is_bound and ratio <= 1:
        return "met"
    enough = ratio >= (1 if rating.is_floor else 1 - TOLERANCE)
    too_much = ratio > (1 if rating.is_bound else 1 + TOLERANCE)
    if enough and not too_much:
        return "met"
    if rating.is_floor and enough:
        return "surplus" if rating.surplus is not None else "unexplained"
    return "unmet" if rating.unmet is not None else "missed"


_OF_RECORD: dict[str, MetricName] = {
    "rated_read_iops": "random_read_iops",
    "rated_write_iops": "random_write_iops",
    "rated_read_mb_s": "sequential_read_mb_s",
    "rated_write_mb_s": "sequential_write_mb_s",
    "rated_idle_w": "idle_w",
}
"""Metric of each rating in a drive record; `rated_active_w` is missing, as it names no direction."""


class Rated(Stored):
    """One figure that a drive is rated for."""

    metric: str = Field(description="rated metric, with its unit: see `ssdlab.drives.ratings.METRICS`")
    value: float
    state: str | None = Field(default=None, description="drive state of the rating; None: not stated")
    source: str = Field(description="source: data-sheet, measurement, recalled, drive record")


def rated_values(identity: Identity) -> tuple[Rated, ...]:
    """Return a drive's ratings from its profile or drive record; none if there are none.

    Raises
    ------
    UsageError, HostError
        A drive record is invalid, or cannot be read.
    """
    return _of_profile(identity) if identity.kind == "sim" else _of_record(identity)


def _of_record(identity: Identity) -> tuple[Rated, ...]:
    from ssdlab.drives.drive_record import find_record

    record = find_record(identity.model, identity.serial)
    if record is None:
        return ()
    found = [(metric, getattr(record, name)) for name, metric in _OF_RECORD.items()]
    if record.rated_active_w is not None:
        # One figure for both directions: reads and writes are both compared with it.
        found += [(metric, record.rated_active_w) for metric in ("active_read_w", "active_write_w")]
    return tuple(
        Rated(metric=metric, value=float(value), source="drive record")
        for metric, value in found
        if value is not None
    )


def ratings_of(profile: str) -> Ratings | None:
    """Return the ratings of a profile's drive; None if ssdlab has none for it."""
    from ssdlab.drives.simulated.profiles import shipped_ratings

    text = shipped_ratings().get(profile)
    return None if text is None else Ratings.parse(text)


def _of_profile(identity: Identity) -> tuple[Rated, ...]:
    found = ratings_of(identity.name)
    return tuple(
        Rated(metric=each.metric, value=each.value, state=each.state, source=each.source)
        for each in (() if found is None else found.rating)
    )
