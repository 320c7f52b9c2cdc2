"""The loads of act_storage and act_index on one drive, and the pacing of their threads.

act_storage: service threads read records and, with commit-to-device, write them. Sizes and offsets of records
are multiples of the drive's smallest block; places are random. One thread reads large blocks and one writes
them, anywhere on the drive. An optional tomb raider reads the whole drive repeatedly.

act_index: all I/Os are 4 KiB. Service threads do lookups; cache threads read and write in bundles of 100
reads and 100 writes. A cache thread runs a bundle as fast as it can, then waits for its next one. All cache
threads start their bundles together. ACT alternates reads and writes in a bundle. Here their order is random,
one to one on average, and any cache thread does the next I/O.

Pacing follows one of two ACT versions, or does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, sqrt
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.analysis.act import Paced
from ssdlab.formats.act import IndexConfig, StorageConfig, StorageRates, index_rates, storage_rates
from ssdlab.plugin import (
    NS_PER_S,
    Block,
    Bursts,
    Closed,
    Mix,
    Open,
    Ratio,
    Sequential,
    Stepped,
    Stop,
    Stream,
    UsageError,
    Workload,
)

if TYPE_CHECKING:
    from ssdlab.plugin import AnyOps


MAX_SIZES = 64
SERVICE, LARGE_READS, LARGE_WRITES = "service", "large-block-reads", "large-block-writes"
TOMB_RAIDER = "tomb-raider"
Arrivals = Literal["act6", "act2019", "even", "poisson"]
QUEUES_2019 = 8
THREADS_A_QUEUE_2019 = 8
"""Eight queues of eight threads, as in a published review of fast NVMe drives."""
MAX_QUEUED_2019 = 100_000
"""Number of I/Os waiting in all queues at which ACT before 6 ended a test."""
CACHE = "cache"
IO_BYTES = 4096
PAIRS_A_BUNDLE = 100


def storage_workload(
    config: StorageConfig, *, arrivals: Arrivals, threads: int, logical_block_bytes: int, interval_ns: int
) -> Workload:
    """Return the workload of act_storage.

    Parameters
    ----------
    arrivals
        When small I/Os are due. `act6`: all threads tick together, as act_storage 6 does. `act2019`: one
        evenly paced generator feeds 8 queues of 8 threads each, as ACT before 6 did; `threads` is not used.
        `even` and `poisson`: arrivals do not depend on the number of threads.
    threads
        Number of threads for small I/Os (service-threads).
    logical_block_bytes
        Smallest block of the drive. Sizes and offsets of small I/Os are multiples of it.

    Raises
    ------
    UsageError
        The range of record sizes has more steps than a stream can have sizes.
    """
    rates = storage_rates(config)
    streams = [
        *_service(config, rates, arrivals, threads, logical_block_bytes),
        *_large(LARGE_READS, rates.large_reads, config),
        *_large(LARGE_WRITES, rates.large_writes, config),
        *((_tomb_raider(config),) if config.tomb_raider else ()),
    ]
    return Workload.of(*streams, interval_ns=interval_ns)


def ops_of(reads: int, writes: int) -> AnyOps:
    if not reads or not writes:
        return Mix(read_pct=100 if reads else 0)
    unit = gcd(reads, writes)
    return Ratio(read_weight=reads // unit, write_weight=writes // unit)


def _written(config: StorageConfig) -> dict[str, Any]:
    """Return the options that only streams with writes have."""
    return {"dsync": not config.disable_odsync, "compressible_pct": 100 - config.compress_pct}


def _service(
    config: StorageConfig, rates: StorageRates, arrivals: Arrivals, threads: int, unit: int
) -> list[Stream]:
    total = rates.reads + rates.writes
    if not total:
        return []
    allowed_ns = lag_ns(config.max_lag_sec, config.test_duration_sec)
    stream = Stream(
        name=SERVICE,
        ops=ops_of(rates.reads, rates.writes),
        block=_record_sizes(rates, unit),
        pattern=Stepped(step_bytes=unit),
        workers=threads_of(arrivals, threads),
        arrival=service_arrival(arrivals, Fraction(total), allowed_ns),
        stop=Stop(time_ns=config.test_duration_sec * NS_PER_S),
        **(_written(config) if rates.writes else {}),
    )
    return [stream]


def _large(name: str, rate: Fraction, config: StorageConfig) -> list[Stream]:
    if not rate:
        return []
    reads = name == LARGE_READS
    allowed_ns = lag_ns(config.max_lag_sec, config.test_duration_sec)
    stream = Stream(
        name=name,
        ops=Mix(read_pct=100 if reads else 0),
        block=(Block(bytes=config.large_block_op_kbytes * 1024),),
        arrival=Open(process="even", rate=rate, backlog_ns=allowed_ns),
        stop=Stop(time_ns=config.test_duration_sec * NS_PER_S),
        **({} if reads else _written(config)),
    )
    return [stream]


def _tomb_raider(config: StorageConfig) -> Stream:
    """Return the stream that reads the whole drive repeatedly; no histogram of ACT counts its reads."""
    return Stream(
        name=TOMB_RAIDER,
        ops=Mix(read_pct=100),
        block=(Block(bytes=config.large_block_op_kbytes * 1024),),
        pattern=Sequential(),
        arrival=Closed(think_ns=config.tomb_raider_sleep_usec * 1000),
        stop=Stop(time_ns=config.test_duration_sec * NS_PER_S),
    )


def _record_sizes(rates: StorageRates, unit: int) -> tuple[Block, ...]:
    """Return the sizes of small I/Os, which are records rounded up to whole blocks of the drive."""
    minimum, maximum = (
        -(-stored // unit) * unit
        for stored in (rates.record_stored_bytes, rates.record_stored_range_max_bytes)
    )
    sizes = range(minimum, maximum + 1, unit)
    if len(sizes) > MAX_SIZES:
        raise UsageError(
            f"records from {minimum} to {maximum} bytes have {len(sizes)} sizes in steps of {unit}",
            f"narrow the range to at most {MAX_SIZES} sizes",
            sizes=len(sizes),
        )
    return tuple(Block(bytes=size) for size in sizes)


def threads_of(arrivals: Arrivals, service_threads: int) -> int:
    return QUEUES_2019 * THREADS_A_QUEUE_2019 if arrivals == "act2019" else service_threads


def lag_ns(max_lag_sec: int, duration_s: int) -> int:
    """Return how late an I/O may start, in ns.

    With max-lag-sec 0, which means unlimited, the result is longer than the test.
    """
    return (max_lag_sec or 2 * duration_s) * NS_PER_S


def service_arrival(arrivals: Arrivals, rate: Fraction, allowed_ns: int) -> Open:
    """Return the arrivals of the small I/Os.

    I/Os may start late by `allowed_ns`; `act2019` limits the length of the queues instead.
    """
    if arrivals != "act2019":
        return Open(process=arrivals, rate=rate, backlog_ns=allowed_ns)
    # At this rate, the first I/O of a full queue has waited this long.
    backlog_ns = max(1, round(MAX_QUEUED_2019 / rate * NS_PER_S))
    return Open(process="act2019", queues=QUEUES_2019, rate=rate, backlog_ns=backlog_ns)


def paced(workload: Workload, max_lag_sec: int) -> Sequence[Paced]:
    """Return the pacing of each stream that has a rate, with how late its I/Os may start."""
    return tuple(_paced(stream, max_lag_sec) for stream in workload.streams if stream.requested_iops)


def burst_ios(stream: Stream) -> int:
    """Return the number of I/Os in a burst; 0 for a stream without bursts."""
    return stream.arrival.bytes // stream.block[0].bytes if isinstance(stream.arrival, Bursts) else 0


def due_until(stream: Stream) -> Callable[[float], float]:
    """Return a function from a time in seconds to an upper bound on the I/Os that are due by then."""
    rate = float(stream.requested_iops or 0)
    together = stream.workers + burst_ios(stream)
    drawn = isinstance(stream.arrival, Open) and stream.arrival.process == "poisson"

    def until(time_s: float) -> float:
        # Ten standard deviations above the mean: in practice, never exceeded.
        return rate * time_s + together + (10 * sqrt(rate * time_s) if drawn else 0)

    return until


def _paced(stream: Stream, max_lag_sec: int) -> Paced:
    rate, lag = float(stream.requested_iops or 0), f"fell more than {max_lag_sec} s (max-lag-sec) behind"
    if isinstance(stream.arrival, Bursts):
        allowed_s = float(max_lag_sec) if max_lag_sec else float("inf")
        return Paced(stream.name, rate, allowed_s, stream.arrival.every_ns / NS_PER_S, lag)
    assert isinstance(stream.arrival, Open)
    queued = f"had more than {MAX_QUEUED_2019:,} I/Os queued"
    overrun = queued if stream.arrival.process == "act2019" else lag
    return Paced(stream.name, rate, stream.arrival.backlog_ns / NS_PER_S, overrun=overrun)


def index_workload(config: IndexConfig, *, arrivals: Arrivals, threads: int, interval_ns: int) -> Workload:
    """Return the workload of act_index; the parameters are those of `storage_workload`.

    With arrivals `even` and `poisson`, the I/Os of the cache threads arrive in that way too, without bundles.
    """
    rates = index_rates(config)
    stop = Stop(time_ns=config.test_duration_sec * NS_PER_S)
    allowed_ns = lag_ns(config.max_lag_sec, config.test_duration_sec)
    service = Stream(
        name=SERVICE,
        ops=Mix(read_pct=100),
        block=(Block(bytes=IO_BYTES),),
        workers=threads_of(arrivals, threads),
        arrival=service_arrival(arrivals, Fraction(rates.service_reads), allowed_ns),
        stop=stop,
    )
    if not rates.cache_pairs:
        return Workload.of(service, interval_ns=interval_ns)
    cache = Stream(
        name=CACHE,
        ops=Ratio(read_weight=1, write_weight=1),
        block=(Block(bytes=IO_BYTES),),
        workers=config.cache_threads,
        arrival=_cache_arrival(config, arrivals, rates.cache_pairs, allowed_ns),
        dsync=not config.disable_odsync,
        stop=stop,
    )
    return Workload.of(service, cache, interval_ns=interval_ns)


def _cache_arrival(config: IndexConfig, arrivals: Arrivals, pairs: int, allowed_ns: int) -> Bursts | Open:
    if arrivals in ("even", "poisson"):
        return Open(process=arrivals, rate=Fraction(2 * pairs), backlog_ns=allowed_ns)
    bundles = PAIRS_A_BUNDLE * config.cache_threads
    return Bursts(bytes=2 * bundles * IO_BYTES, every_ns=round(Fraction(bundles * NS_PER_S, pairs)))
