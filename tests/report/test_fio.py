"""The fio job files of the page: what they say, and that fio takes them."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.formats.fio import Target, job_file
from ssdlab.formats.fio.stream import percents
from ssdlab.model.arrival import Bursts, Closed, Open, Pulses
from ssdlab.model.pattern import Segmented, Sequential
from ssdlab.model.workload import Ratio, Stop, Stream, Workload

GIB = 1 << 30
TARGET = Target("/dev/a drive", True, GIB, 512)


def text_of(workload: Workload, target: Target = TARGET) -> str:
    return job_file([("main", workload)], target)


def notes_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("# ")]


def options(*streams: Stream, **fields: object) -> dict[str, str]:
    """The options of the job file for a drive of 1 GiB, by name."""
    lines = [line for line in text_of(Workload.of(*streams, **fields)).splitlines() if line]
    return dict(line.partition("=")[::2] for line in lines if line[0] not in "[#")


def test_a_point_of_a_random_sweep() -> None:
    found = options(Stream(workers=32, stop=Stop(time_ns="12s")), seed=7, ramp_ns="2s")
    assert found == {
        "filename": "/dev/a drive",
        "allow_file_create": "0",
        "thread": "",
        "group_reporting": "",
        "randseed": "7",
        "rw": "randread",
        "bs": "4096",
        "offset": "0",
        "size": str(GIB),
        "norandommap": "",
        "ioengine": "psync",
        "numjobs": "32",
        "iodepth": "1",
        "direct": "1",
        "ramp_time": "2000000us",
        "time_based": "",
        "runtime": "10000000us",
    }


def test_sequential_workers_have_a_part_each() -> None:
    found = options(Stream(block="128k", workers=4, pattern=Sequential(), span="0..50%"))
    assert (found["rw"], found["offset_increment"], found["size"]) == ("read", str(GIB // 8), str(GIB // 8))
    assert "norandommap" not in found


def test_bytes_and_ios_are_shared_out_among_the_jobs() -> None:
    found = options(Stream(ops="write", workers=4, stop=Stop(bytes="64m", ios=4000)))
    assert found["io_size"] == str(1000 * 4096)
    assert "time_based" not in options(Stream(stop=Stop(ios=10, time_ns="1s")))


def test_workers_that_have_nothing_to_do_are_no_jobs() -> None:
    found = options(Stream(workers=32, stop=Stop(ios=5)))
    assert (found["numjobs"], found["io_size"]) == ("5", "4096")


def test_a_rate_below_one_a_second_stays() -> None:
    assert options(Stream(workers=32, arrival=Open(rate=10)))["rate"] == str(10 * 4096 // 32)
    assert options(Stream(workers=32, arrival=Open(process="poisson", rate=10)))["numjobs"] == "10"


def test_each_direction_has_its_share_of_a_rate() -> None:
    assert options(Stream(ops=70, arrival=Open(process="poisson", rate=100)))["rate_iops"] == "70,30"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/dev/disk/by-path/pci-0000:01:00.0", "/dev/disk/by-path/pci-0000\\:01\\:00.0"),
        ("/tmp/a;b", "DRIVE"),
        ("/tmp/a#b", "DRIVE"),
        ("/tmp/a ", "DRIVE"),
        (None, "DRIVE"),
    ],
)
def test_the_name_of_the_drive_as_fio_reads_it(path: str | None, named: str) -> None:
    text = text_of(Workload.of(Stream()), Target(path, True, GIB, 512))
    assert f"filename={named}" in text.splitlines()
    assert ("# DRIVE: " in text) == (named == "DRIVE")


SHARES = st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=64)


@given(SHARES)
def test_percents_sum_to_100_and_are_off_by_less_than_one(weights: list[int]) -> None:
    found, exact = percents(weights)
    assert sum(found) == 100
    assert all(
        abs(part - Fraction(100 * w, sum(weights))) < 1 for part, w in zip(found, weights, strict=True)
    )
    assert exact == all(100 * w % sum(weights) == 0 for w in weights)


def test_what_fio_cannot_do_is_said() -> None:
    for stream, lacking in (
        (Stream(arrival=Open(process="act6", rate=100)), "no act6 arrivals"),
        (Stream(arrival=Open(process="poisson", rate="400/17")), "rates to whole I/Os a second"),
        (Stream(arrival=Bursts(bytes="1m", every_ns="1s")), "no timed bursts"),
        (Stream(arrival=Pulses(on_ns="5s", every_ns="30s")), "pulses drift"),
        (Stream(arrival=Closed(think_ns="5s"), engine="uring", depth=2), "drains its queue"),
        (Stream(ops=Ratio(read_weight=2, write_weight=1)), "share of reads in whole percent"),
        (Stream(block="4k:2,8k:1"), "shares of sizes in whole percent"),
        (Stream(pattern="zipf:1"), "refuses an exponent of 1"),
        (
            Stream(pattern=Segmented(count=2048, length_bytes=4096, stride_bytes=65536)),
            "no 2048 segments: it uses the whole span",
        ),
        (Stream(pattern=Sequential(), workers=2), "over its own part"),
        (Stream(pattern=Sequential(), workers=100, block="1m"), "the last 24 MiB are left out"),
        (Stream(pattern=Sequential(cursors=(4096,))), "not where the previous step ended"),
        (Stream(pattern=Sequential(), ops=50), "advance separately"),
        (Stream(stop=Stop()), "runs until stopped"),
    ):
        notes = notes_of(text_of(Workload.of(stream)))
        assert any(lacking in note for note in notes), (stream, notes)


def test_what_all_steps_have_alike_is_said_once() -> None:
    steps = [
        (f"depth {depth}", Workload.of(Stream(workers=depth, stop=Stop(time_ns="12s"))))
        for depth in (1, 2, 4)
    ]
    text = job_file(steps, TARGET)
    assert text.count("rw=randread") == 1 and text.count("stonewall") == 2
    assert text.split("[depth 4]\n")[1].splitlines() == ["numjobs=4", "stonewall"]


def test_a_seed_that_fio_does_not_take_is_said() -> None:
    for seed, said in ((2**63 - 1, False), (2**63, True), (2**64 - 1, True)):
        text = text_of(Workload.of(Stream(stop=Stop(ios=1)), seed=seed))
        assert ("2^63 is subtracted" in text) == said
        assert f"randseed={seed % 2**63}" in text.splitlines()


def test_fio_trims_no_file() -> None:
    assert text_of(Workload.of(Stream(ops="trim")), Target("/tmp/x", False, GIB, 512)).startswith("# ")


def test_fio_takes_a_polled_job(fio: str, tmp_path: Path) -> None:
    """Which runs on drives with queues for it only; all other kinds run in tests/truth/test_fio_lines.py."""
    file = tmp_path / "scratch"
    file.write_bytes(bytes(1 << 20))
    stream = Stream(engine="uring", depth=32, batch=8, polled=True, stop=Stop(time_ns="1s"))
    (tmp_path / "x.fio").write_text(text_of(Workload.of(stream), Target(str(file), False, 1 << 20, 512)))
    done = subprocess.run([fio, "--parse-only", str(tmp_path / "x.fio")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
