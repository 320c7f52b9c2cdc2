"""Parameters of ACT's loads, under ACT's own names; an ACT configuration file can set them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, JsonValue

from ssdlab.formats.act import (
    READS_1X,
    WRITES_1X,
    ActConfig,
    IndexConfig,
    StorageConfig,
    changed_options,
    options,
    rate_at,
    times_of,
)
from ssdlab.formats.act_files import config_of
from ssdlab.plugin import NS_PER_S, Metavar, Params, UsageError, Workload, param

from .load import CACHE, SERVICE, Arrivals, index_workload, storage_workload, threads_of
from .result import Rule

LONG_TEST_S = 7200
Times = Annotated[float, AfterValidator(lambda times: int(times) if times.is_integer() else times)]
"""Load N of Nx; a whole number becomes an int."""


class LoadParams(Params):
    """Parameters that act_storage and act_index share."""

    program: ClassVar[type[StorageConfig] | type[IndexConfig]] = StorageConfig
    judged: ClassVar[Mapping[Rule, tuple[str, ...]]] = {"2019": (SERVICE,), "6.x": (SERVICE,)}
    """Streams whose reads each rule counts."""

    load: Times = param(
        1,
        "N of Nx: multiplies the two rates below; in steps of 0.001 at ACT's own rates",
        ge=0.001,
        le=10_000,
    )
    arrivals: Arrivals = param(
        "act6",
        "arrivals of small I/Os. act6: as ACT 6, all threads tick together; act2019: as ACT before "
        "it, one even generator, 8 queues of 8 threads, latency from the queue; even; poisson",
    )
    config: Annotated[str, Metavar("FILE")] = param(
        "", "ACT configuration file with the options; what is set by name takes precedence"
    )
    test_duration_sec: int = param(86_400, "length of the test", unit="s", quick=10, ge=1, le=31_536_000)
    slice_sec: int = param(3600, "length of a slice; each must pass", unit="s", quick=5, ge=1, le=86_400)
    prepare: bool = param(
        True, "write the drive twice first, with zeroes and then with salt, as act_prep does"
    )
    read_reqs_per_sec: int = param(READS_1X, "client reads at 1x", unit="1/s", ge=0, le=100_000_000)
    write_reqs_per_sec: int = param(WRITES_1X, "client writes at 1x", unit="1/s", ge=0, le=100_000_000)
    service_threads: int = param(
        80,
        "threads of the small I/Os. The original takes 5 per CPU, so its bursts depend on the host; "
        "80 are those of 16 CPUs",
        ge=1,
        le=4096,
    )
    replication_factor: int = param(1, "copies of each write")
    defrag_lwm_pct: int = param(50, "fill level at which a block is defragmented", unit="%")
    disable_odsync: bool = param(False, "writes need not be durable when they complete")
    max_lag_sec: int = param(10, "lag behind the load at which the test ends; 0: never", unit="s")

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Self:
        """Return the parameters of a run; `settings` override those of a configuration file.

        Raises
        ------
        UsageError
            The file cannot be read, or a setting is invalid.
        """
        given = dict(settings or {})
        if given.get("config"):
            found = options(_of_one_drive(config_of(Path(given["config"]), cls.program)))
            shared = {name: str(value) for name, value in found.items() if name in cls.model_fields}
            if quick:
                shared.pop("test_duration_sec", None)
            given = {**shared, **given}
        built = super().build(given, quick=quick)
        assert isinstance(built, cls)
        built.act_config()  # raises now if out of bounds, not after hours of preparation
        return built

    def act_config(self, load: float | None = None) -> ActConfig:
        """Return ACT's options at a load; None means the requested load."""
        times = self.load if load is None else load
        names = {each.name for each in fields(self.program)} & set(type(self).model_fields)
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        for rate in ("read_reqs_per_sec", "write_reqs_per_sec"):
            values[rate] = rate_at(rate, values[rate], times)
        return self.program(**values)

    @property
    def unit_load(self) -> float:
        """Load in multiples of ACT's 1x that `load` 1 runs; 1 if the ratio of the rates is not ACT's."""
        return times_of(self.read_reqs_per_sec, self.write_reqs_per_sec) or 1

    def changed(self, load: float | None = None) -> dict[str, JsonValue]:
        """Return the options, by name, that make the load or its judgement differ from ACT's own Nx.

        The rates are included only if their ratio is not ACT's. The number of service threads is compared
        with the default of this method; in ACT it depends on the number of CPUs.
        """
        config = self.act_config(load)
        changed: dict[str, JsonValue] = {}
        if not times_of(config.read_reqs_per_sec, config.write_reqs_per_sec):
            changed |= {
                "read_reqs_per_sec": config.read_reqs_per_sec,
                "write_reqs_per_sec": config.write_reqs_per_sec,
            }
        changed |= changed_options(config)
        if self.arrivals in ("even", "poisson"):
            changed["arrivals"] = self.arrivals
        threads = type(self).model_fields["service_threads"].default
        if self.arrivals != "act2019" and self.service_threads != threads:
            changed["service_threads"] = self.service_threads
        return changed

    @abstractmethod
    def workload(self, load: float, logical_block_bytes: int) -> Workload:
        """Return the streams of a load N of Nx, for a drive with this logical block size."""

    @property
    def threads(self) -> int:
        """Number of threads that do small I/Os."""
        return threads_of(self.arrivals, self.service_threads)

    @property
    def interval_s(self) -> int:
        """Length of a row: 10 s in tests over 2 h if slice and test are multiples of it, else 1 s."""
        tens = self.slice_sec % 10 == 0 == self.test_duration_sec % 10
        return 10 if self.test_duration_sec > LONG_TEST_S and tens else 1

    @property
    def rule(self) -> Rule:
        """Rule that judges the load: that of the ACT version whose arrivals it has."""
        return "2019" if self.arrivals == "act2019" else "6.x"


def _of_one_drive(config: ActConfig) -> ActConfig:
    """Return the configuration, or raise UsageError if it names several drives or tests the page cache."""
    if (count := len(config.device_names)) > 1:
        raise UsageError(
            f"the file names {count} drives ({', '.join(config.device_names)}), with rates for all of them",
            f"test one drive at a time: give a file for one, with its rates divided by {count}",
            device_names=count,
        )
    if config.file_size_mbytes:
        raise UsageError(
            "with file-size-mbytes, the original tests the page cache",
            "remove the line, and name the file as the drive: its I/O is direct here",
        )
    return config


class StorageParams(LoadParams):
    record_bytes: int = param(
        1536, "record size, rounded up to 16 B and to whole blocks of the drive", unit="B"
    )
    record_bytes_range_max: int = param(
        0, "largest record, sizes evenly distributed between; 0: one size", unit="B"
    )
    large_block_op_kbytes: int = param(128, "size of a large-block I/O", unit="KiB")
    update_pct: int = param(0, "share of writes that read their record first", unit="%")
    no_defrag_reads: bool = param(False, "defragmentation does not read")
    compress_pct: int = param(100, "compressed size of the data; 100: incompressible", unit="%")
    commit_to_device: bool = param(False, "each write goes to the drive at once, as a small one")
    tomb_raider: bool = param(False, "a thread reads the whole drive again and again")
    tomb_raider_sleep_usec: int = param(0, "pause between two of its reads", unit="us")

    def workload(self, load: float, logical_block_bytes: int) -> Workload:
        config = self.act_config(load)
        assert isinstance(config, StorageConfig)
        return storage_workload(
            config,
            arrivals=self.arrivals,
            threads=self.service_threads,
            logical_block_bytes=logical_block_bytes,
            interval_ns=self.interval_s * NS_PER_S,
        )


class IndexParams(LoadParams):
    program: ClassVar[type[StorageConfig] | type[IndexConfig]] = IndexConfig
    judged: ClassVar[Mapping[Rule, tuple[str, ...]]] = {"2019": (SERVICE,), "6.x": (SERVICE, CACHE)}

    cache_threads: int = param(8, "threads that do all writes, and the reads of defragmentation")

    def workload(self, load: float, logical_block_bytes: int) -> Workload:
        config = self.act_config(load)
        assert isinstance(config, IndexConfig)
        return index_workload(
            config,
            arrivals=self.arrivals,
            threads=self.service_threads,
            interval_ns=self.interval_s * NS_PER_S,
        )
