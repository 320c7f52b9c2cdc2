"""ACT's configuration and the rates it derives: ACT.md's figures, and files in both directions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.errors import UsageError
from ssdlab.methods.act.config import ActConfig, read_config, write_config
from ssdlab.methods.act.load import act_workload, derive_rates
from ssdlab.methods.stepping import step_to_highest


@pytest.mark.parametrize(
    ("times", "reads", "large", "mb_s"),
    [(1, 2000, "23.53", "3.08"), (30, 60_000, "705.88", "92.52"), (100, 200_000, "2352.94", "308.40")],
)
def test_derived_rates(times: int, reads: int, large: str, mb_s: str) -> None:
    rates = derive_rates(ActConfig(read_reqs_per_sec=2000 * times, write_reqs_per_sec=1000 * times))
    assert rates.records_per_block == 85
    assert rates.reads == reads
    assert rates.large_reads == rates.large_writes
    assert f"{float(rates.large_reads):.2f}" == large
    assert f"{float(rates.large_writes) * 131072 / 1e6:.2f}" == mb_s


def test_commit_to_device_writes_small_ones_and_only_collects_large_ones() -> None:
    rates = derive_rates(ActConfig(commit_to_device=True))
    assert rates.writes == 1000
    assert f"{float(rates.large_writes):.2f}" == "11.76"
    assert f"{float(rates.large_reads):.2f}" == "23.53"


def test_the_code_counts_and_not_the_worked_example_of_the_readme() -> None:
    rates = derive_rates(ActConfig(record_bytes=1500))
    assert rates.record_stored_bytes == 1504
    assert f"{float(rates.large_writes) / 2:.3f} {float(rates.large_writes):.3f}" == "11.494 22.989"


def test_options_that_change_rates() -> None:
    base = ActConfig(read_reqs_per_sec=1000, write_reqs_per_sec=1000)
    assert derive_rates(replace(base, update_pct=40)).reads == 1400
    assert derive_rates(replace(base, no_defrag_reads=True)).large_reads == 0
    twice = derive_rates(replace(base, replication_factor=2))
    assert twice.large_writes == 2 * derive_rates(base).large_writes
    assert derive_rates(replace(base, defrag_lwm_pct=60)).large_writes == Fraction(1000, 85) * Fraction(5, 2)
    ranged = derive_rates(replace(base, record_bytes_range_max=4000))
    assert ranged.records_per_block == 131072 // ((1536 + 4000) // 2)


def test_streams_have_the_rates_the_sizes_and_the_threads() -> None:
    config = ActConfig(record_bytes_range_max=3000, commit_to_device=True, compress_pct=40, tomb_raider=True)
    workload = act_workload(config, arrivals="act6", threads=10, logical_block_bytes=512, interval_ns=10**9)
    by_name = {stream.name: stream for stream in workload.streams}
    assert list(by_name) == ["reads", "writes", "large-block-reads", "large-block-writes", "tomb-raider"]
    assert [block.bytes for block in by_name["reads"].block] == [1536, 2048, 2560, 3072]
    assert by_name["reads"].requested_iops == 2000 and by_name["reads"].workers == 10
    assert by_name["writes"].dsync and by_name["writes"].compressible_pct == 60
    assert by_name["large-block-reads"].workers == 1
    on_4kn = act_workload(config, arrivals="act2019", threads=10, logical_block_bytes=4096, interval_ns=10**9)
    assert [block.bytes for block in on_4kn.streams[0].block] == [4096]
    assert on_4kn.streams[0].workers == 64


def test_a_queue_of_100_000_ends_a_test_of_2019() -> None:
    config = ActConfig(read_reqs_per_sec=50_000)
    stream = act_workload(
        config, arrivals="act2019", threads=1, logical_block_bytes=512, interval_ns=10**9
    ).streams[0]
    assert stream.arrival.kind == "open" and stream.arrival.backlog_ns == 2 * 10**9


configs = st.builds(
    ActConfig,
    read_reqs_per_sec=st.integers(1, 10**6),
    write_reqs_per_sec=st.integers(0, 10**6),
    service_threads=st.none() | st.integers(1, 4096),
    record_bytes=st.integers(1, 4096),
    large_block_op_kbytes=st.sampled_from([8, 128, 8192]),
    update_pct=st.integers(0, 100),
    defrag_lwm_pct=st.integers(1, 99),
    commit_to_device=st.booleans(),
)


@given(configs)
def test_a_written_file_reads_back_the_same(config: ActConfig) -> None:
    assert read_config(write_config(config, "/dev/nvme0n1")) == config


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("read-req-per-sec: 5", "read-reqs-per-sec"),
        ("read-reqs-per-sec 5", "line 1"),
        ("record-bytes: 200000", "large block of 128 KiB"),
        ("record-bytes: 8388609", "between 1 and 8388608"),
        ("read-reqs-per-sec: 0\nwrite-reqs-per-sec: 0", "no load"),
        ("large-block-op-kbytes: 100", "power of two"),
        ("defrag-lwm-pct: 100", "between 1 and 99"),
        ("commit-to-device: maybe", "yes or no"),
        ("disable-odsync: yes\ncommit-to-device: yes", "synchronous"),
        ("record-bytes: 1536\nrecord-bytes-range-max: 512", "at least record-bytes"),
    ],
)
def test_what_the_original_crashes_on_is_refused_with_the_reason(text: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_config(text)
    assert told in f"{refused.value.what} {refused.value.advice}"


@given(
    limit=st.integers(0, 60),
    first=st.integers(1, 80),
    coarse=st.integers(1, 12),
    upwards=st.booleans(),
)
def test_stepping_finds_the_limit_from_either_side(
    limit: int, first: int, coarse: int, upwards: bool
) -> None:
    tried: dict[int, bool] = {}

    def holds(load: int, certain: bool) -> bool:
        assert certain == (not tried)
        assert load not in tried
        tried[load] = load <= limit
        return tried[load]

    step_to_highest(first, coarse, 1, holds, most=100, upwards=upwards)
    assert max((load for load, held in tried.items() if held), default=0) == limit
    assert min(load for load, held in tried.items() if not held) == max(limit + 1, 1)
