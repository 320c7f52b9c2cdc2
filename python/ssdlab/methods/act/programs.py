"""The parameters of both programs' loads, and the streams that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ssdlab.formats.act.config import IndexConfig, StorageConfig
from ssdlab.methods.act.index_load import CACHE, index_workload
from ssdlab.methods.act.load import SERVICE, storage_workload
from ssdlab.methods.act.params import LoadParams
from ssdlab.methods.method import param
from ssdlab.methods.results.act import Rule
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Workload


class StorageParams(LoadParams):
    """Those of act_storage."""

    record_bytes: int = param(1536, "record, rounded up to 16 B and to whole blocks of the drive", unit="B")
    record_bytes_range_max: int = param(0, "greatest record, sizes even between; 0: one size", unit="B")
    large_block_op_kbytes: int = param(128, "large I/O", unit="KiB")
    update_pct: int = param(0, "writes that read first", unit="%")
    no_defrag_reads: bool = param(False, "collection does not read")
    compress_pct: int = param(100, "what data compresses to; 100: not at all", unit="%")
    commit_to_device: bool = param(False, "each write goes to the drive at once, as a small one")
    tomb_raider: bool = param(False, "a thread reads the whole drive again and again")
    tomb_raider_sleep_usec: int = param(0, "pause between two of its reads", unit="us")

    def workload(self, load: int, logical_block_bytes: int) -> Workload:
        """Return the streams of act_storage at a load."""
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
    """Those of act_index."""

    program: ClassVar[type[StorageConfig] | type[IndexConfig]] = IndexConfig
    judged: ClassVar[Mapping[Rule, tuple[str, ...]]] = {"2019": (SERVICE,), "6.x": (SERVICE, CACHE)}

    cache_threads: int = param(8, "that do all writes, and the reads of collection")

    def workload(self, load: int, logical_block_bytes: int) -> Workload:
        """Return the streams of act_index at a load."""
        config = self.act_config(load)
        assert isinstance(config, IndexConfig)
        return index_workload(
            config,
            arrivals=self.arrivals,
            threads=self.service_threads,
            interval_ns=self.interval_s * NS_PER_S,
        )
