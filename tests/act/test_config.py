"""ACT's configuration files: both ways, and what the originals crash or run wild on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.cli import main
from ssdlab.formats.act import IndexConfig, StorageConfig
from ssdlab.formats.act_files import read_config, write_config
from ssdlab.methods.act.params import IndexParams, StorageParams
from ssdlab.model.errors import UsageError

devices = st.lists(st.sampled_from(["/dev/sdb", "/dev/nvme0n1"]), unique=True).map(tuple)
shared = {
    "device_names": devices,
    "read_reqs_per_sec": st.integers(1, 10**6),
    "write_reqs_per_sec": st.integers(0, 10**6),
    "service_threads": st.none() | st.integers(1, 4096),
    "microsecond_histograms": st.booleans(),
    "report_interval_sec": st.integers(1, 60),
    "defrag_lwm_pct": st.integers(0, 99),
    "max_lag_sec": st.integers(0, 100),
}
configs = st.one_of(
    st.builds(
        StorageConfig,
        **shared,
        record_bytes=st.integers(1, 4096),
        large_block_op_kbytes=st.sampled_from([8, 128, 8192]),
        update_pct=st.integers(0, 100),
        commit_to_device=st.booleans(),
        no_defrag_reads=st.booleans(),
        tomb_raider_sleep_usec=st.integers(0, 1000),
    ),
    st.builds(IndexConfig, **shared, cache_threads=st.integers(1, 64), disable_odsync=st.booleans()),
)


@given(configs)
def test_a_written_file_reads_back_the_same_and_is_written_the_same(
    config: StorageConfig | IndexConfig,
) -> None:
    text = write_config(config)
    again = read_config(text, "file", type(config))
    assert again == config
    assert write_config(again) == text


def test_comments_order_and_blanks_do_not_count_and_what_is_left_out_is_acts_default() -> None:
    lines = (
        "# mine",
        "",
        "\twrite-reqs-per-sec:  1000   # 1x",
        "read-reqs-per-sec: 2000",
        "device-names: /dev/sdb, /dev/sdc",
    )
    read = read_config("\n".join(lines), "file", StorageConfig)
    assert read == StorageConfig(device_names=("/dev/sdb", "/dev/sdc"))
    assert "#" not in write_config(read)
    names = [line.partition(":")[0] for line in write_config(read).splitlines()]
    assert names[:4] == ["device-names", "test-duration-sec", "report-interval-sec", "microsecond-histograms"]
    assert names[-1] == "max-lag-sec"


def test_a_rate_that_is_left_out_is_none() -> None:
    assert read_config("read-reqs-per-sec: 5", "file", StorageConfig).write_reqs_per_sec == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("read-req-per-sec: 5", "did you mean read-reqs-per-sec"),
        ("cache-threads: 8", "no ACT option 'cache-threads'"),  # of the other program
        ("num-queues: 8", "before 6.0"),
        ("scheduler-mode: noop", "before 6.5"),
        ("read-reqs-per-sec: 5\nread-reqs-per-sec: 6", "line 2 of file gives read-reqs-per-sec again"),
        ("read-reqs-per-sec: -5", "whole number"),
        ("read-reqs-per-sec: 1e3", "whole number"),
        ("read-reqs-per-sec: ", "whole number"),
        ("read-reqs-per-sec: 99999999999", "between 0 and 100000000"),
        ("record-bytes: 200000", "large block of 128 KiB"),
        ("record-bytes: 8388609", "between 1 and 8388608"),
        ("record-bytes: 0", "between 1 and"),
        ("read-reqs-per-sec: 0\nwrite-reqs-per-sec: 0", "no load"),
        ("", "no load"),
        ("large-block-op-kbytes: 100", "power of two"),
        ("defrag-lwm-pct: 100", "between 0 and 99"),
        ("disable-odsync: yes\ncommit-to-device: yes", "synchronous"),
        ("record-bytes-range-max: 1536", "above record-bytes"),
        ("record-bytes-range-max: 131088", "large block of 128 KiB"),
        ("record-bytes : 1536", "takes the colon itself for the value of record-bytes"),
        ("tomb-raider : yes", "takes the colon itself"),
        ("device-names : /dev/sdb", "takes it for a drive"),
        ("device-names: " + 128 * "x", "more than 127 bytes"),
        ("device-names: " + 129 * "a ", "more than 128 drives"),
        ("record-bytes: 1536" + 5000 * " ", "longer than 4094 bytes"),
        ("record-bytes: 15\0", "a byte of 0"),
        ("record-bytes:", "whole number"),
        ("record-bytes: 1,536", "whole number"),
        ("record-bytes: 0x600", "whole number"),
        ("record-bytes\f1536", "no ACT option"),
        ("service-threads: 0", "between 1 and"),
    ],
)
def test_what_the_original_crashes_on_is_refused_with_the_reason(text: str, told: str) -> None:
    filled = text if "reqs-per-sec" in text or not text else f"read-reqs-per-sec: 1\n{text}"
    with pytest.raises(UsageError) as refused:
        read_config(filled, "file", StorageConfig)
    assert told in f"{refused.value.what} {refused.value.advice}"


def test_a_file_gives_a_runs_parameters_and_what_is_set_goes_before_it(tmp_path: Path) -> None:
    file = tmp_path / "act.conf"
    file.write_text("read-reqs-per-sec: 4000\nwrite-reqs-per-sec: 2000\nrecord-bytes: 1000\nmax-lag-sec: 3\n")
    p = StorageParams.build({"config": str(file), "max_lag_sec": "5", "load": "10"})
    assert (p.record_bytes, p.max_lag_sec, p.write_reqs_per_sec) == (1000, 5, 2000)
    assert p.act_config().read_reqs_per_sec == 40_000
    file.write_text("read-reqs-per-sec: 4000\ncache-threads: 3\ntest-duration-sec: 77\n")
    index = IndexParams.build({"config": str(file)}, quick=True)
    assert isinstance(index, IndexParams) and index.cache_threads == 3
    assert index.test_duration_sec == 10, "a quick run is quick"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("device-names: /dev/a,/dev/b\nread-reqs-per-sec: 4000\n", "names 2 drives \\(/dev/a, /dev/b\\)"),
        ("file-size-mbytes: 100\nread-reqs-per-sec: 4000\n", "page cache"),
    ],
)
def test_a_file_that_means_another_test_than_would_be_run_is_refused(
    tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "act.conf").write_text(text)
    with pytest.raises(UsageError, match=told):
        StorageParams.build({"config": str(tmp_path / "act.conf")})


Said = tuple[int, str, str]


@pytest.fixture
def ssdlab(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """The command: its exit status, and what it said on both ways out."""

    def said(*words: str) -> Said:
        capsys.readouterr()
        status = main(words)
        return status, *capsys.readouterr()

    return said


def test_a_file_written_by_the_command_is_read_by_it_and_by_a_run(
    tmp_path: Path, ssdlab: Callable[..., Said]
) -> None:
    file = tmp_path / "30x.conf"
    settings = ("--set", "record-bytes=4096", "--set", "commit-to-device=yes")
    status, _, errors = ssdlab(
        *("act", "config", "--load", "30", "--device", "/dev/sdx", *settings, "--output", str(file))
    )
    assert status == 0, errors
    assert ssdlab("act", "config", "--file", str(file))[1] == file.read_text()
    shown = ssdlab("act", "show", str(file))[1].splitlines()
    assert "internal-read-reqs-per-sec: 60000" in shown
    assert "large-block-writes-per-sec: 937.50" in shown
    status, _, errors = ssdlab("act", "config", "--output", str(file))
    assert status == 2 and "exists" in errors
    status, planned, _ = ssdlab("plan", "act", "sim:tiny-test", "--set", f"config={file}", "--json")
    assert status == 0 and json.loads(planned)["params"]["record_bytes"] == 4096


@pytest.mark.parametrize(
    "words",
    [
        ("act", "show", "{file}"),
        ("run", "act", "sim:tiny-test", "--set", "config={file}"),
        ("plan", "act-search", "sim:tiny-test", "--set", "config={file}"),
    ],
)
def test_a_bad_file_is_bad_usage_with_the_nearest_name(
    tmp_path: Path, words: tuple[str, ...], ssdlab: Callable[..., Said]
) -> None:
    file = tmp_path / "act.conf"
    file.write_text("device-names: /dev/sdb\nread-reqs-per-second: 2000\n")
    status, _, errors = ssdlab(*(word.format(file=file) for word in words))
    assert status == 2
    assert "Did you mean read-reqs-per-sec?" in errors and "line 2" in errors


@pytest.mark.parametrize("name", ["act", "act-search", "act-index"])
@pytest.mark.parametrize(
    "setting", ["read_reqs_per_sec=0,write_reqs_per_sec=0", "max_lag_sec=-1", "service_threads=0"]
)
def test_bad_parameters_are_refused_before_anything_is_done(
    name: str, setting: str, ssdlab: Callable[..., Said]
) -> None:
    words = [word for each in setting.split(",") for word in ("--set", each)]
    status, _, errors = ssdlab("run", name, "sim:tiny-test", "--destroy", "sim:tiny-test", *words)
    assert status == 2 and setting.partition("=")[0].replace("_", "-") in errors.replace("_", "-")


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("record_bytes=200000", "no record fits into a large block of 128 KiB"),
        ("record_bytes=99999999", "between 1 and 8388608"),
        ("record_bytes_range_max=100", "above record-bytes"),
    ],
)
def test_records_that_no_large_block_holds_are_refused(
    setting: str, told: str, ssdlab: Callable[..., Said]
) -> None:
    status, _, errors = ssdlab("run", "act", "sim:tiny-test", "--destroy", "sim:tiny-test", "--set", setting)
    assert status == 2 and told in errors
