"""The options of act_storage and act_index, and the load that ACT derives from them.

Values on which the originals divide by zero, run unthrottled or crash are refused with the reason: a record
larger than the large block, no load, huge records. Fields are in the originals' print order, with `_` for
`-`, and with their defaults and bounds.

Rates are per second, over all devices. For large-block rates, ACT's code divides by the whole records in a
large block (131072 // 1536 = 85). The worked example in its README does not. act_index cuts its rate of cache
I/Os to a whole number.

Source: Aerospike ACT 6.6, src/storage/cfg_storage.c and src/index/cfg_index.c (derive_configuration too),
README (configuration).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from pydantic import JsonValue

RECORD_UNIT_BYTES = 16
"""The stored size of a record is a multiple of this."""
MAX_RECORD_BYTES = 8 << 20
MAX_RATE = 100_000_000
READS_1X, WRITES_1X = 2000, 1000
"""Client requests per second and device in the load that ACT calls 1x."""


def _option(default: Any, minimum: int = 0, maximum: int = 0) -> Any:  # noqa: ANN401 - of the field's own type
    """Define an option; the bounds are checked if `maximum` is not 0."""
    return field(default=default, metadata={"minimum": minimum, "maximum": maximum})


_NAMED_APART = (
    *("device_names", "file_size_mbytes", "service_threads", "test_duration_sec", "report_interval_sec"),
    *("microsecond_histograms", "read_reqs_per_sec", "write_reqs_per_sec"),
)
"""Options that do not change the kind of load: devices, durations, output, and the rates that give N of Nx.
The number of threads depends on the host, also in ACT.
"""


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """The options of act_storage.

    Attributes
    ----------
    device_names
        Drives that share the rates; empty if the drive is named elsewhere.
    file_size_mbytes
        Undocumented: tests files of this size, through the page cache. 0: devices.
    service_threads
        Threads that do the small I/Os. None: not given; the original then takes five for each CPU.
    read_reqs_per_sec, write_reqs_per_sec
        Client requests per second.
    record_bytes, record_bytes_range_max
        Size of a record. With a range, sizes are uniformly distributed between the two. 0: no range.
    large_block_op_kbytes
        Size of the large I/Os that move records between memory and drive.
    replication_factor, update_pct, defrag_lwm_pct
        Copies of each write; percentage of writes that read first; fill, in percent, at which a block is
        defragmented.
    compress_pct
        Size of the written data after compression, in percent; 100: incompressible.
    max_lag_sec
        How far behind its schedule a thread may be before the test ends; 0: never.
    """

    program: ClassVar[str] = "act_storage"

    device_names: tuple[str, ...] = _option(())
    file_size_mbytes: int = _option(0, 0, 1 << 32)
    service_threads: int | None = _option(None, 1, 4096)
    test_duration_sec: int = _option(86_400, 1, 31_536_000)
    report_interval_sec: int = _option(1, 1, 3600)
    microsecond_histograms: bool = _option(False)
    read_reqs_per_sec: int = _option(READS_1X, 0, MAX_RATE)
    write_reqs_per_sec: int = _option(WRITES_1X, 0, MAX_RATE)
    record_bytes: int = _option(1536, 1, MAX_RECORD_BYTES)
    record_bytes_range_max: int = _option(0, 0, MAX_RECORD_BYTES)
    large_block_op_kbytes: int = _option(128, 1, 8192)
    replication_factor: int = _option(1, 1, 128)
    update_pct: int = _option(0, 0, 100)
    defrag_lwm_pct: int = _option(50, 0, 99)
    no_defrag_reads: bool = _option(False)
    compress_pct: int = _option(100, 0, 100)
    disable_odsync: bool = _option(False)
    commit_to_device: bool = _option(False)
    tomb_raider: bool = _option(False)
    tomb_raider_sleep_usec: int = _option(0, 0, 10_000_000)
    max_lag_sec: int = _option(10, 0, 86_400)

    def __post_init__(self) -> None:
        _check(self)
        kbytes, maximum = self.large_block_op_kbytes, self.record_bytes_range_max
        if kbytes & (kbytes - 1):
            raise bad("large_block_op_kbytes", kbytes, "it must be a power of two")
        if 0 < maximum <= self.record_bytes:
            raise bad(
                "record_bytes_range_max", maximum, f"it must be above record-bytes, {self.record_bytes}, or 0"
            )
        if stored(max(self.record_bytes, maximum)) > kbytes * 1024:
            name = "record_bytes_range_max" if maximum else "record_bytes"
            raise bad(
                name, maximum or self.record_bytes, f"no record fits into a large block of {kbytes} KiB"
            )
        if self.disable_odsync and self.commit_to_device:
            raise bad("disable_odsync", "yes", "with commit-to-device each write is synchronous")


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """The options of act_index; options with the names of act_storage's mean the same.

    Attributes
    ----------
    cache_threads
        Threads that do all writes, and the reads of defragmentation.
    """

    program: ClassVar[str] = "act_index"

    device_names: tuple[str, ...] = _option(())
    file_size_mbytes: int = _option(0, 0, 1 << 32)
    service_threads: int | None = _option(None, 1, 4096)
    cache_threads: int = _option(8, 1, 4096)
    test_duration_sec: int = _option(86_400, 1, 31_536_000)
    report_interval_sec: int = _option(1, 1, 3600)
    microsecond_histograms: bool = _option(False)
    read_reqs_per_sec: int = _option(READS_1X, 0, MAX_RATE)
    write_reqs_per_sec: int = _option(WRITES_1X, 0, MAX_RATE)
    replication_factor: int = _option(1, 1, 128)
    defrag_lwm_pct: int = _option(50, 0, 99)
    disable_odsync: bool = _option(False)
    max_lag_sec: int = _option(10, 0, 86_400)

    def __post_init__(self) -> None:
        _check(self)


ActConfig = StorageConfig | IndexConfig


def stored(record_bytes: int) -> int:
    """Return the stored size of a record, a multiple of 16 B."""
    return -(-record_bytes // RECORD_UNIT_BYTES) * RECORD_UNIT_BYTES


def thousandths(times: float | Fraction) -> int | float:
    """Return a multiple of 1x, rounded to a thousandth; an int if it is whole.

    1x is 1000 writes per second, so whole rates can differ by a thousandth.
    """
    exact = round(float(times), 3)
    return int(exact) if exact.is_integer() else exact


def times_of(reads: int, writes: int) -> int | float:
    """Return N of the load Nx; 0 if reads and writes are not in the ratio of 1x.

    >>> times_of(16_000, 8_000), times_of(1_000, 500), times_of(2, 1), times_of(2_000, 0)
    (8, 0.5, 0.001, 0)
    """
    return thousandths(Fraction(writes, WRITES_1X)) if reads * WRITES_1X == writes * READS_1X else 0


def rate_at(key: str, rate: int, times: float) -> int:
    """Return a multiple of a rate, which ACT requires to be whole.

    Raises
    ------
    UsageError
        The multiple is not a whole number.
    """
    exact = rate * Fraction(str(times))
    if exact.denominator != 1:
        raise UsageError(
            f"a load of {times:g}x asks for {float(exact):g} requests a second of {option_name(key)}, "
            f"{rate} at 1x: ACT takes whole numbers",
            "give a load that makes all rates whole: at ACT's own 1x a multiple of 0.001",
            load=times,
        )
    return int(exact)


def changed_options(config: ActConfig) -> dict[str, JsonValue]:
    """Return the non-default options that change the load from ACT's own Nx, by field name."""
    found = {
        each.name: getattr(config, each.name) for each in fields(config) if each.name not in _NAMED_APART
    }
    defaults = {each.name: each.default for each in fields(config)}
    changed = {name: value for name, value in found.items() if value != defaults[name]}
    if not found.get("tomb_raider"):
        changed.pop("tomb_raider_sleep_usec", None)
    return changed


def option_text(key: str, value: object) -> str:
    """Return an option with its value as ACT writes them: `disable-odsync yes`."""
    shown = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    return f"{option_name(key)} {shown}"


def option_name(key: str) -> str:
    """Return a field's name as ACT writes it."""
    return key.replace("_", "-")


def options(config: ActConfig) -> dict[str, Any]:
    """Return the options that have a value, by field name, without the drives."""
    found = {each.name: getattr(config, each.name) for each in fields(config)}
    return {name: value for name, value in found.items() if name != "device_names" and value is not None}


def bad(key: str, value: object, why: str) -> UsageError:
    name = option_name(key)
    return UsageError(f"{name} cannot be {value}: {why}", f"change {name}", option=name, given=value)


def _check(config: ActConfig) -> None:
    for each in fields(config):
        value, minimum, maximum = (
            getattr(config, each.name),
            each.metadata["minimum"],
            each.metadata["maximum"],
        )
        if maximum and value is not None and not minimum <= value <= maximum:
            raise bad(each.name, value, f"it must lie between {minimum} and {maximum}")
    if config.read_reqs_per_sec == 0 and config.write_reqs_per_sec == 0:
        raise bad("read_reqs_per_sec", 0, "without writes as well there is no load")


@dataclass(frozen=True, slots=True)
class StorageRates:
    """The load that act_storage derives from its options, in I/Os per second.

    Attributes
    ----------
    record_stored_bytes, record_stored_range_max_bytes
        Smallest and largest record as stored, rounded up to 16 B.
    records_per_block
        Whole records of the mean size in a large block.
    reads, writes
        Small I/Os; there are small writes only with commit-to-device.
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
    """The load that act_index derives from its options, in I/Os per second.

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
    minimum = stored(config.record_bytes)
    maximum = stored(config.record_bytes_range_max) if config.record_bytes_range_max else minimum
    per_block = config.large_block_op_kbytes * 1024 // ((minimum + maximum) // 2)
    written = config.replication_factor * config.write_reqs_per_sec
    original, amplification = Fraction(written, per_block), _amplification(config)
    return StorageRates(
        record_stored_bytes=minimum,
        record_stored_range_max_bytes=maximum,
        records_per_block=per_block,
        reads=config.read_reqs_per_sec + config.write_reqs_per_sec * config.update_pct // 100,
        writes=written if config.commit_to_device else 0,
        large_reads=Fraction(0) if config.no_defrag_reads else original * amplification,
        large_writes=original * (amplification - 1 if config.commit_to_device else amplification),
    )


def index_rates(config: IndexConfig) -> IndexRates:
    written = config.replication_factor * config.write_reqs_per_sec
    return IndexRates(
        service_reads=config.read_reqs_per_sec + written,
        cache_pairs=int(written * _amplification(config)),
    )


def derived(config: ActConfig) -> dict[str, str]:
    """Return the derived configuration as the original prints it: the same names, values and digits."""
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


def _amplification(config: ActConfig) -> Fraction:
    """Return the write amplification of defragmentation at the low-water mark."""
    return Fraction(100, 100 - config.defrag_lwm_pct)
