"""The books balance: rows sum to the totals, a stall is a row of zeros, a seed fixes every I/O."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ssdlab import _core
from ssdlab.drives import open_drive
from ssdlab.model.measurement import Measurement
from ssdlab.model.workload import Mix, Stop, Stream, Workload

MIB = 1 << 20

WORKLOADS = {
    "closed mixed": [
        Stream(ops=Mix(read_pct=60), workers=4, block="4k:80,32k:20", stop=Stop(time_ns="1200ms"))
    ],
    "open loop": [
        Stream(
            ops="read", arrival={"kind": "open", "rate": "4000", "process": "poisson"}, stop=Stop(ios=4000)
        )
    ],
    "uring": [Stream(ops=Mix(read_pct=50), engine="uring", depth=16, stop=Stop(ios=20_000))],
    "two streams": [
        Stream(name="reader", ops="read", workers=2, stop=Stop(time_ns="1s")),
        Stream(name="writer", ops="write", block="64k", pattern="sequential", stop=Stop(bytes=64 * MIB)),
    ],
    "trims": [Stream(ops="trim", block="1m", pattern="sequential", stop=Stop(span_once=True))],
    "overloaded": [
        Stream(
            ops="read",
            arrival={"kind": "open", "rate": "1500000", "backlog_ns": "5ms"},
            stop=Stop(time_ns="600ms"),
        )
    ],
}


@pytest.mark.parametrize("ramp", ["0", "400ms"], ids=["no ramp", "ramp"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_rows_and_histograms_sum_to_the_totals(zram: Path, name: str, ramp: str) -> None:
    streams = WORKLOADS[name]
    if ramp != "0" and any(stream.stop.time_ns is None for stream in streams):
        streams = [stream.model_copy(update={"stop": Stop(time_ns="1s")}) for stream in streams]
    workload = Workload.of(*streams, interval_ns="100ms", ramp_ns=ramp)
    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        measured = drive.run(workload)
    assert measured.summary()["iops"] > 0
    for direction in ("read", "write", "trim"):
        balanced(measured, direction)


def balanced(measured: Measurement, direction: str) -> None:
    total = measured.summary()[direction]
    if total is None:
        return
    assert total["requested"] == total["ios"] + total["failed"] + total["dropped"]
    assert total["late"] <= total["ios"]
    columns = [measured.source.rows(stream, direction) for stream in measured.streams]
    for name in ("ios", "failed", "dropped", "late", "bytes"):
        assert sum(int(rows[name][~rows["ramp"].astype(bool)].sum()) for rows in columns) == total[name]
    for stream, rows in zip(measured.streams, columns, strict=True):
        counted = rows["ios"][~rows["ramp"].astype(bool)].sum()
        assert measured.histogram(direction, "service", stream).count == counted
    assert measured.histogram(direction, "service").count == total["ios"]
    # A dropped I/O has no service, and a response of "at least".
    assert measured.histogram(direction, "response").count == total["ios"] + total["dropped"]
    assert whole_seconds(columns)


def whole_seconds(columns: list[dict[str, np.ndarray]]) -> bool:
    """Rows follow each other on one clock without gap or overlap."""
    starts, lengths = columns[0]["start_ns"], columns[0]["duration_ns"]
    return bool(np.all(starts[1:] == starts[:-1] + lengths[:-1])) and all(
        np.array_equal(other["start_ns"], starts) for other in columns
    )


@pytest.mark.parametrize("engine", ["sync", "uring"])
def test_interval_histograms_sum_to_the_totals(zram: Path, tmp_path: Path, engine: str) -> None:
    stream = Stream(ops=Mix(read_pct=50), engine=engine, workers=2, stop=Stop(ios=30_000))
    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        measured = drive.run(Workload.of(stream, interval_ns="50ms"), log_path=tmp_path / "log")
    cells = _core.read_log(tmp_path / "log", keep_interval_histograms=True).measurement.interval_histograms()
    summary = measured.summary()
    for place, direction in enumerate(("read", "write")):
        mine = (cells["direction"] == place) & (cells["kind"] == 0)
        assert int(cells["count"][mine].sum()) == summary[direction]["ios"]


STOPPED = """
import json, sys
import ssdlab
measured = ssdlab.measure(sys.argv[1], seconds=6, **json.loads(sys.argv[2]))
print(json.dumps(measured.rows()["ios"].tolist()))
"""


@pytest.mark.parametrize("options", [{"threads": 4}, {"engine": "uring", "depth": 8}], ids=["sync", "uring"])
def test_a_stall_is_seen_as_rows_of_zeros(zram: Path, options: dict[str, object]) -> None:
    """Stopped for 3 s: whatever the moment, at least two whole seconds lie within; none is left out."""
    Path(f"/sys/block/{zram.name}/queue/iostats").write_text("1")
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(zram), json.dumps(options)], stdout=subprocess.PIPE, text=True
    )
    stat = Path(f"/sys/block/{zram.name}/stat")
    deadline = time.monotonic() + 20
    while stat.read_text().split()[0] == "0":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(1.0)
    process.send_signal(signal.SIGSTOP)
    time.sleep(3.0)
    process.send_signal(signal.SIGCONT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    rows = json.loads(output)
    assert 6 <= len(rows) <= 7
    assert 2 <= rows.count(0) <= 3
    assert rows[0] > 0
    assert rows[5] > 0


def test_a_stall_of_the_device_is_seen_too(
    zram: Path, throttled: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first I/O of a device that does one in 4 s: three rows of zeros before it."""
    throttle = throttled(zram, read_bps=1024)
    with throttle.here(), open_drive(zram) as drive:  # type: ignore[attr-defined]
        rows = drive.run(Workload.of(Stream(stop=Stop(ios=1)))).rows()
    assert list(rows["ios"][:3]) == [0, 0, 0]
    assert int(rows["ios"].sum()) == 1
    assert list(rows["in_flight_mean"][:3]) == [pytest.approx(1, abs=0.01)] * 3


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_same_seed_asks_for_the_same(name: str) -> None:
    def digest(seed: int) -> str:
        return _core.digest(Workload.of(*WORKLOADS[name], seed=seed).resolve(1 << 30, 4096), 1000)

    assert digest(7) == digest(7)
    if name != "trims":  # sequential: the seed draws nothing
        assert digest(7) != digest(8)


@pytest.mark.parametrize("engine", ["sync", "uring"])
def test_the_same_seed_does_the_same(zram: Path, tmp_path: Path, engine: str) -> None:
    """Whatever the interleaving of four workers: each I/O of both runs, in the order of its offset."""

    def ios(name: str, seed: int) -> list[tuple[int, int, int]]:
        stream = Stream(
            ops=Mix(read_pct=70),
            block="4k:3,16k:1",
            engine=engine,
            workers=4,
            log_ios=True,
            stop=Stop(ios=4000),
        )
        arrival = {"kind": "open", "rate": "20000"}
        stream = Stream.model_validate({**stream.model_dump(), "arrival": arrival})
        with open_drive(zram, writing=True, destroy=zram.name) as drive:
            drive.run(Workload.of(stream, seed=seed), log_path=tmp_path / name)
        columns = _core.read_log(tmp_path / name).ios()
        wanted = ("direction", "offset", "length")
        return sorted(zip(*(columns[key].tolist() for key in wanted), strict=True))

    first = ios("first", 7)
    assert len(first) == 4000
    assert ios("second", 7) == first
    assert ios("third", 8) != first
