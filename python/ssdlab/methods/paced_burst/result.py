"""The result of paced bursts.

A load in bursts leaves the drive idle in between, so bytes over the whole time measure the pace and not the
drive. Figures therefore use the time with at least one I/O in flight: the union of the I/Os' service times.
The plain sum of service times is longer, about four times at depth 4. It is kept too, since reviews do not
say which of the two they mean by "total service time".

Sources: PC Perspective, review of the Intel SSD 600p (2016), throughput during bursts only and load time by
total service time; utilisation as the busy share of time is that of queueing theory (L. Kleinrock, "Queueing
Systems" vol. 1, 1975, section 2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from ssdlab.analysis.percentiles import BUCKET_WIDTH, of_time
from ssdlab.analysis.ratios import Efficiency, efficiency
from ssdlab.plugin import (
    NS_PER_S,
    Direction,
    Latencies,
    Metric,
    Qualifier,
    ResultBase,
    Stored,
    absent,
    capacity_text,
    power_scalars,
    searched,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from ssdlab.plugin import Columns, Step


_DIRECTIONS: tuple[Direction, ...] = ("read", "write")
SPAN_BYTES = 8 * 10**9
BURST_BYTES = 40 * 10**6
"""Span and burst of the review; writes of less may never reach the end of a cache."""
LOAD_TIME = "load time, with a read in flight"
LOAD_SERVICE = "load time, service times summed"
"""The review's figure; it counts I/Os in flight together several times, although a user waits once."""
_PERCENTILES = ("50", "90", "99", "99.9", "99.99", "99.999")


class BurstSide(Stored):
    """One direction of a load, during the time that it had I/Os in flight."""

    direction: Direction
    ios: int
    bytes: int
    busy_s: float = Field(description="time with an I/O of this direction in flight")
    latencies_s: float = Field(description="sum of the service times")
    mb_s: float = Field(description="bytes / busy_s: idle time is not counted")
    by_count: Latencies = Field(description="service latency, ns: percentiles of the I/Os")
    by_time: Latencies = Field(description="service latency, ns: percentiles of the time waited")

    @property
    def service_mb_s(self) -> float | None:
        """Throughput over the sum of service times, as in the review; None: no time was measured."""
        return self.bytes / self.latencies_s / 1e6 if self.latencies_s else None

    @classmethod
    def of(
        cls, step: Step, direction: Direction, buckets: Columns, ios: Columns | None = None
    ) -> Self | None:
        """Return the figures of one direction of a step; None if that direction had no I/O.

        Parameters
        ----------
        step
            Step of the load.
        direction
            Reads or writes.
        buckets
            Latency histograms of the step.
        ios
            Single I/Os of the step; without them, the direction counts as busy all the time.
        """
        summary = step.measured
        side = summary.side(direction)
        if side is None or not side.ios:
            return None
        busy_s, mb_s = summary.counted_s, summary.mb_s_of(direction)
        latencies_s = side.service_mean_ns * side.ios / NS_PER_S
        if ios is not None:
            ours = ios["direction"] == direction
            begin, took = ios["submit_ns"][ours], ios["latency_ns"][ours]
            busy_s, latencies_s = busy_ns(begin, begin + took) / NS_PER_S, float(took.sum()) / NS_PER_S
            mb_s = side.bytes / busy_s / 1e6
        return cls(
            direction=direction,
            ios=side.ios,
            bytes=side.bytes,
            busy_s=busy_s,
            latencies_s=latencies_s,
            mb_s=mb_s,
            by_count=side.service_ns,
            by_time=_by_time(buckets, direction),
        )


class BurstLoad(Stored):
    """Reads and writes together, in bursts or without a pause."""

    name: Literal["paced", "saturated"]
    ordinal: int
    seconds: float
    sides: tuple[BurstSide, ...]
    mean_w: float | None = Field(
        default=None, description="mean power over all of it, pauses included; None: no meter"
    )

    @classmethod
    def of(
        cls, name: Literal["paced", "saturated"], step: Step, buckets: Columns, ios: Columns | None = None
    ) -> Self:
        """Return the figures of the step that ran a load; `buckets` and `ios` as in `BurstSide.of`."""
        sides = [BurstSide.of(step, direction, buckets, ios) for direction in _DIRECTIONS]
        summary = step.measured
        return cls(
            name=name,
            ordinal=step.ordinal,
            seconds=summary.counted_s,
            sides=tuple(side for side in sides if side is not None),
            mean_w=summary.mean_w,
        )

    @property
    def efficiency(self) -> Efficiency | None:
        """MB/s per watt over the whole load, pauses included; None without a meter."""
        if self.seconds <= 0:
            return None
        moved = sum(side.bytes for side in self.sides)
        return efficiency("mixed", 0.0, moved / self.seconds / 1e6, self.mean_w)

    def side(self, direction: Direction) -> BurstSide | None:
        return next((side for side in self.sides if side.direction == direction), None)


class PacedRate(Stored):
    """One sustained rate of paced writes that was tried."""

    rate: int = Field(description="MB/s")
    ordinal: int
    written_bytes: int = 0
    p99_ns: float | None = Field(default=None, description="service latency of the writes")
    max_ns: float | None = None
    held: bool
    why: str = Field(default="", description="why it did not hold")
    disturbed: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="whether that is failed I/O or a pause of ssdlab, not the drive; absent: no",
    )


class PacedBurstResult(ResultBase):
    """Bursts of writes during large reads, as on a desktop."""

    kind: Literal["paced-burst"] = "paced-burst"
    span_bytes: int
    block_bytes: int
    burst_bytes: int
    every_s: float
    read_bytes: int = Field(description="of each read")
    read_every_s: float
    depth: int = Field(description="I/Os in flight at most, of writes alone")
    side_depth: int | None = Field(
        default=None,
        exclude_if=absent,
        description="of each direction where reads are beside the writes; absent: as of writes alone",
    )
    loads: tuple[BurstLoad, ...]
    load_s: float = Field(description="time with a read in flight, of all reads of the paced load")
    load_latencies_s: float = Field(
        description="sum of the service times of their I/Os, as the review has it: each I/O in flight counts"
    )
    reads_s: tuple[float, ...] = Field(description="of each read, from when it was due to its last I/O")
    rates: tuple[PacedRate, ...] = Field(description="by rising rate")
    safe_mb_s: int | None = Field(description="highest rate that held below the lowest that did not")
    lowest_failed_mb_s: int | None
    factor: float = Field(description="times the unloaded p99 that the p99 may reach")
    cache_bytes: int | None = Field(
        default=None, description="cache that the fill found; None: no end of one"
    )
    beyond: tuple[PacedRate, ...] = Field(
        default=(), description="rates over twice the cache, by rising rate"
    )
    beyond_span_bytes: int | None = Field(default=None, description="span of these writes")
    beyond_why: str = Field(default="", description="why none was tried there")
    safe_beyond_mb_s: int | None = Field(default=None, description="highest rate that held beyond the cache")
    hot_fill: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="whether heat had begun to slow the drive when the fill's speed dropped, so that no "
        "cache is told; absent: it had not",
    )

    @classmethod
    def of(
        cls,
        loads: tuple[BurstLoad, ...],
        ios: Columns,
        tries: Iterable[PacedRate],
        **facts: Any,  # noqa: ANN401 - of the fields' own types, which the model checks
    ) -> Self:
        """Return the result of the loads and of the rates tried.

        `ios` are the single I/Os of the first load. `facts` are the other fields, which describe the loads.
        """
        rates = tuple(sorted(tries, key=lambda each: each.rate))
        failed = min((each.rate for each in rates if not each.held), default=None)
        facts["beyond"] = tuple(sorted(facts.get("beyond", ()), key=lambda each: each.rate))
        reads = loads[0].side("read")
        result = cls(
            loads=loads,
            load_s=reads.busy_s if reads else 0.0,
            load_latencies_s=reads.latencies_s if reads else 0.0,
            reads_s=_reads_s(ios),
            rates=rates,
            safe_mb_s=highest_held(rates),
            safe_beyond_mb_s=highest_held(facts["beyond"]),
            lowest_failed_mb_s=failed,
            **facts,
        )
        return result.model_copy(update={"scalars": result._headlines()})

    @property
    def is_cut(self) -> bool:
        """Whether quick presets made the burst or span smaller, beyond rounding to whole blocks."""
        smaller = (
            self.burst_bytes + self.block_bytes <= BURST_BYTES
            or self.span_bytes + self.block_bytes <= SPAN_BYTES
        )
        return self.quick and smaller

    def _headlines(self) -> tuple[Metric, ...]:
        paced = self.loads[0]
        of_load = (
            Metric.less("paced_load_s", LOAD_TIME, self.load_s, "s"),
            Metric.less("paced_load_service_s", LOAD_SERVICE, self.load_latencies_s, "s"),
            *(
                Metric.more(
                    f"paced_{side.direction}_mb_s", f"{side.direction}s inside bursts", side.mb_s, "MB/s"
                )
                for side in paced.sides
            ),
        )
        of_power = power_scalars("paced", "paced load,", paced.efficiency, paced.mean_w)
        safe = f"safe rate of writes alone{_over(self.span_bytes)}"
        beyond = f"safe rate of writes alone beyond the cache{_over(self.beyond_span_bytes)}"
        return (
            *(each.resting(steps=(paced.ordinal,)) for each in of_load),
            self._safe(Metric.more("paced_safe_mb_s", safe, self.safe_mb_s, "MB/s"), self.rates).qualified(
                [Qualifier(code="within-cache")] if self.is_cut else []
            ),
            *(
                [
                    self._safe(
                        Metric.more("paced_safe_beyond_mb_s", beyond, self.safe_beyond_mb_s, "MB/s"),
                        self.beyond,
                    )
                ]
                if self.beyond
                else []
            ),
            *(each.resting(steps=(paced.ordinal,)) for each in of_power),
        )

    def _safe(self, figure: Metric, tried: Sequence[PacedRate]) -> Metric:
        """Return the safe rate with its evidence: the rates around it, and the lowest rate for its p99."""
        failed = min((each.rate for each in tried if not each.held), default=None)
        between = [each for each in tried if each.rate in (figure.value, failed)]
        deciding = between if figure.value is not None else tried
        among = dict.fromkeys(each.ordinal for each in (*deciding, *self.rates[:1]))
        steps = tuple(each.ordinal for each in between or self.rates[:1])
        found = searched(figure, steps, failed, chosen_among=tuple(among))
        rate = unjudged(tried)
        why = () if rate is None else (Qualifier(code="not-judged", steps=(rate.ordinal,), why=rate.why),)
        return found.qualified(why)


def max_p99_ns(unloaded_ns: float, factor: float) -> float:
    """Return the limit of a p99: each p99 is the middle of a bucket, half of that from the truth at most."""
    return factor * unloaded_ns * (1 + BUCKET_WIDTH)


def _over(span_bytes: int | None) -> str:
    """Return the end of a rate's label, which names the span of the writes."""
    return "" if span_bytes is None else f", over a span of {capacity_text(span_bytes)}"


def unjudged(tried: Sequence[PacedRate]) -> PacedRate | None:
    """If no rate passed, return the lowest whose try was disturbed; that try says nothing about the drive."""
    if highest_held(tried) is not None:
        return None
    return next((each for each in tried if each.disturbed), None)


def highest_held(rates: Iterable[PacedRate]) -> int | None:
    """Return the highest rate that passed below the lowest that failed; None if none passed."""
    tried = list(rates)
    failed = min((each.rate for each in tried if not each.held), default=None)
    return max(
        (each.rate for each in tried if each.held and (failed is None or each.rate < failed)), default=None
    )


def _reads_s(ios: Columns) -> tuple[float, ...]:
    """Return, for each large read, the time from its due time to its last I/O, computed from single I/Os."""
    ours = ios["direction"] == "read"
    ends_ns = ios["submit_ns"][ours] + ios["latency_ns"][ours]
    return tuple(each / NS_PER_S for each in spans_ns(ios["intended_ns"][ours], ends_ns))


def _by_time(buckets: Columns, direction: Direction) -> dict[str, float | None]:
    """Return percentiles of the time waited, from the histogram of one direction."""
    ours = (buckets["direction"] == direction) & (buckets["clock"] == "service")
    order = buckets["low_ns"][ours].argsort(kind="stable")
    low, high, count = (buckets[name][ours][order] for name in ("low_ns", "high_ns", "count"))
    return {f"p{percent}": of_time(low, high, count, percent) for percent in _PERCENTILES}


def busy_ns(begin_ns: npt.NDArray[Any], end_ns: npt.NDArray[Any]) -> int:
    """Return the length of the union of intervals, in ns; their order does not matter."""
    import numpy as np

    if begin_ns.size == 0:
        return 0
    order = np.argsort(begin_ns, kind="stable")
    begin, end = begin_ns[order].astype(np.int64), end_ns[order].astype(np.int64)
    reached = np.maximum.accumulate(end)
    # Each interval adds the part that no earlier interval covers.
    covered = np.concatenate([begin[:1], reached[:-1]])
    return int((reached - np.maximum(begin, covered)).clip(min=0).sum())


def spans_ns(group: npt.NDArray[Any], end_ns: npt.NDArray[Any]) -> list[int]:
    """Return for each burst, in order, the time from when it was due to the end of its last I/O.

    Parameters
    ----------
    group
        When each I/O was due; all I/Os of a burst have the same time.
    end_ns
        When each I/O completed.
    """
    import numpy as np

    due, which = np.unique(group, return_inverse=True)
    last = np.zeros(due.size, dtype=np.int64)
    np.maximum.at(last, which, end_ns.astype(np.int64))
    return [int(each) for each in last - due.astype(np.int64)]
