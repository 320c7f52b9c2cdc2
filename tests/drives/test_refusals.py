"""Every situation in which a drive must be refused, on real devices: refused, not a byte written, own words.

Those of the guest are in `tests/guest/test_refusals.py`; the messages of both in `machine.situations`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from machine import memory_disk
from machine.situations import MESSAGES, Situation
from ssdlab.drives import open_drive
from ssdlab.errors import LabError

_SIZE = 16 << 20
_SITUATIONS: dict[str, Callable[[Stage], Situation]] = {}


def situation(make: Callable[[Stage], Situation]) -> Callable[[Stage], Situation]:
    _SITUATIONS[make.__name__.replace("_", "-")] = make
    return make


class Stage:
    """Sets the scene on devices of its own, and clears everything away afterwards."""

    def __init__(
        self, folder: Path, need_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder, self.need_tool, self.monkeypatch = folder, need_tool, monkeypatch
        self.ended = ExitStack()
        self.namespace: tuple[Path, str] | None = None

    def run(self, *command: str | Path, send: str = "") -> str:
        program = self.need_tool(str(command[0]))
        done = subprocess.run(
            [program, *map(str, command[1:])], check=True, capture_output=True, text=True, input=send
        )
        return done.stdout.strip()

    def loop(self, *options: str, on: Path | None = None) -> Path:
        backing = on or self.folder / f"backing-{len(list(self.folder.iterdir()))}"
        if on is None:
            with backing.open("wb") as file:
                file.truncate(_SIZE)
        device = self.run("losetup", "--find", "--show", *options, backing)
        self.ended.callback(lambda: self.run("losetup", "--detach", device))
        return Path(device)

    def btrfs(self) -> Path:
        """A zram device: btrfs needs more than a small loop device gives."""
        device = memory_disk.add(256 << 20)
        self.ended.callback(memory_disk.remove, device)
        return device

    def ext4(self, device: Path, *options: str) -> Path:
        self.run("mkfs.ext4", "-q", *options, device)
        return device

    def partitions(self, disk: Path) -> tuple[Path, Path]:
        for index, first in ((1, 2048), (2, 2048 + 12288)):
            self.run("addpart", disk, str(index), str(first), "12288")
            self.ended.callback(lambda part=index: self.run("delpart", disk, str(part)))
        return Path(f"{disk}p1"), Path(f"{disk}p2")

    def mount(self, device: Path, *options: str) -> str:
        point = self.folder / "mounted"
        point.mkdir()
        self.run("mount", "-o", "ro", *options, device, point)
        self.ended.callback(lambda: self.run("umount", point))
        return str(point)

    def swap(self, area: Path) -> None:
        self.run("mkswap", area)
        self.run("swapon", area)
        self.ended.callback(lambda: self.run("swapoff", area))

    def holder(self, path: Path, mode: str) -> subprocess.Popen[str]:
        """Another process that has a file open."""
        script = f"import os, sys; os.open({str(path)!r}, os.{mode}); print('open', flush=True); input()"
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self.ended.callback(process.wait, 10)
        self.ended.callback(process.stdin.close)
        assert process.stdout.readline() == "open\n"
        return process

    def file(self, content: bytes = b"precious" * 1024) -> Path:
        made = self.folder / "report.img"
        made.write_bytes(content)
        return made


@pytest.fixture
def stage(scratch: Path, need_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    made = Stage(scratch, need_tool, monkeypatch)
    with made.ended:
        yield made


def consent(device: Path) -> dict[str, object]:
    """Consent with the right identifier."""
    return {"destroy": re.sub(r"^(loop\d+)p(\d+)$", r"\1-part\2", device.name)}


# --- mounted ---


@situation
def mounted_whole(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    return Situation(str(device), {"point": stage.mount(device, "-o", "noload")}, consent(device), (device,))


@situation
def mounted_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    point = stage.mount(stage.ext4(part), "-o", "noload")
    return Situation(str(disk), {"part": part.name, "point": point}, consent(disk), (disk,))


@situation
def beside_a_mounted_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, beside = stage.partitions(disk)
    point = stage.mount(stage.ext4(part), "-o", "noload")
    return Situation(str(beside), {"part": part.name, "point": point}, consent(beside), (disk,))


@situation
def partition_of_a_mounted_disk(stage: Stage) -> Situation:
    disk = stage.ext4(stage.loop())
    part, _ = stage.partitions(disk)
    point = stage.mount(disk, "-o", "noload")
    return Situation(str(part), {"disk": disk.name, "point": point}, consent(part), (disk,))


@situation
def mounted_volume_on_it(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    upper = stage.loop(on=device)
    point = stage.mount(upper, "-o", "noload")
    return Situation(str(device), {"volume": upper.name, "point": point}, consent(device), (device,))


@situation
def mounted_disk_below(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    upper = stage.loop(on=device)
    point = stage.mount(device, "-o", "noload")
    return Situation(str(upper), {"disk": device.name, "point": point}, consent(upper), (device,))


@situation
def member_of_a_mounted_btrfs(stage: Stage) -> Situation:
    one, two = stage.btrfs(), stage.btrfs()
    stage.run("mkfs.btrfs", "-q", "-d", "single", "-m", "single", one, two)
    point = stage.mount(one)
    return Situation(str(two), {"point": point}, consent(two), (one, two))


@situation
def swap(stage: Stage) -> Situation:
    device = stage.loop()
    stage.swap(device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def swap_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    stage.swap(part)
    return Situation(str(disk), {"part": part.name}, consent(disk), (disk,))


# --- the system's own: mounted over / and /boot in a mount namespace, in which ssdlab then runs ---


@situation
def the_disk_under_root(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    stage.namespace = (device, "/")
    return Situation(str(device), {}, consent(device), (device,))


@situation
def a_partition_under_root(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    stage.namespace = (stage.ext4(part), "/")
    return Situation(str(disk), {"part": part.name}, consent(disk), (disk,))


@situation
def beside_the_partition_under_root(stage: Stage) -> Situation:
    disk = stage.loop()
    part, beside = stage.partitions(disk)
    stage.namespace = (stage.ext4(part), "/")
    return Situation(str(beside), {"part": part.name}, consent(beside), (disk,))


@situation
def the_disk_under_boot(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    stage.namespace = (device, "/boot")
    return Situation(str(device), {}, consent(device), (device,))


# --- held, open, claimed ---


@situation
def loop_device_on_it(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(str(device), {"volume": stage.loop(on=device).name}, consent(device), (device,))


@situation
def loop_device_on_a_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    names = {"volume": stage.loop(on=part).name, "part": part.name}
    return Situation(str(disk), names, consent(disk), (disk,))


@situation
def open_in_a_process(stage: Stage) -> Situation:
    device = stage.loop()
    process = stage.holder(device, "O_RDONLY")
    command = Path(f"/proc/{process.pid}/comm").read_text().strip()
    return Situation(str(device), {"pid": str(process.pid), "command": command}, consent(device), (device,))


@situation
def mounted_in_another_namespace(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    point = stage.folder / "elsewhere"
    point.mkdir()
    script = f"mount -o ro,noload {device} {point} && echo mounted && read _"
    process = subprocess.Popen(
        [stage.need_tool("unshare"), "--mount", "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stage.ended.callback(process.wait, 10)
    stage.ended.callback(process.stdin.close)
    assert process.stdout.readline() == "mounted\n"
    return Situation(str(device), {}, consent(device), (device,))


# --- unusable ---


@situation
def no_medium(stage: Stage) -> Situation:
    free = stage.run("losetup", "--find")
    return Situation(free, {}, {"destroy": Path(free).name})


@situation
def read_only(stage: Stage) -> Situation:
    device = stage.loop("--read-only")
    return Situation(str(device), {}, consent(device), (device,))


# --- consent ---


@situation
def no_consent(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(str(device), {}, {}, (device,))


@situation
def wrong_identifier(stage: Stage) -> Situation:
    device = stage.loop()
    given = device.name.upper()
    return Situation(str(device), {"given": given}, {"destroy": given}, (device,))


@situation
def identifier_of_another_drive(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.loop()
    names = {"given": other.name, "other": str(other)}
    return Situation(str(device), names, consent(other), (device, other))


@situation
def identifier_of_the_whole_disk(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    return Situation(str(part), {"given": disk.name, "other": str(disk)}, consent(disk), (disk,))


@situation
def identifier_of_the_partition(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    names = {"given": f"{disk.name}-part1", "other": str(part)}
    return Situation(str(disk), names, consent(part), (disk,))


@situation
def link_to_another_disk(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.loop()
    link = stage.folder / other.name
    link.symlink_to(device)
    names = {"given": other.name, "other": str(other), "link": str(link)}
    return Situation(str(link), {**names, "target": str(device)}, consent(other), (device, other))


# --- what lies on it ---


@situation
def file_system(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop(), "-L", "family-photos")
    return Situation(str(device), {}, consent(device), (device,))


@situation
def partition_table(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("sfdisk", "--quiet", "--no-tell-kernel", device, send="label: gpt\nsize=4MiB\n")
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_volume_group(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("pvcreate", "--quiet", "--config", "devices{use_devicesfile=0}", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_btrfs_member(stage: Stage) -> Situation:
    device = stage.btrfs()
    stage.run("mkfs.btrfs", "-q", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_swap(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("mkswap", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_bcache(stage: Stage) -> Situation:
    device = stage.loop()
    stage.run("make-bcache", "-B", device)
    return Situation(str(device), {}, consent(device), (device,))


@situation
def unused_luks(stage: Stage) -> Situation:
    device = stage.loop()
    # This needs no device mapper: the header and one key slot are written by the program itself.
    stage.run("cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", "--pbkdf", "pbkdf2",
              "--pbkdf-force-iterations", "1000", device, "-", send="secret")  # fmt: skip
    return Situation(str(device), {}, consent(device), (device,))


@situation
def signatures_not_readable(stage: Stage) -> Situation:
    from ssdlab.drives.admin import port

    find = port.shutil.which
    stage.monkeypatch.setattr(
        port.shutil, "which", lambda name, **more: None if name == "wipefs" else find(name, **more)
    )
    device = stage.ext4(stage.loop())
    return Situation(str(device), {}, consent(device), (device,))


# --- files ---


@situation
def foreign_file(stage: Stage) -> Situation:
    made = stage.file()
    return Situation(str(made), {}, {}, (made,))


@situation
def changed_since(stage: Stage) -> Situation:
    made = stage.folder / "scratch.img"
    open_drive(made, size=1 << 20).close()
    with made.open("r+b") as file:
        file.write(b"now somebody keeps their letters here")
    later = made.stat().st_mtime + 3600
    os.utime(made, (later, later))
    return Situation(str(made), {}, {}, (made,))


@situation
def hard_link(stage: Stage) -> Situation:
    made = stage.file()
    other = stage.folder / "other-name"
    other.hardlink_to(made)
    return Situation(str(other), {}, {"destroy": other.name}, (made,))


@situation
def symbolic_link(stage: Stage) -> Situation:
    made = stage.file()
    link = stage.folder / "link"
    link.symlink_to(made)
    return Situation(str(link), {}, {"destroy": link.name}, (made,))


@situation
def folder(stage: Stage) -> Situation:
    return Situation(str(stage.folder), {}, {"destroy": stage.folder.name})


@situation
def character_device(_: Stage) -> Situation:
    return Situation("/dev/zero", {}, {"destroy": "zero"})


@situation
def swap_file(stage: Stage) -> Situation:
    made = stage.file(os.urandom(1 << 20))
    made.chmod(0o600)
    stage.swap(made)
    return Situation(str(made), {}, {"destroy": made.name}, (made,))


@situation
def behind_a_loop_device(stage: Stage) -> Situation:
    made = stage.file(os.urandom(1 << 20))
    return Situation(str(made), {"volume": str(stage.loop(on=made))}, {"destroy": made.name}, (made,))


@situation
def open_for_writing(stage: Stage) -> Situation:
    made = stage.file()
    process = stage.holder(made, "O_WRONLY")
    command = Path(f"/proc/{process.pid}/comm").read_text().strip()
    names = {"pid": str(process.pid), "command": command}
    return Situation(str(made), names, {"destroy": made.name}, (made,))


@situation
def other_size(stage: Stage) -> Situation:
    made = stage.file(b"x" * 4096)
    return Situation(str(made), {"bytes": "4096"}, {"destroy": made.name, "size": 8192}, (made,))


@situation
def empty_file(stage: Stage) -> Situation:
    made = stage.file(b"")
    return Situation(str(made), {}, {"destroy": made.name}, (made,))


@situation
def wrong_name(stage: Stage) -> Situation:
    made = stage.file()
    return Situation(str(made), {"given": str(made)}, {"destroy": str(made)}, (made,))


# --- the tests ---


@pytest.mark.parametrize("name", _SITUATIONS)
def test_refused_and_not_a_byte_written(stage: Stage, name: str) -> None:
    set_up = _SITUATIONS[name](stage)
    before = [state_of(one) for one in set_up.watched]
    said = in_a_namespace(stage, set_up) if stage.namespace else refusal_of(set_up)
    assert said == MESSAGES[name].format(**{"target": set_up.target, **set_up.names})
    assert [state_of(one) for one in set_up.watched] == before


def test_each_situation_has_words_of_its_own() -> None:
    assert len(set(MESSAGES.values())) == len(MESSAGES)
    assert set(_SITUATIONS) <= set(MESSAGES)
    assert len(_SITUATIONS) >= 40


def refusal_of(set_up: Situation) -> str:
    with pytest.raises(LabError) as caught:
        open_drive(set_up.target, writing=True, **set_up.options)  # type: ignore[arg-type]
    assert caught.value.exit_status == 2
    assert caught.value.advice
    return caught.value.what


def in_a_namespace(stage: Stage, set_up: Situation) -> str:
    """Run the command where the device is mounted over a place of the system, for itself alone."""
    assert stage.namespace is not None
    device, point = stage.namespace
    command = (
        f"mount -o ro,noload {device} {point} && exec {sys.executable} -m ssdlab measure {set_up.target} "
    )
    command += f"--rw write --bytes 1MiB --destroy {set_up.options['destroy']} --json"
    done = subprocess.run(
        [stage.need_tool("unshare"), "--mount", "sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done
    said = json.loads(done.stdout or done.stderr)
    assert said["facts"]["reason"] == "root"
    return str(said["what"])


def state_of(path: Path) -> tuple[str, int]:
    """Hash of what a device or file holds, past the page cache, and the sectors written to the device."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    counts = Path(f"/sys/class/block/{path.name}/stat")
    return digest, int(counts.read_text().split()[6]) if counts.exists() else 0
