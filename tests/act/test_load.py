"""The streams of both programs, and the arrivals that each is known for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ssdlab import _core
from ssdlab.drives import open_drive
from ssdlab.formats.act import IndexConfig, StorageConfig
from ssdlab.methods.act.load import index_workload, paced, storage_workload
from ssdlab.model.arrival import Bursts, Open
from ssdlab.model.errors import UsageError
from ssdlab.model.workload import Mix, Ratio, Stepped, Workload

FLAT = "sim:xpoint,scale=64"


def load(config: StorageConfig, arrivals: Any = "act6", threads: int = 10, unit: int = 512) -> Workload:
    return storage_workload(
        config, arrivals=arrivals, threads=threads, logical_block_bytes=unit, interval_ns=10**9
    )


def test_streams_have_the_rates_the_sizes_and_the_threads() -> None:
    streams = {each.name: each for each in load(StorageConfig()).streams}
    assert list(streams) == ["service", "large-block-reads", "large-block-writes"]
    service = streams["service"]
    assert service.requested_iops == 2000 and service.workers == 10 and service.ops == Mix(read_pct=100)
    assert [block.bytes for block in service.block] == [1536]
    assert service.pattern == Stepped(step_bytes=512), "1536 bytes on any sector of 512"
    large = streams["large-block-writes"]
    assert large.dsync and large.workers == 1 and f"{float(large.requested_iops or 0):.2f}" == "23.53"
    assert not any(each.cpus for each in streams.values()), "threads are not tied to CPUs"


def test_with_options_of_all_kinds() -> None:
    config = StorageConfig(
        record_bytes_range_max=3000,
        commit_to_device=True,
        compress_pct=40,
        tomb_raider=True,
        tomb_raider_sleep_usec=7,
    )
    streams = {each.name: each for each in load(config).streams}
    service = streams["service"]
    assert [block.bytes for block in service.block] == [1536, 2048, 2560, 3072]
    assert service.ops == Ratio(read_weight=2, write_weight=1), "each thread reads or writes, by chance"
    assert service.requested_iops == 3000 and service.workers == 10
    assert service.dsync and service.compressible_pct == 60
    assert streams["tomb-raider"].arrival.think_ns == 7000  # type: ignore[union-attr]
    not_synced = load(StorageConfig(disable_odsync=True)).streams[-1]
    assert not_synced.name == "large-block-writes" and not not_synced.dsync
    assert [each.name for each in load(StorageConfig(no_defrag_reads=True)).streams][1:] == [
        "large-block-writes"
    ]
    assert [each.name for each in load(StorageConfig(write_reqs_per_sec=0)).streams] == ["service"]


def test_on_4_kib_sectors_records_are_whole_ones() -> None:
    service = load(StorageConfig(record_bytes_range_max=5000), unit=4096).streams[0]
    assert [block.bytes for block in service.block] == [4096, 8192]
    assert service.pattern == Stepped(step_bytes=4096)


def test_too_many_sizes_are_refused_with_their_number() -> None:
    with pytest.raises(UsageError, match="have 254 sizes"):
        load(StorageConfig(record_bytes_range_max=131_072))


def test_what_may_wait_is_100_000_before_6_and_10_s_since() -> None:
    config = StorageConfig(read_reqs_per_sec=50_000)
    old = {each.name: each for each in paced(load(config, "act2019"), config.max_lag_sec)}
    assert old["service"].allowed_s == 2.0 and "100,000" in old["service"].overrun
    assert old["large-block-writes"].allowed_s == 10.0
    new = paced(load(config, "act6"), config.max_lag_sec)
    assert {each.allowed_s for each in new} == {10.0}
    for_ever = StorageConfig(max_lag_sec=0, test_duration_sec=30)
    assert all(each.allowed_s > 30 for each in paced(load(for_ever), 0))


def test_the_threads_of_2019_are_8_to_each_of_8_queues() -> None:
    service = load(StorageConfig(), "act2019", threads=3).streams[0]
    assert service.workers == 64
    assert isinstance(service.arrival, Open) and service.arrival.queues == 8


def test_the_streams_of_act_index() -> None:
    def streams(arrivals: Any, **options: Any) -> dict[str, Any]:
        made = index_workload(IndexConfig(**options), arrivals=arrivals, threads=10, interval_ns=10**9)
        return {each.name: each for each in made.streams}

    bundled = streams("act6")
    assert {each.block[0].bytes for each in bundled.values()} == {4096}
    assert bundled["service"].requested_iops == 3000
    cache = bundled["cache"]
    assert cache.arrival == Bursts(bytes=8 * 100 * 2 * 4096, every_ns=400_000_000)
    assert cache.requested_iops == 4000 and cache.workers == 8 and cache.dsync
    assert streams("even")["cache"].arrival == Open(process="even", rate=4000)
    assert list(streams("act6", write_reqs_per_sec=0)) == ["service"]


@pytest.mark.parametrize(
    ("arrivals", "low", "high"),
    [("act6", 2.8, 3.2), ("act2019", 0.0, 0.001), ("poisson", 0.98, 1.02), ("even", 0.0, 0.001)],
)
def test_arrivals_are_as_clumped_as_each_is_known_for(
    arrivals: Any, low: float, high: float, tmp_path: Path
) -> None:
    """act_storage was measured to have a coefficient of variation of 2.97 at 1x with 10 threads."""
    workload = load(StorageConfig(test_duration_sec=20), arrivals)
    reads = workload.streams[0].model_copy(update={"log_ios": True})
    with open_drive(FLAT, writing=True, destroy=FLAT) as drive:
        path = tmp_path / "ios.log"
        drive.run(Workload.of(reads), log_path=path)
    due = np.sort(_core.read_log(path).ios()["intended_ns"])
    assert due.size == pytest.approx(40_000, abs=0 if arrivals != "poisson" else 1000)
    gaps = np.diff(due)
    assert low <= gaps.std() / gaps.mean() <= high
