"""Columns and histograms: without copies, read-only, and adding up to the totals exactly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from bindings.workloads import even, stop, stream, workload
from ssdlab import _core

COUNTS = ("ios", "failed", "dropped", "late", "bytes")


@pytest.fixture
def measurement(target: _core.Target) -> _core.Measurement:
    mixed = stream(name="mixed", ops={"mix": {"read_pct": 70}}, workers=2, stop=stop(time_ns=450_000_000))
    paced = even(500, name="paced", engine="uring", depth=4, stop=stop(time_ns=450_000_000))
    return _core.run(target, workload(mixed, paced), keep_interval_histograms=True)


def test_columns_are_views_of_what_rust_keeps(measurement: _core.Measurement) -> None:
    columns = measurement.rows("mixed", "read")
    for name, column in columns.items():
        assert not column.flags.owndata, name
        assert not column.flags.writeable, name
        assert column.base is not None
    again = measurement.rows("mixed", "read")
    assert all(np.shares_memory(columns[name], again[name]) for name in columns)


def test_threads_that_ask_at_once_get_the_same_columns(measurement: _core.Measurement) -> None:
    with ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(lambda _: measurement.rows("mixed", "read"), range(8)))
    assert all(np.shares_memory(table["ios"], tables[0]["ios"]) for table in tables)
    assert tables[0]["ios"].sum() > 0


def test_columns_outlive_the_measurement(target: _core.Target) -> None:
    columns = _core.run(target, workload(stream(stop=stop(ios=300)))).rows("main", "read")
    assert columns["ios"].sum() == 300


def test_in_a_closed_loop_response_is_service_without_a_second_column(measurement: _core.Measurement) -> None:
    closed, paced = measurement.rows("mixed", "read"), measurement.rows("paced", "read")
    assert np.shares_memory(closed["service_p50_ns"], closed["response_p50_ns"])
    assert not np.shares_memory(paced["service_p50_ns"], paced["response_p50_ns"])


def test_rows_add_up_to_the_totals(measurement: _core.Measurement) -> None:
    summary = measurement.summary()
    for direction in ("read", "write"):
        for name in COUNTS:
            streams = [measurement.rows(stream, direction)[name].sum() for stream in measurement.streams]
            assert sum(streams) == summary[direction][name], (direction, name)


def test_interval_histograms_add_up_to_the_totals(measurement: _core.Measurement) -> None:
    columns = measurement.interval_histograms()
    for kind in (0, 1):
        # What is not repeated is the service.
        service, response = (columns["kind"] == 0), (columns["kind"] == 1)
        paced = columns["stream"] == measurement.streams.index("paced")
        wanted = service if kind == 0 else (response & paced) | (service & ~paced)
        wanted = wanted & (columns["direction"] == 0)
        lows, where = np.unique(columns["bucket_low_ns"][wanted], return_inverse=True)
        counts = np.bincount(where, weights=columns["count"][wanted]).astype(np.uint64)
        total = measurement.histogram("read", "service" if kind == 0 else "response")
        total_lows, total_counts = total.buckets()
        assert lows.tolist() == total_lows.tolist()
        assert counts.tolist() == total_counts.tolist()
        assert columns["sum_ns"][wanted].sum() == total.sum_ns


def test_an_unused_direction_reads_as_zeros(measurement: _core.Measurement) -> None:
    columns = measurement.rows("mixed", "trim")
    assert len(columns["ios"]) == len(columns["index"]) >= 4
    assert not columns["ios"].any()
    assert set(columns) == set(measurement.rows("mixed", "read"))


def test_in_flight_of_a_closed_loop_is_its_depth(target: _core.Target) -> None:
    deep = stream(engine="uring", depth=8, stop=stop(time_ns=400_000_000))
    columns = _core.run(target, workload(deep)).rows("main", "read")
    whole = ~columns["partial"]
    # A worker that the host stops between a completion and the next request has fewer in flight in that row.
    assert np.median(columns["in_flight_mean"][whole]) > 7
    assert (columns["in_flight_max"][whole] == 8).all()


def test_unknown_names_are_told(measurement: _core.Measurement) -> None:
    with pytest.raises(KeyError, match="mixed, paced"):
        measurement.rows("other", "read")
    with pytest.raises(ValueError, match="read, write, trim"):
        measurement.rows("mixed", "discard")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="service, response"):
        measurement.histogram("read", "total")  # type: ignore[arg-type]


def test_summary_is_a_new_dict_each_time(measurement: _core.Measurement) -> None:
    measurement.summary()["read"]["ios"] = -1
    assert measurement.summary()["read"]["ios"] > 0


def test_a_log_gives_the_same_measurement_back(target: _core.Target, tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    logged = even(2000, engine="uring", depth=4, stop=stop(ios=400), log_ios=True)
    written = _core.run(
        target, workload(logged), log_path=path, header='{"step": 3}', keep_interval_histograms=True
    )
    log = _core.read_log(path, keep_interval_histograms=True)
    assert not log.torn
    assert log.header["owner"] == {"step": 3}
    assert log.header["build"] == _core.build_info()
    assert log.measurement.summary() == written.summary()
    for ours, theirs in (
        (log.measurement.rows("main", "read"), written.rows("main", "read")),
        (log.measurement.interval_histograms(), written.interval_histograms()),
    ):
        assert ours.keys() == theirs.keys()
        assert all((ours[name] == theirs[name]).all() for name in ours)
    ios = log.ios()
    assert len(ios["offset"]) == 400
    assert sorted(ios["intended_ns"].tolist()) == [n * 500_000 for n in range(400)]
    assert (ios["length"] == 4096).all()
    assert (ios["offset"] % 4096 == 0).all()
    assert written.histogram("read", "service").max_ns == ios["latency_ns"].max()
    response = ios["submit_ns"] + ios["latency_ns"] - ios["intended_ns"]
    assert written.histogram("read", "response").max_ns == response.max()


def test_a_sequential_run_goes_on_where_the_last_one_stopped(target: _core.Target) -> None:
    first = stream(pattern={"sequential": {"cursors": None}}, workers=2, stop=stop(ios=10))
    measurement = _core.run(target, workload(first))
    half = 8 << 20
    assert measurement.cursors == {"main": [5 * 4096, half + 5 * 4096]}
    onward = stream(
        pattern={"sequential": {"cursors": measurement.cursors["main"]}}, workers=2, stop=stop(ios=2)
    )
    assert _core.run(target, workload(onward)).cursors == {"main": [6 * 4096, half + 6 * 4096]}
