"""The load that ACT derives from its configuration: exact rates, and the streams that make them.

Source: Aerospike ACT 6.6, src/storage/cfg_storage.c (derive_configuration). Its rates divide by whole records
in a large block (131072 // 1536 = 85), which the README's worked example does not; the code counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ssdlab.arrival import Closed, Open
from ssdlab.errors import UsageError
from ssdlab.methods.act.config import RECORD_UNIT_BYTES, ActConfig
from ssdlab.pattern import Sequential, Uniform
from ssdlab.units import NS_PER_S
from ssdlab.workload import Block, Mix, Stop, Stream, Workload

Arrivals = Literal["act6", "act2019", "even", "poisson"]

QUEUES_2019 = 8
THREADS_A_QUEUE_2019 = 8
MOST_QUEUED_2019 = 100_000
"""I/Os waiting in all queues at which ACT before 6 gave up."""
TOMB_BLOCK_BYTES = 128 * 1024
MOST_SIZES = 64

READS, WRITES = "reads", "writes"
LARGE_READS, LARGE_WRITES = "large-block-reads", "large-block-writes"
TOMB_RAIDER = "tomb-raider"


@dataclass(frozen=True, slots=True)
class Rates:
    """What ACT derives, per second; exact.

    Attributes
    ----------
    record_stored_bytes, record_stored_range_max_bytes
        Records as stored, rounded up to 16 B; the second is 0 without a range.
    records_per_block
        Whole records of the mean size in a large block.
    reads, writes
        Small I/Os; small writes come with commit-to-device only.
    large_reads, large_writes
        Large-block I/Os.
    """

    record_stored_bytes: int
    record_stored_range_max_bytes: int
    records_per_block: int
    reads: int
    writes: int
    internal_writes: int
    large_reads: Fraction
    large_writes: Fraction


def derive_rates(config: ActConfig) -> Rates:
    """Return what ACT derives from its options."""
    stored = _stored(config.record_bytes)
    largest = _stored(config.record_bytes_range_max)
    mean = (stored + largest) // 2 if largest else stored
    per_block = config.large_block_op_kbytes * 1024 // mean
    internal_writes = config.replication_factor * config.write_reqs_per_sec
    original = Fraction(internal_writes, per_block)
    amplification = Fraction(100, 100 - config.defrag_lwm_pct)
    return Rates(
        record_stored_bytes=stored,
        record_stored_range_max_bytes=largest,
        records_per_block=per_block,
        reads=config.read_reqs_per_sec + config.write_reqs_per_sec * config.update_pct // 100,
        writes=internal_writes if config.commit_to_device else 0,
        internal_writes=internal_writes,
        large_reads=Fraction(0) if config.no_defrag_reads else original * amplification,
        large_writes=original * (amplification - 1 if config.commit_to_device else amplification),
    )


def act_workload(
    config: ActConfig, *, arrivals: Arrivals, threads: int, logical_block_bytes: int, interval_ns: int
) -> Workload:
    """Return ACT's streams for one drive.

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
        Small I/Os are whole blocks of the drive.
    interval_ns
        Length of an interval row.

    Raises
    ------
    UsageError
        The range of record sizes has more steps than a stream can have sizes.
    """
    rates = derive_rates(config)
    threads = QUEUES_2019 * THREADS_A_QUEUE_2019 if arrivals == "act2019" else threads
    sizes = _small_blocks(rates, logical_block_bytes)
    stop = Stop(time_ns=config.test_duration_sec * NS_PER_S)
    large = (Block(bytes=config.large_block_op_kbytes * 1024),)
    asked = (
        (READS, Fraction(rates.reads), sizes),
        (WRITES, Fraction(rates.writes), sizes),
        (LARGE_READS, rates.large_reads, large),
        (LARGE_WRITES, rates.large_writes, large),
    )
    streams = [
        Stream(
            name=name,
            ops=Mix(read_pct=100 if name in (READS, LARGE_READS) else 0),
            block=blocks,
            pattern=Uniform(),
            workers=threads if blocks is sizes else 1,
            arrival=_small_arrival(config, arrivals, rate)
            if blocks is sizes
            else Open(process="even", rate=rate, backlog_ns=_lag_ns(config)),
            stop=stop,
            **({} if name in (READS, LARGE_READS) else _written(config)),
        )
        for name, rate, blocks in asked
        if rate
    ]
    if config.tomb_raider:
        streams.append(_tomb_raider(config, stop))
    return Workload.of(*streams, interval_ns=interval_ns)


def preparation(salt: bool, threads: int = 8) -> Workload:
    """Return one pass of act_prep: the whole span, by 8 threads of a contiguous part each."""
    stream = Stream(
        name="salt" if salt else "zero",
        ops=Mix(read_pct=0),
        block=(Block(bytes=TOMB_BLOCK_BYTES),),
        pattern=Sequential(),
        workers=threads,
        compressible_pct=0 if salt else 100,
        stop=Stop(span_once=True),
    )
    return Workload.of(stream)


def _written(config: ActConfig) -> dict[str, Any]:
    return {"dsync": not config.disable_odsync, "compressible_pct": 100 - config.compress_pct}


def _stored(record_bytes: int) -> int:
    return -(-record_bytes // RECORD_UNIT_BYTES) * RECORD_UNIT_BYTES


def _small_blocks(rates: Rates, unit: int) -> tuple[Block, ...]:
    """Return the sizes of small I/Os: records in whole blocks of the drive."""
    least = -(-rates.record_stored_bytes // unit) * unit
    most = -(-max(rates.record_stored_range_max_bytes, rates.record_stored_bytes) // unit) * unit
    sizes = range(least, most + 1, unit)
    if len(sizes) > MOST_SIZES:
        raise UsageError(
            f"records from {least} to {most} bytes have {len(sizes)} sizes in steps of {unit}",
            f"narrow the range to {MOST_SIZES} sizes",
            sizes=len(sizes),
        )
    return tuple(Block(bytes=size) for size in sizes)


def _lag_ns(config: ActConfig) -> int:
    """Return how long an I/O may stay due; max-lag-sec 0 is "for ever", here: as long as the test."""
    return (config.max_lag_sec or config.test_duration_sec) * NS_PER_S


def _small_arrival(config: ActConfig, arrivals: Arrivals, rate: Fraction) -> Open:
    if arrivals != "act2019":
        return Open(process=arrivals, rate=rate, backlog_ns=_lag_ns(config))
    # A queue of so many at this rate is as old as its first I/O.
    backlog_ns = max(1, round(MOST_QUEUED_2019 / rate * NS_PER_S))
    return Open(process="act2019", queues=QUEUES_2019, rate=rate, backlog_ns=backlog_ns)


def _tomb_raider(config: ActConfig, stop: Stop) -> Stream:
    """Return the thread that reads the whole drive again and again; it is in no histogram of ACT's."""
    return Stream(
        name=TOMB_RAIDER,
        ops=Mix(read_pct=100),
        block=(Block(bytes=TOMB_BLOCK_BYTES),),
        pattern=Sequential(),
        arrival=Closed(think_ns=config.tomb_raider_sleep_usec * 1000),
        stop=stop,
    )
