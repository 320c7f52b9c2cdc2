"""What the kernel serves to others, by copies of its settings; the guest has real ones."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from conftest import need_root
from ssdlab.drives.guard.device_facts import device_tables
from ssdlab.drives.guard.judge import Intent, judge_device
from ssdlab.drives.guard.usage import exports, hidden_servers, read_tables, servers_of

NVMET = "sys/kernel/config/nvmet/subsystems/nqn.lab"


def objection(host, node: Path) -> str | None:
    refusal = judge_device(device_tables(host.files, f"/dev/{node.name}", node, Intent()), Intent())
    return refusal and f"{refusal.reason}: {refusal.what}"


def serve(host, path: str, enable: str = "1") -> None:
    host.write(host.root / NVMET / "namespaces/1", {"device_path": path, "enable": enable})


def test_a_disk_served_as_an_nvme_namespace(host) -> None:
    disk, other = host.disk("sda"), host.disk("sdb")
    part = host.partition(disk, 1)
    serve(host, "/dev/sda1")
    words = "namespace 1 of the NVMe target nqn.lab serves"
    assert objection(host, disk) == f"held: /dev/sda is in use: {words} its partition sda1"
    assert objection(host, part) == f"held: /dev/sda1 is in use: {words} it"
    assert objection(host, other) is None
    serve(host, "/dev/sda1", enable="0")
    assert objection(host, disk) is None


def test_a_volume_served_keeps_its_disk(host) -> None:
    disk, beside, volume = host.disk("sda"), host.disk("dm-1"), host.disk("dm-0")
    host.hold(disk, volume)
    host.hold(disk, beside)
    serve(host, "/dev/dm-0")
    assert "serves dm-0 (which shares its storage)" in str(objection(host, beside))


def test_what_leads_nowhere_speaks_against_every_device(host) -> None:
    disk = host.disk("sda")
    serve(host, "/tmp/gone")
    assert objection(host, disk) == (
        "unseen: /dev/sda may be in use: what namespace 1 of the NVMe target nqn.lab serves, as /tmp/gone "
        "does not exist, cannot be seen"
    )


def test_blanks_at_the_end_of_a_path_are_part_of_it(host) -> None:
    (host.root / "images").mkdir()
    for name in ("disk", "disk "):
        (host.root / "images" / name).write_bytes(b"x")
    serve(host, "/images/disk ")
    status = (host.root / "images" / "disk ").stat()
    (export,) = exports(host.files)
    assert export.file == (status.st_dev, status.st_ino)
    assert servers_of(read_tables(host.files), (status.st_dev, status.st_ino)) == (export,)


@pytest.mark.outside
def test_a_controller_passed_through_serves_all_its_namespaces(host) -> None:
    need_root()
    controller = host.root / "sys/devices/pci/nvme/nvme0"
    host.write(controller, {"dev": "240:200"})
    one = host.disk("nvme0n1", under="pci/nvme/nvme0")
    other = host.disk("nvme1n1", under="pci/nvme/nvme1")
    for disk in (one, other):
        (disk / "device").symlink_to(disk.parent)
    os.mknod(host.root / "dev/nvme0", stat.S_IFCHR | 0o600, os.makedev(240, 200))
    host.write(host.root / NVMET / "passthru", {"device_path": "/dev/nvme0", "enable": "1"})
    assert "passes a controller through" in str(objection(host, one))
    assert objection(host, other) is None


@pytest.mark.outside
def test_a_namespace_with_several_paths_leads_to_their_controllers(host) -> None:
    need_root()
    head = host.disk("nvme0n1", under="virtual/nvme-subsystem/nvme-subsys0")
    (head / "device").symlink_to(head.parent)
    controller = host.root / "sys/devices/pci/nvme/nvme3"
    host.write(controller, {"dev": "240:203"})
    (head.parent / "nvme3").symlink_to(controller)
    os.mknod(host.root / "dev/nvme3", stat.S_IFCHR | 0o600, os.makedev(240, 203))
    host.write(host.root / NVMET / "passthru", {"device_path": "/dev/nvme3", "enable": "1"})
    assert "passes a controller through" in str(objection(host, head))


def test_scsi_targets_and_usb_gadgets(host) -> None:
    disk, other = host.disk("sda"), host.disk("sdb")
    core, gadget = host.root / "sys/kernel/config/target/core", host.root / "sys/kernel/config/usb_gadget"
    told = "Status: ACTIVATED\n        TCM FILEIO ID: 0        File: /dev/sda  Size: 1  Mode: O_DSYNC"
    host.write(core / "fileio_0/disk", {"enable": "1", "info": told, "udev_path": ""})
    host.write(gadget / "g1/functions/mass_storage.0/lun.0", {"file": "/dev/sdb"})
    assert "the SCSI target fileio_0/disk serves it" in str(objection(host, disk))
    assert "the USB gadget g1 serves it" in str(objection(host, other))


def test_a_server_whose_settings_are_not_mounted(host) -> None:
    disk = host.disk("sda")
    assert hidden_servers(host.files) == ()
    (host.root / "sys/module/nvmet").mkdir(parents=True)
    assert hidden_servers(host.files) == ("nvmet",)
    assert "what the kernel's nvmet serves cannot be seen" in str(objection(host, disk))
    (host.root / NVMET).mkdir(parents=True)
    assert hidden_servers(host.files) == ()
