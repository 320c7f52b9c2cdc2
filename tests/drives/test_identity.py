"""Who a drive is, and the name that gives consent, on machines made of files."""

from __future__ import annotations

import pytest

from ssdlab.host.attributes import namespace_siblings
from ssdlab.host.consent import consent_id
from ssdlab.host.identity import block_identity

NVME = "pci0000:00/0000:3b:00.0/nvme/nvme0"


def nvme(host, *names: str, serial: str = "S64GNE0R"):
    """An NVMe controller with these namespaces."""
    nodes = []
    for name in names:
        nsid = name.rpartition("n")[2]
        node = host.disk(name, NVME, nsid=nsid, wwid=f"eui.00253{nsid}", diskseq="7", size="7501476528")
        (node / "device").symlink_to("..", target_is_directory=True)
        nodes.append(node)
    controller = nodes[0].parent
    host.write(
        controller,
        {
            "serial": f"{serial}      ",
            "model": "SAMSUNG MZQL23T8HCLS-00A07              ",
            "firmware_rev": "GDC5302Q",
            "transport": "pcie",
            "numa_node": "1",
        },
    )
    return nodes


def test_nvme(host) -> None:
    (node,) = nvme(host, "nvme0n1")
    for queue in range(8):
        (node / "mq" / str(queue)).mkdir(parents=True)
    (host.root / "dev/disk/by-id/nvme-SAMSUNG_S64GNE0R").symlink_to("../../nvme0n1")
    (host.root / "dev/disk/by-id/nvme-other").symlink_to("../../nvme9n1")
    identity = block_identity(host.files, node)
    assert identity.consent_id == "S64GNE0R"
    assert (identity.model, identity.firmware) == ("SAMSUNG MZQL23T8HCLS-00A07", "GDC5302Q")
    assert identity.capacity_bytes == 7501476528 * 512
    assert (identity.transport, identity.numa_node, identity.hardware_queues) == ("pcie", 1, 8)
    assert identity.links == ("nvme-SAMSUNG_S64GNE0R",)
    assert (identity.kind, identity.path, identity.diskseq) == ("block", "/dev/nvme0n1", 7)


def test_one_of_several_namespaces_is_named_with_its_number(host) -> None:
    one, two = nvme(host, "nvme0n1", "nvme0n2")
    assert block_identity(host.files, one).consent_id == "S64GNE0R/1"
    assert block_identity(host.files, two).consent_id == "S64GNE0R/2"
    assert namespace_siblings(one) == ("nvme0n2",)


def test_multipath_heads_are_identified_and_their_hidden_paths_are_no_siblings(host) -> None:
    subsystem = "virtual/nvme-subsystem/nvme-subsys0"
    head = host.disk("nvme0n1", subsystem, nsid="1")
    hidden = host.disk("nvme0c0n1", subsystem, nsid="1", hidden="1")
    for node in (head, hidden):
        (node / "device").symlink_to("..", target_is_directory=True)
    controller = host.root / "sys/devices/pci0000:80/0000:81:00.0/nvme/nvme0"
    host.write(controller, {"transport": "pcie", "numa_node": "-1"})
    host.write(controller.parent.parent, {"numa_node": "0"})
    (head.parent / "nvme0").symlink_to(controller)
    host.write(head.parent, {"serial": "PHLJ123", "model": "INTEL SSDPE2KX040T8", "firmware_rev": "VDV10131"})
    identity = block_identity(host.files, head)
    assert (identity.consent_id, identity.siblings) == ("PHLJ123", ())
    assert (identity.transport, identity.model) == ("pcie", "INTEL SSDPE2KX040T8")


def test_ata_names_are_taken_from_identify_not_cut_short(host) -> None:
    node = host.disk("sda", "pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block")
    device = node.parent.parent
    (node / "device").symlink_to(device)
    identify = bytearray(512)
    for word, length, text in (
        (10, 20, "S4EVNX0R123456"),
        (23, 8, "RVT04B6Q"),
        (27, 40, "Samsung SSD 860 EVO 1TB"),
    ):
        padded = text.ljust(length).encode()
        identify[2 * word : 2 * word + length] = b"".join(
            padded[i : i + 2][::-1] for i in range(0, length, 2)
        )
    page = bytes(60) + bytes(identify)
    host.write(device, {"vpd_pg89": page, "model": "Samsung SSD 860 ", "rev": "4B6Q", "vendor": "ATA     "})
    identity = block_identity(host.files, node)
    assert identity.model == "Samsung SSD 860 EVO 1TB"
    assert (identity.firmware, identity.serial, identity.transport) == ("RVT04B6Q", "S4EVNX0R123456", "sata")


def test_scsi_without_ata_page(host) -> None:
    node = host.disk("sdb", "pci0000:00/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0/block")
    (node / "device").symlink_to(node.parent.parent)
    host.write(
        node.parent.parent,
        {
            "vpd_pg80": b"\x00\x80\x00\x08A1B2C3D4",
            "vendor": "KIOXIA  ",
            "model": "KPM61RUG960G    ",
            "rev": "0102",
            "wwid": "naa.58ce38ee20",
        },
    )
    identity = block_identity(host.files, node)
    assert (identity.serial, identity.model, identity.firmware) == ("A1B2C3D4", "KIOXIA KPM61RUG960G", "0102")
    assert (identity.wwid, identity.transport) == ("naa.58ce38ee20", "sas")


@pytest.mark.parametrize("filler", ["000000000000", "0123456789ABCDEF", "123456789012", "FFFFFFFF"])
def test_a_filler_is_no_name(host, filler: str) -> None:
    node = host.disk("sda", serial=filler, wwid="t10.ATA disk")
    assert consent_id(host.files, node) == "t10.ATA disk"


def test_a_serial_that_two_disks_share_names_neither(host) -> None:
    first = host.disk("sda", serial="DEADBEEF77", wwid="naa.5002538e40a1b2c3")
    second = host.disk("sdb", serial="DEADBEEF77")
    assert consent_id(host.files, first) == "naa.5002538e40a1b2c3"
    assert consent_id(host.files, second) == "sdb"


def test_virtual_devices_are_named_by_the_kernel(host) -> None:
    assert consent_id(host.files, host.disk("zram3")) == "zram3"
    assert consent_id(host.files, host.disk("loop0", loop__backing_file="/x")) == "loop0"


def test_a_partition_is_named_after_its_disk(host) -> None:
    (node,) = nvme(host, "nvme0n1")
    part = host.partition(node, 2)
    identity = block_identity(host.files, part)
    assert (identity.consent_id, identity.kind) == ("S64GNE0R-part2", "partition")
    assert (identity.capacity_bytes, identity.model) == (1024 * 512, "SAMSUNG MZQL23T8HCLS-00A07")


def test_what_sysfs_does_not_say_is_none(host) -> None:
    identity = block_identity(host.files, host.disk("sdz"))
    unknown = (identity.serial, identity.wwid, identity.model, identity.firmware, identity.numa_node)
    assert unknown == (None,) * 5
    assert (identity.transport, identity.diskseq, identity.rotational) == (None, None, None)


def test_a_real_device_of_our_own(zram) -> None:
    from ssdlab.host.sysfs import HostFiles

    files = HostFiles()
    node = files.node_named(zram.name)
    assert node is not None
    identity = block_identity(files, node)
    assert (identity.consent_id, identity.transport, identity.capacity_bytes) == (zram.name, "zram", 1 << 30)
    assert identity.logical_block_bytes == 4096
    assert identity.diskseq is not None
