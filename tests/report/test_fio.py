"""The fio lines of the page: what they say, and that fio takes them."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from ssdlab.formats.fio import command
from ssdlab.model.arrival import Bursts, Closed, Open, Pulses
from ssdlab.model.pattern import Sequential
from ssdlab.model.workload import Stop, Stream, Workload

GIB = 1 << 30


def options(*streams: Stream, **fields: object) -> dict[str, str]:
    """The options of the line for a drive of 1 GiB, by name."""
    line = command(Workload.of(*streams, **fields), "/dev/a drive", GIB, 512).splitlines()[0]
    words = shlex.split(line)
    assert words[0] == "fio"
    return dict(word.removeprefix("--").partition("=")[::2] for word in words[1:])


def test_a_point_of_a_random_sweep() -> None:
    found = options(Stream(workers=32, stop=Stop(time_ns="12s")), seed=7, ramp_ns="2s")
    assert found == {
        "filename": "/dev/a drive",
        "thread": "",
        "group_reporting": "",
        "randseed": "7",
        "name": "main",
        "rw": "randread",
        "bs": "4096",
        "offset": "0",
        "size": str(GIB),
        "norandommap": "",
        "ioengine": "psync",
        "numjobs": "32",
        "iodepth": "1",
        "direct": "1",
        "ramp_time": "2",
        "time_based": "",
        "runtime": "10",
    }


def test_sequential_workers_start_apart_as_ours_do() -> None:
    found = options(Stream(block="128k", workers=4, pattern=Sequential(), span="0..50%"))
    assert (found["rw"], found["offset_increment"], found["size"]) == ("read", str(GIB // 8), str(GIB // 2))
    assert "norandommap" not in found


def test_bytes_and_ios_are_shared_out_among_the_jobs() -> None:
    found = options(Stream(ops="write", workers=4, stop=Stop(bytes="64m", ios=4000)))
    assert (found["io_size"], found["number_ios"]) == (str(16 << 20), "1000")


def test_what_fio_cannot_do_is_said() -> None:
    for arrival, lacking in (
        (Open(process="act6", rate=100), "no arrivals like act6"),
        (Open(rate="400/17"), "rounds its rate"),
        (Bursts(bytes="1m", every_ns="1s"), "no bursts"),
        (Pulses(on_ns="5s", every_ns="30s"), "pulses drift"),
    ):
        text = command(Workload.of(Stream(arrival=arrival)), "/dev/x", GIB, 512)
        notes = [line for line in text.splitlines() if line.startswith("# ")]
        assert any(lacking in note for note in notes), text


@pytest.mark.parametrize(
    "stream",
    [
        Stream(workers=8),
        Stream(engine="uring", depth=32, batch=8, polled=True),
        Stream(ops=70, block="4k:70,128k:30", pattern="zipf:1.1"),
        Stream(pattern="hot:80/20", arrival=Closed(think_ns="1ms")),
        Stream(ops="write", dsync=True, flush_every=4, compressible_pct=50, cpus="0-1"),
        Stream(ops="write", pattern="sequential", workers=2),
        Stream(ops="trim", arrival=Open(process="poisson", rate=500)),
        Stream(arrival=Bursts(bytes="1m", every_ns="100ms")),
        Stream(arrival=Pulses(on_ns="20ms", every_ns="60ms")),
    ],
    ids=lambda stream: f"{stream.ops}-{stream.engine}",
)
def test_fio_takes_the_line(fio: str, tmp_path: Path, stream: Stream) -> None:
    file = tmp_path / "scratch"
    file.write_bytes(bytes(1 << 20))
    workload = Workload.of(stream.model_copy(update={"stop": Stop(time_ns="1s")}))
    line = command(workload, str(file), 1 << 20, 512).splitlines()[0]
    done = subprocess.run(
        [fio, "--parse-only", *shlex.split(line)[1:]], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr + done.stdout
