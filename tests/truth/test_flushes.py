"""Flushes by their witnesses: the system calls of each thread, the requests at a device, and fio."""

from __future__ import annotations

import json
import math
import os
import re
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from machine.command import measure_command
from machine.event_log import EventLog
from ssdlab.drives import open_drive
from ssdlab.model.workload import Stop, Stream, Workload

MIB = 1 << 20
BLOCK_BYTES = 2300
"""That of etcd's rule, which no direct write has."""


@pytest.mark.outside
@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
@pytest.mark.parametrize("every", [1, 3])
def test_each_thread_flushes_after_each_nth_write(
    command: str, need_tool: Callable[[str], str], tmp_path: Path, call: str, every: int
) -> None:
    """As strace saw it, with those of the ramp; in the order of the calls, and none between."""
    file, seen = tmp_path / "file", tmp_path / "calls"
    file.write_bytes(bytes(4 * MIB))
    options = ["--rw", "randwrite", "--threads", 2, "--buffered", f"--{call}", every]
    options += ["--seconds", "200ms", "--ramp", "100ms", "--interval", "100ms"]
    trace = [need_tool("strace"), "-f", "-qq", "-e", "trace=pwrite64,fdatasync,fsync", "-o", str(seen)]
    done = subprocess.run(
        [*trace, *measure_command(command, file, options)], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)
    threads: dict[str, str] = defaultdict(str)
    for thread, name in re.findall(r"^(\d+) +(\w+)\(", seen.read_text(), re.MULTILINE):
        threads[thread] += {"pwrite64": "w", call: "f"}.get(name, "?")
    workers = [calls for calls in threads.values() if "w" in calls]
    assert len(workers) == 2
    for calls in workers:
        assert re.fullmatch(f"(w{{{every}}}f)*w{{0,{every - 1}}}", calls)
    rows = [row["flush"] for row in report["intervals"]]
    assert sum(row["flushes"] for row in rows) == sum(calls.count("f") for calls in workers)
    counted = [row["flush"]["flushes"] for row in report["intervals"] if not row["ramp"]]
    assert report["flush"]["flushes"] == sum(counted) < sum(row["flushes"] for row in rows)


@pytest.fixture
def loop(tmp_path: Path, need_tool: Callable[[str], str]) -> Iterator[Path]:
    """A device with a write cache that can be flushed, as a zram device has none."""
    backing = tmp_path / "backing.img"
    backing.write_bytes(os.urandom(16 * MIB))
    attach = [need_tool("losetup"), "--find", "--show", str(backing)]
    device = subprocess.run(attach, check=True, capture_output=True, text=True).stdout.strip()
    yield Path(device)
    subprocess.run(["losetup", "--detach", device], check=True)


@pytest.mark.parametrize("stream", [{"workers": 4}, {"engine": "uring", "depth": 8}], ids=["sync", "uring"])
def test_the_device_gets_a_flush_for_each_that_was_counted(
    loop: Path, event_log: Callable[..., EventLog], stream: dict[str, Any]
) -> None:
    writes = Stream(ops="write", flush_every=5, stop=Stop(ios=200), **stream)
    with open_drive(loop, writing=True, destroy=loop.name) as drive, event_log(loop) as events:
        measured = drive.run(Workload.of(writes))
    flushes = sum(count for (flags, *_), count in events.requests.items() if flags.startswith("F"))
    assert flushes == measured.as_dict()["flush"]["flushes"] == 40
    assert measured.histogram("flush", "service").count == 40


ROUNDS = 21
WRITES = 1000
BOUND = 0.15
"""Of the median over the rounds, which one round in two may be beside by far more on a shared disk."""


@pytest.mark.slow
def test_fdatasync_takes_as_long_as_by_fio(fio: str, scratch: Path) -> None:
    """In rounds of fio, ours and fio, of which fio's two say how far the machine's moods alone reach."""
    file = scratch / "file"
    file.write_bytes(os.urandom(WRITES * BLOCK_BYTES))

    def by_fio() -> dict[str, float]:
        shape = f"--rw=write --bs={BLOCK_BYTES} --fdatasync=1 --ioengine=psync --overwrite=1 --invalidate=0"
        where = [f"--filename={file}", f"--size={WRITES * BLOCK_BYTES}", "--allow_file_create=0"]
        line = [fio, "--name=wal", *shape.split(), *where, "--output-format=json"]
        job = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)["jobs"][0]
        found = job["sync"]["lat_ns"]
        return {"mean": found["mean"], "p99": found["percentile"]["99.000000"]}

    def by_us() -> dict[str, float]:
        load = {"rw": "write", "bs": BLOCK_BYTES, "bytes": WRITES * BLOCK_BYTES, "fdatasync": 1}
        measured = ssdlab.measure(file, **load, buffered=True, destroy=file.name)
        flush = measured.histogram("flush", "service")
        assert flush.count == WRITES
        return {"mean": flush.mean_ns or math.nan, "p99": flush.quantile(0.99) or math.nan}

    rounds = [(by_fio(), by_us(), by_fio()) for _ in range(ROUNDS)]
    for figure in ("mean", "p99"):
        ratios = [ours[figure] / math.sqrt(one[figure] * two[figure]) for one, ours, two in rounds]
        control = statistics.median(two[figure] / one[figure] for one, _, two in rounds)
        if abs(control - 1) > BOUND:
            pytest.skip(f"too restless a machine: fio's second run of three takes {control:.2f} of its first")
        assert statistics.median(ratios) == pytest.approx(1, abs=BOUND), figure
