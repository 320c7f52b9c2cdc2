"""The guard before real devices in real trouble, and afterwards not one byte of them changed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ssdlab.drives import look, open_drive
from ssdlab.model.errors import LabError, Refused, UsageError


def digest(device: Path) -> str:
    """Hash of what the device holds, past the page cache of this node's opens."""
    with device.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.file_digest(file, "sha256").hexdigest()


def refused(target: Path | str, reason: str, **options: object) -> Refused:
    """The refusal of reading and of writing with the right consent; both must have the same reason."""
    name = options.pop("name", Path(target).name)
    with pytest.raises(Refused) as reading:
        open_drive(target)
    with pytest.raises(Refused) as writing:
        open_drive(target, writing=True, destroy=str(name))
    assert [error.value.facts["reason"] for error in (reading, writing)] == [reason, reason]
    assert reading.value.exit_status == 2
    assert "\n" not in reading.value.what
    assert reading.value.advice
    return reading.value


@contextmanager
def mounted(device: Path, point: Path, *options: str) -> Iterator[Path]:
    subprocess.run(["mount", *options, str(device), str(point)], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", str(point)], check=True)


@pytest.fixture
def point(tmp_path: Path) -> Path:
    """A folder to mount on."""
    made = tmp_path / "mounted"
    made.mkdir()
    return made


@pytest.fixture
def ext4(loop: Callable[..., Path], need_tool: Callable[[str], str]) -> Path:
    device = loop()
    subprocess.run([need_tool("mkfs.ext4"), "-q", str(device)], check=True)
    return device


@pytest.fixture
def partitioned(loop: Callable[..., Path], need_tool: Callable[[str], str]) -> Iterator[Path]:
    """A loop device with two partitions of 24 MiB, told to the kernel without a table on it."""
    device = loop()
    for index, first in ((1, 2048), (2, 2048 + 49152)):
        subprocess.run([need_tool("addpart"), str(device), str(index), str(first), "49152"], check=True)
    yield device
    for index in (1, 2):
        subprocess.run(["delpart", str(device), str(index)], check=False)


def test_a_mounted_device(ext4: Path, point: Path) -> None:
    before = digest(ext4)
    with mounted(ext4, point, "-o", "ro,noload"):
        error = refused(ext4, "mounted")
        assert str(point) in error.what
        assert f"umount {point}" in error.advice
    assert digest(ext4) == before


def test_a_device_mounted_in_another_namespace(ext4: Path, point: Path) -> None:
    """Our own mount table does not show it; the kernel's claim does."""
    script = f"mount -o ro,noload {ext4} {point} && echo mounted && read _"
    process = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "mounted\n"
        refused(ext4, "claimed")
    finally:
        process.stdin.close()
        process.wait(10)


def test_a_link_to_a_mounted_device(ext4: Path, point: Path, scratch: Path) -> None:
    link = scratch / "innocent"
    link.symlink_to(ext4)
    with mounted(ext4, point, "-o", "ro,noload"):
        refused(link, "mounted", name=ext4.name)


def test_another_node_of_a_mounted_device(ext4: Path, point: Path, scratch: Path) -> None:
    """The number counts, not the name."""
    node = scratch / "mynode"
    os.mknod(node, 0o600 | 0o060000, ext4.stat().st_rdev)
    with mounted(ext4, point, "-o", "ro,noload"):
        refused(node, "mounted", name=ext4.name)


def test_a_disk_with_a_mounted_partition_and_its_sibling(
    partitioned: Path, point: Path, need_tool: Callable[[str], str]
) -> None:
    one, two = Path(f"{partitioned}p1"), Path(f"{partitioned}p2")
    subprocess.run([need_tool("mkfs.ext4"), "-q", str(one)], check=True)
    before = digest(partitioned)
    with mounted(one, point, "-o", "ro,noload"):
        refused(partitioned, "mounted")
        refused(one, "mounted", name=f"{partitioned.name}-part1")
        refused(two, "mounted", name=f"{partitioned.name}-part2")
    assert digest(partitioned) == before


def test_a_swap_device(zram: Path, need_tool: Callable[[str], str]) -> None:
    subprocess.run([need_tool("mkswap"), str(zram)], check=True, capture_output=True)
    before = digest(zram)
    subprocess.run([need_tool("swapon"), str(zram)], check=True)
    try:
        error = refused(zram, "swap")
        assert f"swapoff {zram}" in error.advice
    finally:
        subprocess.run([need_tool("swapoff"), str(zram)], check=True)
    assert digest(zram) == before


@pytest.mark.parametrize("mode", ["r", "w"])
def test_a_device_open_in_another_process(loop: Callable[..., Path], mode: str) -> None:
    device = loop()
    flags = "O_RDONLY" if mode == "r" else "O_WRONLY"
    script = (
        f"import os,sys; os.open({str(device)!r}, os.{flags}); print('open', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "open\n"
        assert str(process.pid) in refused(device, "open").what
    finally:
        process.stdin.close()
        process.wait(10)


def test_a_device_that_a_loop_device_stands_on(zram: Path, need_tool: Callable[[str], str]) -> None:
    upper = subprocess.run(
        [need_tool("losetup"), "--find", "--show", str(zram)], check=True, capture_output=True, text=True
    ).stdout.strip()
    try:
        assert Path(upper).name in refused(zram, "held").what
    finally:
        subprocess.run(["losetup", "--detach", upper], check=True)


def test_a_wrong_identifier(zram: Path) -> None:
    before = digest(zram)
    for wrong in ("zram", zram.name.upper(), f"{zram.name} ", str(zram), ""):
        with pytest.raises(Refused) as caught:
            open_drive(zram, writing=True, destroy=wrong)
        assert caught.value.facts["reason"] == "wrong-consent"
        assert f"--destroy '{zram.name}'" in caught.value.advice
    with pytest.raises(Refused) as caught:
        open_drive(zram, writing=True)
    assert caught.value.facts["reason"] == "no-consent"
    assert digest(zram) == before


def test_a_read_only_device(loop: Callable[..., Path]) -> None:
    device = loop("--read-only")
    with pytest.raises(Refused) as caught:
        open_drive(device, writing=True, destroy=device.name)
    assert caught.value.facts["reason"] == "read-only"
    assert look(device).reading is None


@pytest.mark.machine
def test_a_device_without_a_medium() -> None:
    free = subprocess.run(["losetup", "--find"], capture_output=True, text=True, check=False).stdout.strip()
    if not free:
        pytest.skip("no loop device is free")
    refused(free, "empty")


def test_the_disk_under_root(scratch: Path) -> None:
    number = Path("/").stat().st_dev
    node = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not node.exists():
        pytest.skip("no block device under /")
    device = Path("/dev") / node.resolve().name
    link = scratch / "link"
    link.symlink_to(device)
    for target in (device, link):
        for options in ({}, {"writing": True, "destroy": "x"}):
            with pytest.raises(Refused) as caught:
                open_drive(target, **options)
            assert caught.value.facts["reason"] == "root"


def test_a_size_for_a_device(zram: Path) -> None:
    with pytest.raises(UsageError, match="--size"):
        open_drive(zram, size=1 << 20)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/dev/nvme99n1", "no device"),
        ("/dev/null", "character device"),
        ("sim:no-such-profile", "no profile"),
        ("", "no drive"),
        ("/proc/self/mountinfo", "empty"),
    ],
)
def test_what_is_no_drive(text: str, words: str) -> None:
    with pytest.raises(LabError, match=words) as caught:
        open_drive(text)
    assert caught.value.exit_status == 2


def test_looking_names_the_identifier_and_both_verdicts(zram: Path) -> None:
    seen = look(zram)
    assert seen.identity is not None
    assert seen.identity.consent_id == zram.name
    assert seen.reading is None
    assert seen.writing is not None
    assert seen.writing.reason == "no-consent"
    assert look(zram, destroy=zram.name).writing is None


def test_all_drives_are_listed_with_one_look_at_open_files(
    zram: Path, loop: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ssdlab.drives import list_drives, opening

    looks = []
    look_around = opening.look_around
    monkeypatch.setattr(opening, "look_around", lambda files: looks.append(1) or look_around(files))
    device = loop()
    with device.open("rb"):
        found = {seen.identity.name: seen for seen in list_drives() if seen.identity is not None}
    assert found[zram.name].reading is None
    refusal = found[device.name].reading
    assert refusal is not None
    assert refusal.reason == "open"
    assert str(os.getpid()) in refusal.what
    assert looks == [1]


def test_a_path_that_leads_to_another_device_by_now(loop: Callable[..., Path]) -> None:
    from ssdlab.drives.guard.usage import claimed
    from ssdlab.host.sysfs import device_number

    one, other = loop(), loop()
    assert not claimed(str(one), device_number(one.stat().st_rdev))
    for path in (other, Path("/dev/null")):
        with pytest.raises(OSError, match="points to something else"):
            claimed(str(path), device_number(one.stat().st_rdev))


def test_a_device_that_cannot_be_opened(zram: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ssdlab.drives.guard import usage

    def fail(*_: object) -> bool:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(usage, "claimed", fail)
    assert "Input/output error" in refused(zram, "fault").what
