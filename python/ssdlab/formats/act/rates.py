"""The load that ACT derives from its options, exactly as its code does; per second, over all devices.

Large-block rates divide by whole records in a large block (131072 // 1536 = 85), which the README's worked
example does not; the code counts. act_index cuts its rate of cache I/Os to a whole number.

Source: Aerospike ACT 6.6, derive_configuration in src/storage/cfg_storage.c and src/index/cfg_index.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ssdlab.formats.act.config import ActConfig, IndexConfig, StorageConfig, option_name, stored
from ssdlab.formats.act.config_file import told


@dataclass(frozen=True, slots=True)
class StorageRates:
    """What act_storage derives.

    Attributes
    ----------
    record_stored_bytes, record_stored_range_max_bytes
        Smallest and largest record as stored, rounded up to 16 B.
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
    large_reads: Fraction
    large_writes: Fraction


@dataclass(frozen=True, slots=True)
class IndexRates:
    """What act_index derives.

    Attributes
    ----------
    service_reads
        Index lookups: one for each client read and for each copy of each client write.
    cache_pairs
        Pairs of a read and a write by the cache threads.
    """

    service_reads: int
    cache_pairs: int


def storage_rates(config: StorageConfig) -> StorageRates:
    """Return what act_storage derives from its options."""
    least = stored(config.record_bytes)
    most = stored(config.record_bytes_range_max) if config.record_bytes_range_max else least
    per_block = config.large_block_op_kbytes * 1024 // ((least + most) // 2)
    written = config.replication_factor * config.write_reqs_per_sec
    original, amplification = Fraction(written, per_block), _amplification(config)
    return StorageRates(
        record_stored_bytes=least,
        record_stored_range_max_bytes=most,
        records_per_block=per_block,
        reads=config.read_reqs_per_sec + config.write_reqs_per_sec * config.update_pct // 100,
        writes=written if config.commit_to_device else 0,
        large_reads=Fraction(0) if config.no_defrag_reads else original * amplification,
        large_writes=original * (amplification - 1 if config.commit_to_device else amplification),
    )


def index_rates(config: IndexConfig) -> IndexRates:
    """Return what act_index derives from its options."""
    written = config.replication_factor * config.write_reqs_per_sec
    return IndexRates(
        service_reads=config.read_reqs_per_sec + written,
        cache_pairs=int(written * _amplification(config)),
    )


def derived(config: ActConfig) -> dict[str, str]:
    """Return what the original prints as its derived configuration, by its names and to its digits."""
    if isinstance(config, IndexConfig):
        index = index_rates(config)
        return {
            "service-thread-reads-per-sec": str(index.service_reads),
            "cache-thread-reads-and-writes-per-sec": str(index.cache_pairs),
        }
    rates = storage_rates(config)
    return {
        "record-stored-bytes": f"{rates.record_stored_bytes} ... {rates.record_stored_range_max_bytes}",
        "internal-read-reqs-per-sec": str(rates.reads),
        "internal-write-reqs-per-sec": str(rates.writes),
        "large-block-reads-per-sec": f"{float(rates.large_reads):.2f}",
        "large-block-writes-per-sec": f"{float(rates.large_writes):.2f}",
    }


def echo(config: ActConfig) -> str:
    """Return what the original prints before it begins: its options, and what it derives from them."""
    lines = [f"{config.program.upper().replace('_', '-')} CONFIGURATION"]
    for key, text in told(config):
        if key == "device_names":
            lines += [
                f"device-names: {' '.join(config.device_names)}",
                f"num-devices: {len(config.device_names)}",
            ]
        else:
            lines.append(f"{option_name(key)}: {text}")
    lines += ["", "DERIVED CONFIGURATION", *(f"{name}: {text}" for name, text in derived(config).items())]
    return "\n".join(lines) + "\n"


def _amplification(config: ActConfig) -> Fraction:
    """Return how much is written for each block of new records, collection at the low-water mark included."""
    return Fraction(100, 100 - config.defrag_lwm_pct)
