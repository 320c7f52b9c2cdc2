"""Write bursts during large reads, as on a desktop.

Question
    Throughput and latency of reads and writes in bursts; how long large reads take during the writes; how
    this changes if there are no pauses; and which write rate the drive sustains.

Procedure
    1. Fill: the drive rests and is filled sequentially; its first 8 GB are then overwritten at random.
    2. Paced, for 60 s: every 2 s a burst of 40 MB of 4 KiB random writes within these 8 GB. Meanwhile ten
       reads of 200 MB, one every 6 s, 64 KiB sequential, each in its own part of the other capacity. At most
       4 I/Os are in flight, 2 of reads and 2 of writes, by one io_uring thread. Every I/O is logged.
    3. Saturated: the same for as long without pauses.
    4. Sustained rate: the writes alone, 4 in flight, in the same bursts at ever shorter intervals. The rate
       doubles until p99 is over twice that of the lowest rate, or writes are not done in time; then the
       interval between the two rates is halved. A p99 that is more by less than the width of a bucket of
       the histogram, 1.6 %, passes.
    5. Beyond the cache, if the speed of the fill dropped for good: the writes cover twice the bytes filled
       by then, until that many bytes were due. The first rate is the one that passed in step 4. It is halved
       until a rate passes here too.

    Before each load the drive rests, and a simulated drive returns to its state after the overwriting.

Source
    PC Perspective, review of the Intel SSD 600p (2016): fill, span, background of 40 MB every 2 s, ten
    reads of 200 MB, depth of at most 4. Also its figures: throughput inside bursts, load time, latency
    percentiles, paced against saturated. The review does not give the block size of the writes, the interval
    of the reads, or whether the depth of 4 covers both together: these are inferred. It divides bytes by
    service time, and its load time is a sum of service times. Next to these figures ssdlab gives figures
    over the time with an I/O in flight. Rests, the search for the sustained rate, and the writes beyond the
    cache are ssdlab's.

What it cannot show
    Writes over more than the span, which use a cache differently. A rate counts as sustained if it holds
    for the time of one try. That may be the rate of a cache, if the speed of the fill did not drop or the
    drive has no room for step 5. A fill does not show why its speed dropped. On a scaled-down simulated drive
    the bursts are too large for its cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import model_validator

from ssdlab.plugin import (
    Bursts,
    Bytes,
    Departure,
    Method,
    Params,
    Remarks,
    RunData,
    Seconds,
    Tried,
    UsageError,
    param,
    remarks_of_size,
    search_highest,
)

from . import PACED_BURST
from .beyond_cache import ROW_NS, BeyondTrial, beyond_facts, look_for_cache, search_cache
from .desktop_load import (
    FACTOR,
    MAX_BLOCK_BYTES,
    MAX_EVERY_S,
    READ_BLOCK_BYTES,
    SEARCH,
    Layout,
    judge_rates,
    rate_workload,
)
from .result import BURST_BYTES, SPAN_BYTES, BurstLoad, PacedBurstResult, highest_held

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, RunFacts, Step


REVIEW_DEPTH = 4
"""Maximum number of I/Os in flight in the review."""


class PacedBurstParams(Params):
    span: Bytes = param(
        SPAN_BYTES,
        "first bytes of the drive, which the writes stay in",
        unit="B",
        quick=4 * 10**6,
        ge=1 << 20,
    )
    block: Bytes = param(
        4096,
        "block size of the writes; inferred: the review says small writes, 64 KiB at most",
        unit="B",
        ge=512,
        le=MAX_BLOCK_BYTES,
        multiple_of=512,
    )
    burst: Bytes = param(
        BURST_BYTES,
        "bytes written per burst: with the default interval 20 MB/s, a download",
        unit="B",
        quick=400_000,
        ge=512,
        le=10**12,
    )
    every_seconds: Seconds = param(
        2.0, "from one burst to the next", unit="s", quick=0.2, ge=0.001, le=MAX_EVERY_S
    )
    read: Bytes = param(200 * 10**6, "bytes per read", unit="B", quick=10**6, ge=READ_BLOCK_BYTES, le=10**12)
    reads: int = param(10, "number of reads", ge=1, le=1000)
    read_every_seconds: Seconds = param(
        6.0,
        "from one read to the next; inferred: ten within the minute",
        unit="s",
        quick=0.6,
        ge=0.001,
        le=3600,
    )
    depth: int = param(
        REVIEW_DEPTH, "I/Os in flight; the review has 4 at most", unit="I/Os", ge=1, le=REVIEW_DEPTH
    )
    depth_of: Literal["both", "each"] = param(
        "both", "both: reads and writes share the depth, half each; each: either has all of it; inferred"
    )
    rest_seconds: Seconds = param(
        30.0, "rest before each load, in which a cache is emptied", unit="s", quick=0.1, ge=0, le=86_400
    )
    first: int = param(5, "lowest rate tried: an unloaded drive", unit="MB/s", quick=16, ge=1, le=100_000)
    most: int = param(4000, "highest rate tried", unit="MB/s", quick=1000, ge=1, le=100_000)
    resolution: float = param(
        0.1, "resolution of the search, as a share of the rate", unit="share", quick=0.25, ge=0.01, le=0.5
    )
    rate_seconds: Seconds = param(60.0, "time per rate", unit="s", quick=0.5, gt=0, le=86_400)
    beyond_seconds: Seconds = param(
        3600.0,
        "maximum time per rate while twice the cache is written; 0: no writes beyond the cache",
        unit="s",
        quick=0.0,
        ge=0,
    )

    @property
    def side_depth(self) -> int:
        """I/Os in flight in each direction while both directions run."""
        return self.depth if self.depth_of == "each" else self.depth // 2

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if self.side_depth < 1:
            raise UsageError(
                f"reads and writes share depth {self.depth}, which leaves none for one of them",
                "set depth to 2 or more, or depth_of=each",
            )
        return self


def lay_out(usable_bytes: int, p: PacedBurstParams) -> Layout:
    """Lay the load out on a drive; raise UsageError if the drive or a burst is too small."""
    return Layout.cut(
        usable_bytes,
        span=p.span,
        block=p.block,
        burst=p.burst,
        every_seconds=p.every_seconds,
        read=p.read,
        reads=p.reads,
        read_every_seconds=p.read_every_seconds,
        depth=p.depth,
        side_depth=p.side_depth,
    )


def procedure(lab: Lab, p: PacedBurstParams) -> None:
    layout = lay_out(lab.usable_bytes, p)
    lab.conditions(scheduler="none")
    lab.idle(p.rest_seconds)
    cache = look_for_cache(lab, lab.fill(row_ns=ROW_NS))
    lab.precondition(layout.overwrite(), label="overwrite the span")
    with lab.fork() as back:
        for name in ("paced", "saturated"):
            back()
            lab.idle(p.rest_seconds)
            lab.run(layout.both(paced=name == "paced"), label=name)
        tried: list[Step] = []

        def holds(rate: int, certain: bool) -> bool:
            back()
            lab.idle(p.rest_seconds, certain=certain)
            workload = rate_workload(layout, rate, p.rate_seconds)
            label, key = f"{rate} MB/s paced", Tried(search=SEARCH, value=rate)
            tried.append(lab.run(workload, label=label, certain=certain, tried=key))
            return judge_rates(tried, p.most)[-1].held

        search_highest(p.first, p.most, p.resolution, holds)

        def rest() -> None:
            back()
            lab.idle(p.rest_seconds, certain=False)

        trial = BeyondTrial(lab, layout, tried, p.most, rest)
        search_cache(trial, cache, highest_held(judge_rates(tried, p.most)), p.beyond_seconds)


def conclude(data: RunData, p: PacedBurstParams) -> PacedBurstResult:
    paced, saturated = data.step("paced"), data.step("saturated")
    assert paced is not None  # the procedure runs both loads
    assert saturated is not None
    ios = data.ios(paced)
    loads = (
        BurstLoad.of("paced", paced, data.buckets(paced), ios),
        BurstLoad.of("saturated", saturated, data.buckets(saturated)),
    )
    writing, reading = paced.ran.streams
    assert isinstance(writing.arrival, Bursts)  # `Layout.both` makes both streams bursts
    assert isinstance(reading.arrival, Bursts)
    return PacedBurstResult.of(
        loads,
        ios,
        judge_rates(data.tried(SEARCH), p.most),
        quick=data.quick,
        span_bytes=writing.span_bytes(data.capacity_bytes, 1)[1],
        block_bytes=p.block,
        burst_bytes=writing.arrival.bytes,
        every_s=p.every_seconds,
        read_bytes=reading.arrival.bytes,
        read_every_s=p.read_every_seconds,
        depth=p.depth,
        side_depth=writing.depth,
        factor=FACTOR,
        **beyond_facts(data, p.beyond_seconds, p.most),
    )


def _of_depth(facts: RunFacts, p: PacedBurstParams) -> Remarks:
    paced = facts.data.step("paced")
    if paced is None:
        return Remarks()
    in_flight = sum(stream.depth for stream in paced.ran.streams)
    if in_flight <= REVIEW_DEPTH:
        return Remarks()
    return Remarks(
        (
            Departure(
                code="depth",
                what=f"at most {in_flight} I/Os in flight, {p.depth} of each direction; the review has "
                f"at most {REVIEW_DEPTH}",
                why="set by the user",
            ),
        )
    )


METHOD = Method(
    name="paced-burst",
    version=3,
    title="Paced bursts",
    params=PacedBurstParams,
    procedure=procedure,
    conclude=conclude,
    remarks=remarks_of_size("its bursts, reads and rests are not scaled with it", _of_depth),
    result=PACED_BURST,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
    engine="uring",
)
