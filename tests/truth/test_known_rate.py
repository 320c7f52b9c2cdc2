"""A device of exactly known speed: 2000 I/Os a second, kept by the kernel's throttle.

The throttle hands out I/Os in slices of 0.1 s, and a new group begins with one slice more: so a second is
run in, and the slice at the end is small beside the time measured. A slice that a busy host lets pass is lost
and never made up for, which makes the device slower than it should be, not the tool wrong: such a measurement
may be repeated, and a tool that is wrong is wrong each time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machine import blkio
from ssdlab.drives import open_drive
from ssdlab.formats.fio import Target
from ssdlab.formats.fio.sections import read_sections
from ssdlab.formats.fio.stages import read_stages
from ssdlab.model.workload import Stop, Stream, Workload

RATE = 2000
TOLERANCE = 0.005
ATTEMPTS = 3
ENGINES = {
    "sync": ("--engine", "sync", "--threads", 1),
    "sync-8-threads": ("--engine", "sync", "--threads", 8),
    "uring": ("--engine", "uring", "--depth", 1),
    "uring-depth-32": ("--engine", "uring", "--depth", 32),
}
SLOW = {"sync-8-threads", "uring"}
"""Half a minute each, and no other way to fail than the two beside them."""

Throttled = Callable[..., blkio.Throttle]


@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in ENGINES]
)
def test_measure_says_the_rate_that_is_true(
    measure: Callable[..., dict[str, Any]], zram: Path, throttled: Throttled, engine: str
) -> None:
    throttle = throttled(zram, read_iops=RATE)
    for _ in range(ATTEMPTS):
        said = measure(zram, *ENGINES[engine], "--seconds", 20, "--ramp", 1, throttle=throttle)
        assert said["engine"] == engine.split("-")[0]
        assert said["mb_s"] == pytest.approx(said["iops"] * 4096 / 1e6)
        if said["iops"] == pytest.approx(RATE, rel=TOLERANCE):
            return
    pytest.fail(f"measure says {said['iops']} I/Os a second of a device that does {RATE}")


@pytest.mark.parametrize(("engine", "workers", "depth"), [("sync", 4, 1), ("uring", 1, 4)])
def test_each_second_says_it_too(
    zram: Path, throttled: Throttled, engine: str, workers: int, depth: int
) -> None:
    """The rows between the first and the last: seconds that hold ten whole slices."""
    stream = Stream(workers=workers, depth=depth, engine=engine, stop=Stop(time_ns="6s"))
    throttle = throttled(zram, read_iops=RATE)
    with throttle.here(), open_drive(zram) as drive:
        for _ in range(ATTEMPTS):
            rows = drive.run(Workload.of(stream)).rows()
            if list(rows["ios"][1:-1]) == [pytest.approx(RATE, rel=TOLERANCE)] * 5:
                return
    pytest.fail(f"rows of {list(rows['ios'])} I/Os of a device that does {RATE}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (("--engine", "sync", "--threads", 8), ("--ioengine=psync", "--numjobs=8")),
        (("--engine", "uring", "--depth", 8), ("--ioengine=io_uring", "--iodepth=8")),
    ],
    ids=["sync", "uring"],
)
@pytest.mark.parametrize("rw", ["randread", "write"])
def test_fio_agrees(
    measure: Callable[..., dict[str, Any]],
    zram: Path,
    throttled: Throttled,
    fio: str,
    rw: str,
    ours: tuple[str | int, ...],
    theirs: tuple[str, ...],
) -> None:
    throttle = throttled(zram, read_iops=RATE, write_iops=RATE)
    direction = "write" if rw == "write" else "read"
    job = ["--name=witness", f"--filename={zram}", f"--rw={rw}", "--bs=4k", "--direct=1", "--norandommap"]
    time = ["--time_based", "--runtime=20", "--ramp_time=1", "--group_reporting", "--thread"]
    for _ in range(ATTEMPTS):
        said = measure(zram, "--rw", rw, *ours, "--seconds", 20, "--ramp", 1, throttle=throttle)["iops"]
        done = throttle.run([fio, *job, *time, *theirs, "--output-format=json"])
        assert done.returncode == 0, done.stderr
        witness = json.loads(done.stdout)["jobs"][0][direction]["iops"]
        if said == pytest.approx(witness, rel=0.01):
            return
    pytest.fail(f"measure says {said} I/Os a second, fio {witness}")


CORPUS = Path(__file__).parents[1] / "lab" / "fio_jobs.txt"
TIMED = "size=32m\nruntime=5\nramp_time=1\ntime_based\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "postgres pages, mixed",
        "postgres WAL",
        "innodb pages",
        "sizes of a storage engine",
        "hot keys",
        "a Ceph journal candidate",
        "cloud write IOPS",
        "a short benchmark of a hoster",
        "submission in batches",
        "pinned",
    ],
)
def test_a_job_file_is_as_fast_as_in_fio(
    zram: Path, throttled: Throttled, fio: str, tmp_path: Path, name: str
) -> None:
    """Of the corpus of job files, for five seconds each."""
    entry = CORPUS.read_text().partition(f"=== {name}: runs")[2].partition("\n")[2].partition("\n\n")[0]
    (tmp_path / "x.fio").write_text(re.sub(r"filename=.*", f"filename={zram}", entry) + f"\n{TIMED}")
    text = (tmp_path / "x.fio").read_text()
    throttle = throttled(zram, read_iops=RATE, write_iops=RATE)
    target = Target(str(zram), True, zram_bytes(zram), 4096)
    ((stage,), _) = read_stages(read_sections(text, "x.fio", tmp_path), target)
    for _ in range(ATTEMPTS):
        done = throttle.run([fio, "--output-format=json", str(tmp_path / "x.fio")])
        assert done.returncode == 0, done.stderr
        witness = sum(
            job[side]["iops"] for job in json.loads(done.stdout)["jobs"] for side in ("read", "write")
        )
        with throttle.here(), open_drive(zram, writing=True, destroy=zram.name) as drive:
            ours = drive.run(stage.workload).summary().iops
        if ours == pytest.approx(witness, rel=0.05):
            return
    pytest.fail(f"{ours} I/Os a second, fio {witness}")


def zram_bytes(zram: Path) -> int:
    return 512 * int(Path(f"/sys/block/{zram.name}/size").read_text())
