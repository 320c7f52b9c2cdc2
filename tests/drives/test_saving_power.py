"""What lets a resting drive save power: read of the drive or the kernel, set through the kernel's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drives.test_settings import QUEUE, nvme_settings, sata_settings
from ssdlab.drives.admin.port import NvmeReply
from ssdlab.drives.settings import DriveSettings
from ssdlab.drives.settings.finding import check_wanted
from ssdlab.host.attributes import controller_of
from ssdlab.model.errors import LabError, Unsupported, UsageError


class Drive:
    """Has the feature as the file of the kernel last said, as a drive behind a kernel has."""

    def __init__(self, *, has: bool = True) -> None:
        self.has, self.tolerance = has, Path()

    def nvme(self, opcode: int, *, cdw: tuple[int, ...] = (), read_bytes: int = 0, **_: Any) -> NvmeReply:
        assert (opcode, cdw, read_bytes) == (0x0A, (0x0C,), 256), "its table comes with it"
        if not self.has:
            return NvmeReply(0x4002)
        return NvmeReply(0, int(self.tolerance.read_text().strip() != "0"), bytes(256))


def apst(host, drive: Drive, default: str = "100000") -> Any:
    settings: DriveSettings = nvme_settings(host, drive)
    folder = controller_of(settings.disk) / "power"
    folder.mkdir(parents=True, exist_ok=True)
    drive.tolerance = folder / "pm_qos_latency_tolerance_us"
    drive.tolerance.write_text("100000")
    module = host.files.sys / "module" / "nvme_core" / "parameters"
    module.mkdir(parents=True, exist_ok=True)
    (module / "default_ps_max_latency_us").write_text(default)
    return settings.find("apst")


def test_apst_off_and_on_again(host) -> None:
    drive = Drive()
    setting = apst(host, drive)
    assert setting.read() == "on"
    setting.write(setting.meant("off"))
    assert (drive.tolerance.read_text().strip(), setting.read()) == ("0", "off")
    setting.write("on")
    assert (drive.tolerance.read_text().strip(), setting.read()) == ("100000", "on")


def test_on_is_on_where_the_kernels_default_is_off(host) -> None:
    drive = Drive()
    setting = apst(host, drive, default="0")
    setting.write("on")
    assert drive.tolerance.read_text().strip() == "any"


def test_a_drive_without_it_says_so(host) -> None:
    with pytest.raises(Unsupported, match="not supported"):
        apst(host, Drive(has=False)).meant("off")
    with pytest.raises(Unsupported, match="only NVMe"):
        sata_settings(host, None).find("apst")


def test_the_policy_of_a_sata_link(host) -> None:
    settings = sata_settings(host, None)
    port = next(one for one in controller_of(settings.disk).parents if one.name == "host0")
    file = port / "scsi_host" / "host0" / "link_power_management_policy"
    file.parent.mkdir(parents=True)
    file.write_text("max_performance\n")
    setting = settings.find("link_power")
    assert setting.read() == "max_performance"
    setting.write(setting.meant("min_power"))
    assert (file.read_text().strip(), setting.read()) == ("min_power", "min_power")


@pytest.mark.parametrize(("name", "wanted"), [("apst", "maybe"), ("link_power", "least")])
def test_what_no_drive_could_be_set_to_is_refused_without_one(name: str, wanted: str) -> None:
    with pytest.raises(UsageError):
        check_wanted(name, wanted)


def test_a_disk_without_such_a_port_has_no_policy(host) -> None:
    disk = host.disk("vda", "pci0000:00/virtio0/block", **QUEUE)
    from ssdlab.host.identity import block_identity

    settings = DriveSettings(block_identity(host.files, disk), disk, None, host.files)  # type: ignore[arg-type]
    with pytest.raises(LabError, match="only SATA ports"):
        settings.find("link_power").read()
