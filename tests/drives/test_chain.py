"""A device is what it stands on, too: nothing below it is exchanged unseen."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab.drives import open_drive
from ssdlab.host.chain import Layer, chain_of, difference
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import Refused
from ssdlab.model.workload import Mix, Stop, Stream, Workload

MIB = 1 << 20
WRITES = Workload.of(Stream(ops=Mix(read_pct=0), stop=Stop(ios=16)))
READS = Workload.of(Stream(stop=Stop(ios=16)))
_LOOP_SET_STATUS64, _LOOP_GET_STATUS64 = 0x4C04, 0x4C05
_OFFSET_AT = 24


def volume(host, name: str, *below: Path, table: str = "0", **attributes: str) -> Path:
    """A device mapper volume on these disks."""
    node = host.disk(name, dm__name=name, dm__uuid=f"TEST-{table}", diskseq="9", **attributes)
    for disk in below:
        host.hold(disk, node)
    return node


def test_a_disk_is_its_number_and_its_attachment(host) -> None:
    disk = host.disk("sda", diskseq="3")
    then = chain_of(host.files, disk)
    assert difference(then, chain_of(host.files, disk)) is None
    host.write(disk, {"diskseq": "4"})
    assert (
        difference(then, chain_of(host.files, disk))
        == "sda was attached again since (disk sequence number 4, was 3)"
    )


def test_a_table_reloaded_onto_another_disk(host) -> None:
    """The volume itself keeps its name, number, count and UUID."""
    one, other = host.disk("sda", diskseq="3"), host.disk("sdb", diskseq="4")
    top = volume(host, "dm-1", volume(host, "dm-0", one))
    then = chain_of(host.files, top)
    dm = top.parent / "dm-0"
    (dm / "slaves" / "sda").unlink()
    (dm / "slaves" / "sdb").symlink_to(other)
    found = difference(then, chain_of(host.files, top))
    assert found == "below dm-1, below dm-0, sdb (240:2) replaced sda (240:1)"


def test_a_member_that_went_or_came(host) -> None:
    disks = [host.disk(name, diskseq=str(count)) for count, name in enumerate(("sda", "sdb"), 1)]
    array = host.disk("md0", md__level="raid1", diskseq="7")
    for disk in disks:
        host.hold(disk, array)
    then = chain_of(host.files, array)
    (array / "slaves" / "sdb").unlink()
    assert difference(then, chain_of(host.files, array)) == "md0 is built on 1 devices, was 2"


def test_a_member_that_was_replaced_under_its_name(host) -> None:
    disk = host.disk("sda", diskseq="3")
    array = host.disk("md0", md__level="raid1", diskseq="7")
    host.hold(disk, array)
    then = chain_of(host.files, array)
    host.write(disk, {"diskseq": "8"})
    assert (
        difference(then, chain_of(host.files, array))
        == "below md0, sda was attached again since (disk sequence number 8, was 3)"
    )


def test_a_partition_that_was_moved(host) -> None:
    part = host.partition(host.disk("sda", diskseq="3"), 1)
    host.write(part, {"start": "2048"})
    then = chain_of(host.files, part)
    host.write(part, {"start": "4096"})
    assert difference(then, chain_of(host.files, part)) == "sda1 starts at sector 4096, was 2048"


@pytest.mark.parametrize("field", ["backing", "table"])
def test_what_else_leads_further_down(field: str) -> None:
    layer = Layer("dm-0", "253:0", 1, backing=("8:1", 12), table="TEST 1 ab")
    changed = replace(layer, **{field: ("8:1", 13) if field == "backing" else "TEST 1 cd"})
    assert difference(layer, changed) is not None


def test_a_ring_of_volumes_ends(host) -> None:
    one, other = volume(host, "dm-0"), volume(host, "dm-1")
    host.hold(one, other)
    host.hold(other, one)
    chain_of(host.files, one)


def moved(device: Path, offset: int) -> None:
    """Let a loop device lead to another part of its file, as `losetup` did for one that is in use."""
    descriptor = os.open(device, os.O_RDWR)
    try:
        status = bytearray(232)
        fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, status, True)
        struct.pack_into("=Q", status, _OFFSET_AT, offset)
        fcntl.ioctl(descriptor, _LOOP_SET_STATUS64, status, True)
    finally:
        os.close(descriptor)


def test_a_real_loop_device_leads_to_its_file_or_device(
    loop: Callable[..., Path], need_tool: Callable[[str], str]
) -> None:
    files, device = HostFiles(), loop()
    node = files.node_named(device.name)
    assert node is not None
    layer = chain_of(files, node)
    backing = Path((node / "loop/backing_file").read_text().strip()).stat()
    assert layer.backing is not None and layer.backing[1:3] == (backing.st_dev, backing.st_ino)
    assert layer.diskseq == int((node / "diskseq").read_text())


def test_a_loop_device_that_leads_elsewhere_is_not_written_any_more(loop: Callable[..., Path]) -> None:
    """To another part of its file, of the same size: nothing but what lies below tells."""
    device = loop("--sizelimit", str(32 * MIB))
    backing = Path(Path(f"/sys/block/{device.name}/loop/backing_file").read_text().strip())
    with open_drive(device, writing=True, destroy=device.name) as drive:
        size = drive.capacity_bytes
        drive.run(WRITES)
        moved(device, 4096)
        before = backing.read_bytes()
        for workload in (WRITES, READS):
            with pytest.raises(Refused) as caught:
                drive.run(workload)
            assert caught.value.facts["reason"] == "replaced"
            assert "has another file behind it, or another part of it" in caught.value.what
        with pytest.raises(Refused):
            drive.trim(0, MIB)
        assert backing.read_bytes() == before
        moved(device, 0)
        assert drive.capacity_bytes == size
        drive.run(WRITES)
