"""A measurement as Python sees it: the contract's keys, rows that add up, and the same back from its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from machine.targets import open_target
from ssdlab.model import measurement
from ssdlab.model.errors import HostError, Interrupted, UsageError
from ssdlab.model.measurement import Measurement
from ssdlab.model.summary import DIRECTIONS
from ssdlab.model.warnings import Warning
from ssdlab.model.workload import Stop, Stream, Workload

RATE_KEYS = "schema iops mb_s elapsed_s read write trim intervals requested_iops in_flight"
KEYS = f"{RATE_KEYS} cpu power seed engine warnings drive"
DIRECTION_KEYS = "iops mb_s requested ios failed dropped late bytes errors service_ns response_ns"
LATENCY_KEYS = "min mean max p50 p90 p99 p99.9 p99.99 p99.999"

WORKLOAD = Workload.of(
    Stream(name="mixed", ops=50, workers=2, stop=Stop(ios=1000)),
    Stream(name="writes", ops="write", block="8k", stop=Stop(ios=500)),
    interval_ns="1ms",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measurement") / "scratch.bin"
    path.write_bytes(bytes(4 << 20))
    return path


@pytest.fixture(scope="module")
def measured(file: Path) -> tuple[Measurement, Path]:
    log_path = file.parent / "run.log"
    with open_target(file, write=True) as target:
        resolved = WORKLOAD.resolve(target.size_bytes, target.logical_block_bytes)
        made = measurement.run(target, resolved, {"path": str(file)}, log_path=log_path)
    return made, log_path


def test_the_summary_has_the_contracts_keys_first(measured: tuple[Measurement, Path]) -> None:
    summary = measured[0].as_dict()
    assert list(summary)[: len(KEYS.split())] == KEYS.split()
    assert summary["schema"] == "ssdlab.measurement/1"
    assert list(summary["read"]) == DIRECTION_KEYS.split()
    assert list(summary["read"]["service_ns"]) == LATENCY_KEYS.split()
    assert summary["trim"] is None
    assert summary["power"] is None
    assert set(summary["cpu"]) == {"user_s", "sys_s", "per_io_ns"}


def test_the_summary_is_a_frozen_model_of_the_same(measured: tuple[Measurement, Path]) -> None:
    """Every key of the JSON is a field, or found by its name; and nothing of it can be changed."""
    made, _ = measured
    summary, stored = made.summary(), made.as_dict()
    assert summary.iops == stored["iops"] == made.iops
    assert summary.read is not None
    assert summary.read.service_ns == stored["read"]["service_ns"]
    assert set(summary.sides) == {"read", "write"}
    assert summary.ios == 1500
    for key, value in stored.items():
        assert key in summary
        plain = TypeAdapter(Any).dump_python(summary[key], mode="json", exclude_unset=True)
        assert json.dumps(plain, sort_keys=True) == json.dumps(value, sort_keys=True), key
    assert "nothing" not in summary
    with pytest.raises(KeyError, match="nothing"):
        summary["nothing"]
    with pytest.raises(ValidationError, match="frozen"):
        summary.iops = 1  # type: ignore[misc]


def test_percentiles_with_few_samples_beyond_are_null(measured: tuple[Measurement, Path]) -> None:
    for direction in ("read", "write"):
        part = measured[0].summary()[direction]
        # 10 of n lie beyond the percentile only from n = 10 / (1 - q) on: 1000 for p99, 10,000 for p99.9.
        assert part["response_ns"]["p90"] is not None
        assert part["response_ns"]["p99.9"] is None
        assert (part["response_ns"]["p99"] is None) is (part["ios"] < 1000)


def test_rows_of_parts_add_up_to_rows_of_all(measured: tuple[Measurement, Path]) -> None:
    made, _ = measured
    whole = made.rows()
    cells = [
        made.rows(stream, direction) for stream in made.streams for direction in ("read", "write", "trim")
    ]
    for name in ("ios", "bytes", "failed", "dropped", "late"):
        assert np.array_equal(whole[name], np.sum([cell[name] for cell in cells], axis=0)), name
    assert np.array_equal(whole["service_max_ns"], np.max([cell["service_max_ns"] for cell in cells], axis=0))
    assert int(whole["ios"].sum()) == 1500
    assert int(made.rows("mixed")["ios"].sum()) == 1000
    assert int(made.rows(direction="read")["ios"].sum()) == made.summary()["read"]["ios"]
    assert whole["in_flight_max"].max() <= 3


def test_one_cell_keeps_its_percentiles(measured: tuple[Measurement, Path]) -> None:
    made, _ = measured
    assert "service_p99_ns" in made.rows("writes")
    assert "service_p99_ns" not in made.rows()


def test_rows_as_lists_are_the_columns(measured: tuple[Measurement, Path]) -> None:
    made, log_path = measured
    before = Measurement.from_journal(made.as_dict(), log_path).source
    for stream in made.streams:
        for direction in DIRECTIONS:
            columns = {name: column.tolist() for name, column in made.source.rows(stream, direction).items()}
            assert list(columns) == list(before.row_lists(stream, direction))
            # Before the rows became columns, and after.
            assert before.row_lists(stream, direction) == columns
            assert made.source.row_lists(stream, direction) == columns


def test_intervals_of_several_streams_are_the_combined_rows(measured: tuple[Measurement, Path]) -> None:
    made, _ = measured
    whole, reads, writes = made.rows(), made.rows(direction="read"), made.rows(direction="write")
    intervals = made.report()["intervals"]
    assert [row["in_flight"] for row in intervals] == pytest.approx(whole["in_flight_mean"].tolist())
    assert [row["in_flight_max"] for row in intervals] == whole["in_flight_max"].tolist()
    for name, columns in (("read", reads), ("write", writes)):
        assert [row[name]["bytes"] for row in intervals] == columns["bytes"].tolist()
        longest = [row[name]["service_ns"]["max"] or 0 for row in intervals]
        assert longest == columns["service_max_ns"].tolist()
    # Both streams write, one reads: percentiles of two streams cannot be added up.
    assert {row["write"]["service_ns"]["p50"] for row in intervals} == {None}
    mixed = made.rows("mixed", "read")["service_p50_ns"].tolist()
    assert [row["read"]["service_ns"]["p50"] or 0 for row in intervals] == mixed


def test_histograms_hold_every_io(measured: tuple[Measurement, Path]) -> None:
    made, _ = measured
    summary = made.summary()
    for direction in ("read", "write"):
        for clock in ("service", "response"):
            assert made.histogram(direction, clock).count == summary[direction]["ios"]
    assert made.histogram("write", "service", "writes").count == 500


def test_an_unknown_stream_is_told_with_the_nearest(measured: tuple[Measurement, Path]) -> None:
    for ask in (measured[0].rows, lambda name: measured[0].histogram("read", "service", name)):
        with pytest.raises(UsageError, match="no stream 'mxed'") as raised:
            ask("mxed")
        assert "did you mean mixed?" in raised.value.advice


def test_the_journal_gives_the_same_back(measured: tuple[Measurement, Path]) -> None:
    made, log_path = measured
    again = Measurement.from_journal(made.as_dict(), log_path)
    assert again.as_dict() == made.as_dict()
    assert again.streams == made.streams
    for name, column in made.rows().items():
        assert np.array_equal(again.rows()[name], column), name
    ours, theirs = made.histogram("read", "response"), again.histogram("read", "response")
    assert ours.to_bytes() == theirs.to_bytes()


def test_warnings_and_facts_are_added_to_a_copy(measured: tuple[Measurement, Path]) -> None:
    made, _ = measured
    warned = made.with_warnings([Warning.of("file-system")]).with_facts(note="x")
    assert [each.code for each in warned.warnings] == ["file-system"]
    assert warned.summary()["note"] == "x"
    assert made.warnings == ()
    with pytest.raises(ValueError, match="iops is measured"):
        made.with_facts(iops=1)


def test_what_an_interruption_leaves_is_a_measurement_too(file: Path) -> None:
    def stop(snapshot: Any) -> None:
        raise KeyboardInterrupt

    with open_target(file) as target:
        resolved = Workload.of(Stream(stop=Stop(time_ns="60s"))).resolve(target.size_bytes, 512)
        with pytest.raises(Interrupted) as raised:
            measurement.run(target, resolved, {"path": "x"}, on_tick=stop)
    assert isinstance(raised.value.measurement, Measurement)
    assert raised.value.measurement.as_dict()["drive"] == {"path": "x"}


def test_single_ios_are_read_back(file: Path, tmp_path: Path) -> None:
    log_path = tmp_path / "ios.log"
    workload = Workload.of(Stream(log_ios=True, stop=Stop(ios=100)))
    with open_target(file) as target:
        measurement.run(target, workload.resolve(target.size_bytes, 512), {}, log_path=log_path)
    columns = measurement.read_ios(log_path)
    assert {len(column) for column in columns.values()} == {100}
    assert set(columns["length"].tolist()) == {4096}
    assert columns["offset"].max() < 4 << 20


def test_a_missing_log_is_an_error_of_ours(measured: tuple[Measurement, Path], tmp_path: Path) -> None:
    gone = Measurement.from_journal(measured[0].as_dict(), tmp_path / "gone.log")
    with pytest.raises(HostError, match=r"gone\.log"):
        gone.rows()
