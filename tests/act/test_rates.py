"""The rates that ACT derives: every row of its published table, its options one by one, what it prints."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from ssdlab.formats.act import IndexConfig, StorageConfig, derived, index_rates, storage_rates
from ssdlab.formats.act_files import echo

DAY_S = 86_400
LARGE_BLOCK = 131_072


@pytest.mark.parametrize(
    ("times", "reads", "large", "mb_s", "tb_a_day"),
    [
        (1, 2000, "23.53", "3.08", "0.27"),
        (30, 60_000, "705.9", "92.5", "8.0"),
        (100, 200_000, "2352.9", "308", "26.6"),
    ],
)
def test_the_rows_of_the_table(times: int, reads: int, large: str, mb_s: str, tb_a_day: str) -> None:
    rates = storage_rates(StorageConfig(read_reqs_per_sec=2000 * times, write_reqs_per_sec=1000 * times))

    def printed(value: Fraction, like: str) -> str:
        return f"{float(value):.{len(like.partition('.')[2])}f}"

    assert rates.records_per_block == 85
    assert (rates.reads, rates.writes) == (reads, 0)
    assert rates.large_reads == rates.large_writes
    assert printed(rates.large_reads, large) == large
    assert printed(rates.large_writes * LARGE_BLOCK / 10**6, mb_s) == mb_s
    assert printed(rates.large_writes * LARGE_BLOCK * DAY_S / 10**12, tb_a_day) == tb_a_day


def test_one_x_to_the_last_digit_that_is_told() -> None:
    rates = storage_rates(StorageConfig())
    assert f"{float(rates.large_writes):.3f}" == "23.529"
    assert f"{float(rates.large_writes) / 2:.3f}" == "11.765"
    assert f"{float(rates.large_writes) * LARGE_BLOCK / 1e6:.3f}" == "3.084"
    assert f"{float(rates.large_writes) * LARGE_BLOCK * DAY_S / 1e9:.0f}" == "266"


def test_commit_to_device_writes_small_ones_and_only_collects_large_ones() -> None:
    rates = storage_rates(StorageConfig(commit_to_device=True))
    assert rates.writes == 1000
    assert f"{float(rates.large_writes):.2f}" == "11.76"
    assert f"{float(rates.large_reads):.2f}" == "23.53"
    empty = storage_rates(StorageConfig(commit_to_device=True, defrag_lwm_pct=0))
    assert empty.large_writes == 0 and empty.large_reads == Fraction(1000, 85)


def test_the_code_counts_and_not_the_worked_example_of_the_readme() -> None:
    rates = storage_rates(StorageConfig(record_bytes=1500))
    assert (rates.record_stored_bytes, rates.records_per_block) == (1504, 87)
    assert f"{float(rates.large_writes) / 2:.3f} {float(rates.large_writes):.3f}" == "11.494 22.989"


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"update_pct": 40}, "reads", 1400),
        ({"update_pct": 33, "write_reqs_per_sec": 10}, "reads", 1003),  # 3.3 is cut
        ({"no_defrag_reads": True}, "large_reads", 0),
        ({"replication_factor": 2}, "large_writes", Fraction(2000, 85) * 2),
        ({"replication_factor": 3, "commit_to_device": True}, "writes", 3000),
        ({"defrag_lwm_pct": 60}, "large_writes", Fraction(1000, 85) * Fraction(5, 2)),
        ({"defrag_lwm_pct": 40}, "large_reads", Fraction(1000, 85) * Fraction(5, 3)),
        ({"record_bytes_range_max": 4000}, "records_per_block", 131_072 // ((1536 + 4000) // 2)),
        ({"record_bytes_range_max": 4001}, "record_stored_range_max_bytes", 4016),
        ({"record_bytes": 1}, "records_per_block", 8192),
        ({"large_block_op_kbytes": 1024}, "records_per_block", 1_048_576 // 1536),
        ({"record_bytes": 131_072}, "large_writes", 2000),
        ({"write_reqs_per_sec": 0}, "large_writes", 0),
        ({"commit_to_device": True, "no_defrag_reads": True}, "large_writes", Fraction(1000, 85)),
    ],
)
def test_options_that_change_rates(changes: dict[str, int], field: str, value: object) -> None:
    base = StorageConfig(read_reqs_per_sec=1000, write_reqs_per_sec=1000)
    assert getattr(storage_rates(replace(base, **changes)), field) == value


@pytest.mark.parametrize(
    ("changes", "service", "pairs"),
    [
        ({}, 3000, 2000),
        ({"replication_factor": 2}, 4000, 4000),
        ({"defrag_lwm_pct": 40}, 3000, 1666),  # 1666.67 is cut to a whole number
        ({"write_reqs_per_sec": 0}, 2000, 0),
        ({"read_reqs_per_sec": 60_000, "write_reqs_per_sec": 30_000}, 90_000, 60_000),
    ],
)
def test_rates_of_act_index(changes: dict[str, int], service: int, pairs: int) -> None:
    rates = index_rates(IndexConfig(**changes))
    assert (rates.service_reads, rates.cache_pairs) == (service, pairs)


def test_what_the_original_prints_before_it_begins() -> None:
    config = StorageConfig(device_names=("/dev/sdb",), service_threads=40, commit_to_device=True)
    lines = echo(config).splitlines()
    assert lines[:5] == [
        "ACT-STORAGE CONFIGURATION",
        "device-names: /dev/sdb",
        "num-devices: 1",
        "service-threads: 40",
        "test-duration-sec: 86400",
    ]
    assert lines[-6:] == [
        "DERIVED CONFIGURATION",
        "record-stored-bytes: 1536 ... 1536",
        "internal-read-reqs-per-sec: 2000",
        "internal-write-reqs-per-sec: 1000",
        "large-block-reads-per-sec: 23.53",
        "large-block-writes-per-sec: 11.76",
    ]
    assert derived(IndexConfig()) == {
        "service-thread-reads-per-sec": "3000",
        "cache-thread-reads-and-writes-per-sec": "2000",
    }
