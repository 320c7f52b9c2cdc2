"""Before each step that writes, a held file is judged again with the whole guard, and found by descriptor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import need_root
from ssdlab.drives import open_drive
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.model.errors import Refused
from ssdlab.model.workload import Mix, Stop, Stream, Workload
from ssdlab.results.lease import RunLock
from ssdlab.results.records import BeginRecord
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Manifest
from ssdlab.runs.session import Order, RunEnvironment, resume, start

MIB = 1 << 20
SIZE = 64 * MIB
WRITES = Workload.of(Stream(ops=Mix(read_pct=0), stop=Stop(ios=64)))
READS = Workload.of(Stream(stop=Stop(ios=16)))


@pytest.fixture
def made(scratch: Path) -> Path:
    path = scratch / "scratch.img"
    open_drive(path, size=SIZE).close()
    return path


@contextmanager
def loop_on(path: Path) -> Iterator[str]:
    need_root()
    words = ["losetup", "--find", "--show", str(path)]
    device = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@contextmanager
def second_name(path: Path) -> Iterator[str]:
    other = path.with_name("other-name")
    other.hardlink_to(path)
    try:
        yield str(other)
    finally:
        other.unlink()


@contextmanager
def open_elsewhere(path: Path) -> Iterator[str]:
    script = f"import os, sys; os.open({str(path)!r}, os.O_RDWR); print('open', flush=True); input()"
    words = [sys.executable, "-c", script]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "open\n"
    try:
        yield str(process.pid)
    finally:
        process.communicate("\n")


@contextmanager
def mapped_and_closed(path: Path) -> Iterator[str]:
    """No descriptor is left."""
    script = (
        "import mmap, os, sys; fd = os.open(sys.argv[1], os.O_RDWR); m = mmap.mmap(fd, 4096); os.close(fd); "
        "print('open', flush=True); input()"
    )
    words = [sys.executable, "-c", script, str(path)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "open\n"
    try:
        yield str(process.pid)
    finally:
        process.communicate("\n")


@contextmanager
def moved_away(path: Path) -> Iterator[str]:
    path.rename(path.with_name("moved"))
    path.write_bytes(b"precious" * 1000)
    try:
        yield ""
    finally:
        path.with_name("moved").rename(path)


AFFAIRS = [
    pytest.param(loop_on, "held", marks=pytest.mark.machine),
    (second_name, "hard-linked"),
    (open_elsewhere, "open"),
    (mapped_and_closed, "open"),
    (moved_away, "replaced"),
]


@pytest.mark.parametrize(("affair", "reason"), AFFAIRS)
@pytest.mark.parametrize("consent", [{}, {"destroy": "scratch.img"}])
@pytest.mark.long
def test_what_came_about_between_two_steps_stops_the_next(
    made: Path, affair: Callable[[Path], object], reason: str, consent: dict[str, str]
) -> None:
    with open_drive(made, writing=True, **consent) as drive:
        drive.run(WRITES)
        before = made.read_bytes()
        with affair(made):  # type: ignore[attr-defined]
            for write in (lambda: drive.run(WRITES), lambda: drive.trim(0, MIB)):
                with pytest.raises(Refused) as caught:
                    write()
                assert caught.value.facts["reason"] == reason
                assert caught.value.exit_status == 2 and caught.value.advice
        assert made.read_bytes() == before
        drive.run(WRITES)


def test_who_wrote_it_between_two_steps_is_not_overwritten(made: Path) -> None:
    with open_drive(made, writing=True) as drive:
        drive.run(WRITES)
        with made.open("r+b") as file:
            file.write(b"letters")
        with pytest.raises(Refused, match="changed by another program") as caught:
            drive.run(WRITES)
        assert caught.value.facts["reason"] == "no-consent"
        assert made.read_bytes().startswith(b"letters")
    with open_drive(made, writing=True, destroy="scratch.img") as drive:
        drive.run(WRITES)
        with made.open("r+b") as file:
            file.write(b"letters")
        drive.run(WRITES)


def test_a_step_that_reads_looks_whether_it_is_still_the_file(made: Path) -> None:
    with open_drive(made) as drive:
        drive.run(READS)
        with moved_away(made), pytest.raises(Refused) as caught:
            drive.run(READS)
        assert caught.value.facts["reason"] == "replaced"


def test_a_hard_link_is_not_laid_out_for_a_reader(scratch: Path) -> None:
    """A layout writes, even where only reads are intended."""
    path = scratch / "scratch.img"
    with open_drive(path, size=MIB, allow_unwritten=True):
        pass
    with second_name(path) as other:
        with open_drive(path) as drive:
            assert drive.written(0, MIB) is False
        assert not any(Path(other).read_bytes())


JOB = """
[[step]]
do = "run"
rw = "write"
bytes = "64KiB"

[[step]]
do = "idle"
seconds = "200ms"

[[step]]
do = "run"
rw = "write"
bytes = "64KiB"
"""


@pytest.mark.machine
def test_a_file_that_is_mounted_in_an_idle_step(
    scratch: Path, need_tool: Callable[[str], str], tmp_path: Path
) -> None:
    """The run stops with the loop device's name, and does not go on over what is in the file now."""
    need_root()
    for tool in ("mkfs.ext4", "mount", "umount"):
        need_tool(tool)
    path, point = scratch / "scratch.img", tmp_path / "point"
    point.mkdir()

    def mount() -> bool:
        """Asked while a step goes on whether it is to stop: the moment for somebody else to come."""
        if idle(tmp_path / "library") and not point.is_mount():
            subprocess.run(["mkfs.ext4", "-qF", path], check=True)
            subprocess.run(["mount", "-o", "loop", path, point], check=True)
            (point / "precious").write_text("letters")
        return False

    def as_it_is(folder: Path, manifest: Manifest, lock: RunLock) -> Manifest:
        return manifest

    order = Order(find_method("job"), read_job(JOB, "idle"), str(path), size_bytes=SIZE, seed=1)
    try:
        with pytest.raises(Refused, match="is the backing file of /dev/loop") as caught:
            start(order, tmp_path / "library", environment=RunEnvironment(finish=as_it_is, stopped=mount))
        assert (caught.value.exit_status, caught.value.facts["reason"]) == (2, "held")
        assert (point / "precious").read_text() == "letters"
    finally:
        subprocess.run(["umount", point], check=True)
    before = path.read_bytes()
    folder = Path(str(caught.value.facts["folder"]))
    with pytest.raises(Refused) as again:
        resume(folder, environment=RunEnvironment(finish=as_it_is))
    assert again.value.facts["reason"] == "no-consent"
    assert path.read_bytes() == before


def idle(library: Path) -> bool:
    folders = [path.parent for path in library.glob("*/journal.jsonl")]
    records = RunFolder(folders[0]).journal() if folders else ()
    return any(isinstance(record, BeginRecord) and record.ordinal == 1 for record in records)
