"""The load of act_storage on one drive: service threads, a large-block reader and a large-block writer.

Service threads do records: at every multiple of the drive's smallest block, in whole such blocks; reads and,
with commit-to-device, writes, each thread choosing at random. One thread reads large blocks and one writes
them, anywhere on the drive. A tomb raider, if wanted, reads all of it again and again.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

from ssdlab.formats.act.config import StorageConfig
from ssdlab.formats.act.rates import StorageRates, storage_rates
from ssdlab.methods.act.arrivals import Arrivals, lag_ns, service_arrival, threads_of
from ssdlab.model.arrival import Closed, Open
from ssdlab.model.errors import UsageError
from ssdlab.model.pattern import Sequential, Stepped
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Block, Mix, Ratio, Stop, Stream, Workload

if TYPE_CHECKING:
    from ssdlab.model.workload import AnyOps

MOST_SIZES = 64
SERVICE, LARGE_READS, LARGE_WRITES = "service", "large-block-reads", "large-block-writes"
TOMB_RAIDER = "tomb-raider"


def storage_workload(
    config: StorageConfig, *, arrivals: Arrivals, threads: int, logical_block_bytes: int, interval_ns: int
) -> Workload:
    """Return the streams of act_storage.

    Parameters
    ----------
    config
        Its options.
    arrivals
        When small I/Os are due. `act6`: all threads tick together, as act_storage 6 does. `act2019`: one
        evenly paced generator feeds 8 queues of 8 threads each, as ACT before 6 did; `threads` is not used.
        `even` and `poisson` depend on no number of threads.
    threads
        That do the small I/Os (service-threads).
    logical_block_bytes
        Smallest block of the drive: the unit of small I/Os and of their places.
    interval_ns
        Length of an interval row.

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
    """Return reads and writes in the ratio of two rates."""
    if not reads or not writes:
        return Mix(read_pct=100 if reads else 0)
    unit = gcd(reads, writes)
    return Ratio(read_weight=reads // unit, write_weight=writes // unit)


def _written(config: StorageConfig) -> dict[str, Any]:
    """Return what a stream that writes has to say of it."""
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
    """Return the thread that reads the whole drive again and again; it is in no histogram of ACT's."""
    return Stream(
        name=TOMB_RAIDER,
        ops=Mix(read_pct=100),
        block=(Block(bytes=config.large_block_op_kbytes * 1024),),
        pattern=Sequential(),
        arrival=Closed(think_ns=config.tomb_raider_sleep_usec * 1000),
        stop=Stop(time_ns=config.test_duration_sec * NS_PER_S),
    )


def _record_sizes(rates: StorageRates, unit: int) -> tuple[Block, ...]:
    """Return the sizes of small I/Os: records in whole blocks of the drive."""
    least, most = (
        -(-stored // unit) * unit
        for stored in (rates.record_stored_bytes, rates.record_stored_range_max_bytes)
    )
    sizes = range(least, most + 1, unit)
    if len(sizes) > MOST_SIZES:
        raise UsageError(
            f"records from {least} to {most} bytes have {len(sizes)} sizes in steps of {unit}",
            f"narrow the range to {MOST_SIZES} sizes",
            sizes=len(sizes),
        )
    return tuple(Block(bytes=size) for size in sizes)
