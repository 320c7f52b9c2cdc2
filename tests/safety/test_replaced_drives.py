"""A drive that has nothing but a kernel name is replaced while its run is interrupted: `resume` refuses.

Each way ends with another drive, or the same one attached anew, under the name that the run began on; the
consent was for the one before.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import need_root, tool
from machine import memory_disk
from safety import run_folders as made
from ssdlab.cli import main
from ssdlab.results import journal
from ssdlab.runs import consent_record, resume_checks
from ssdlab.runs.session import resume

MIB = 1 << 20
LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81


class Stage:
    """Loop and zram devices of our own, under numbers that nobody else takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.losetup = tool("losetup", "mount")
        self.loops: list[Path] = []
        self.zrams: list[Path] = []

    def loop(self) -> Path:
        number = 100_000 + os.getpid() % 10_000 * 10 + len(self.loops)
        with Path("/dev/loop-control").open("rb") as control:
            fcntl.ioctl(control, LOOP_CTL_ADD, number)
        self.loops.append(Path(f"/dev/loop{number}"))
        return self.loops[-1]

    def image(self, name: str, size_bytes: int = 4 * MIB, *, file_system: bool = False) -> Path:
        path = self.folder / name
        path.write_bytes(os.urandom(size_bytes))
        if file_system:
            self.make_file_system(path)
        return path

    def make_file_system(self, path: Path) -> None:
        subprocess.run([tool("mkfs.ext4", "e2fsprogs"), "-qF", str(path)], check=True)

    def attach(self, device: Path, image: Path, *options: str) -> None:
        subprocess.run([self.losetup, *options, str(device), str(image)], check=True)

    def detach(self, device: Path) -> None:
        subprocess.run([self.losetup, "--detach", str(device)], check=True)

    def again(self, device: Path, image: Path, *options: str) -> None:
        self.detach(device)
        self.attach(device, image, *options)

    def zram(self) -> Path:
        self.zrams.append(memory_disk.add(4 * MIB))
        return self.zrams[-1]

    def reset(self, device: Path, size_bytes: int) -> None:
        Path(f"/sys/block/{device.name}/reset").write_text("1")
        Path(f"/sys/block/{device.name}/disksize").write_text(str(size_bytes))

    def close(self) -> None:
        for device in self.loops:
            subprocess.run([self.losetup, "--detach", str(device)], check=False, capture_output=True)
            with Path("/dev/loop-control").open("rb") as control:
                fcntl.ioctl(control, LOOP_CTL_REMOVE, int(device.name.removeprefix("loop")))
        for device in self.zrams:
            memory_disk.remove(device)


@pytest.fixture
def stage(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    need_root()
    monkeypatch.setenv("XDG_STATE_HOME", str(scratch / "state"))
    made_ready = Stage(scratch)
    yield made_ready
    made_ready.close()


def contents(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "gone"


def interrupted(stage: Stage, device: Path, name: str | None = None) -> Path:
    destroy = {"destroy": device.name, "wipe_signatures": True}
    return made.interrupted(stage.folder / "library", name or str(device), **destroy)


Change = Callable[[Stage, Path, Path], Path]
"""Given the stage, the loop device and its image; returns what must stay as it is."""


def another_image(stage: Stage, device: Path, _: Path) -> Path:
    other = stage.image("other.img", file_system=True)
    stage.again(device, other)
    return other


def a_copy(stage: Stage, device: Path, image: Path) -> Path:
    copy = Path(shutil.copy2(image, stage.folder / "copy.img"))
    stage.again(device, copy)
    return copy


def the_same_anew(stage: Stage, device: Path, image: Path) -> Path:
    stage.again(device, image)
    return image


def a_larger_one(stage: Stage, device: Path, _: Path) -> Path:
    other = stage.image("larger.img", 8 * MIB)
    stage.again(device, other)
    return other


def a_smaller_one(stage: Stage, device: Path, _: Path) -> Path:
    other = stage.image("smaller.img", 2 * MIB)
    stage.again(device, other)
    return other


def another_part(stage: Stage, device: Path, _: Path) -> Path:
    other = stage.image("long.img", 8 * MIB)
    stage.again(device, other, "--offset", str(MIB), "--sizelimit", str(4 * MIB))
    return other


def larger_blocks(stage: Stage, device: Path, image: Path) -> Path:
    stage.again(device, image, "--sector-size", "4096")
    return image


def read_only(stage: Stage, device: Path, image: Path) -> Path:
    stage.again(device, image, "--read-only")
    return image


def a_disk_behind_it(stage: Stage, device: Path, _: Path) -> Path:
    below = stage.zram()
    stage.again(device, below)
    return below


def a_file_of_the_same_name(stage: Stage, device: Path, image: Path) -> Path:
    stage.detach(device)
    image.unlink()
    other = stage.image(image.name, file_system=True)
    stage.attach(device, other)
    return other


def partitions_looked_for(stage: Stage, device: Path, image: Path) -> Path:
    stage.again(device, image, "--partscan")
    return image


def nothing_at_all(stage: Stage, device: Path, image: Path) -> Path:
    stage.detach(device)
    return image


def grown(stage: Stage, device: Path, image: Path) -> Path:
    os.truncate(image, 8 * MIB)
    subprocess.run([stage.losetup, "--set-capacity", str(device)], check=True)
    return image


def two_changes(stage: Stage, device: Path, image: Path) -> Path:
    stage.again(device, stage.image("other.img"))
    stage.again(device, image)
    return image


WAYS: tuple[Change, ...] = (
    another_image,
    a_copy,
    the_same_anew,
    a_larger_one,
    a_smaller_one,
    another_part,
    larger_blocks,
    read_only,
    a_disk_behind_it,
    a_file_of_the_same_name,
    partitions_looked_for,
    nothing_at_all,
    grown,
    two_changes,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_loop_device_that_was_replaced(way: Change, stage: Stage) -> None:
    device, image = stage.loop(), stage.image("run.img")
    stage.attach(device, image)
    folder = interrupted(stage, device)
    kept = way(stage, device, image)
    before = contents(kept)
    assert main(["resume", str(folder)]) == 2
    assert contents(kept) == before


def a_reset(stage: Stage, device: Path) -> None:
    stage.reset(device, 4 * MIB)


def a_reset_and_a_file_system(stage: Stage, device: Path) -> None:
    stage.reset(device, 4 * MIB)
    stage.make_file_system(device)


def a_reset_and_foreign_data(stage: Stage, device: Path) -> None:
    """As much as the run had written, and more: no count of the kernel's tells it from the run's own."""
    stage.reset(device, 4 * MIB)
    for _ in range(3):
        device.write_bytes(b"FOREIGN\n" * (4 * MIB // 8))


def another_size(stage: Stage, device: Path) -> None:
    stage.reset(device, 8 * MIB)


def removed_and_made_anew(stage: Stage, device: Path) -> None:
    """Under the same number, as the kernel gives out the lowest; else the run finds no drive at all."""
    memory_disk.remove(device)
    stage.zrams.remove(device)
    stage.zram()


@pytest.mark.parametrize(
    "way", [a_reset, a_reset_and_a_file_system, a_reset_and_foreign_data, another_size, removed_and_made_anew]
)
def test_a_zram_device_that_was_replaced(way: Callable[[Stage, Path], None], stage: Stage) -> None:
    if not memory_disk.available():
        pytest.skip("no zram in this kernel")
    device = stage.zram()
    folder = interrupted(stage, device)
    way(stage, device)
    before = contents(stage.zrams[-1])
    assert main(["resume", str(folder)]) == 2
    assert contents(stage.zrams[-1]) == before


def link_elsewhere(name: Path, other: Path) -> None:
    name.unlink()
    name.symlink_to(other)


def node_of_another(name: Path, other: Path) -> None:
    name.unlink()
    os.mknod(name, stat.S_IFBLK | 0o600, other.stat().st_rdev)


def plain_file(name: Path, _: Path) -> None:
    name.unlink()
    name.write_bytes(bytes(4 * MIB))


@pytest.mark.parametrize("way", [link_elsewhere, node_of_another, plain_file])
def test_a_name_that_leads_to_another_device(way: Callable[[Path, Path], None], stage: Stage) -> None:
    device, other = stage.loop(), stage.loop()
    stage.attach(device, stage.image("run.img"))
    kept = stage.image("other.img")
    stage.attach(other, kept)
    name = stage.folder / "by-id"
    name.symlink_to(device)
    folder = interrupted(stage, device, str(name))
    way(name, other)
    before = contents(kept), contents(name)
    assert main(["resume", str(folder)]) == 2
    assert (contents(kept), contents(name)) == before


def test_a_partition_that_was_moved(stage: Stage) -> None:
    device, image = stage.loop(), stage.image("run.img", 8 * MIB)
    write_table(image, MIB // 512)
    stage.attach(device, image)
    subprocess.run([tool("partx", "util-linux"), "--add", str(device)], check=True)
    part = Path(f"{device}p1")
    destroy = {"destroy": f"{device.name}-part1", "wipe_signatures": True}
    folder = made.interrupted(stage.folder / "library", str(part), **destroy)
    write_table(device, 2 * MIB // 512)
    subprocess.run(["partx", "--update", str(device)], check=True)
    before = contents(image)
    assert main(["resume", str(folder)]) == 2
    assert contents(image) == before


def write_table(at: Path, first_sector: int) -> None:
    table = f"label: dos\nstart={first_sector}, size={4 * MIB // 512}\n"
    subprocess.run([tool("sfdisk", "fdisk"), "-q", str(at)], input=table, text=True, check=True)


def test_after_a_start_of_the_host_consent_is_asked_for_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    device, image = stage.loop(), stage.image("run.img")
    stage.attach(device, image)
    folder = interrupted(stage, device)
    for module in (journal, consent_record, resume_checks):
        monkeypatch.setattr(module, "boot_id", lambda: "another boot")
    before = contents(image)
    assert main(["resume", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "only a kernel name" in said and "--destroy" in said
    assert contents(image) == before
    assert main(["resume", str(folder), "--destroy", "loop1"]) == 2, "consent to another one"
    assert contents(image) == before
    assert main(["resume", str(folder), "--destroy", device.name]) == 0
    assert contents(image) != before


def test_the_same_drive_is_gone_on_with(stage: Stage) -> None:
    device, image = stage.loop(), stage.image("run.img")
    stage.attach(device, image)
    folder = interrupted(stage, device)
    assert resume(folder) == folder


def test_a_drive_attached_anew_is_taken_with_consent_given_again(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    device, image = stage.loop(), stage.image("run.img")
    stage.attach(device, image)
    folder = interrupted(stage, device)
    stage.again(device, image)
    assert main(["resume", str(folder)]) == 2
    assert "was attached again" in capsys.readouterr().err
    assert main(["resume", str(folder), "--destroy", device.name]) == 0
