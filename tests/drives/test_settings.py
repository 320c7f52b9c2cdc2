"""Settings at the seam: drives that do, refuse, or only say that they did; and the files of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from machine.fake_drive import INVALID_FIELD, FakeAta, FakeNvme
from ssdlab.drives.admin import nvme, scsi
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.port import NvmeReply, ScsiReply
from ssdlab.drives.settings import NAMES, DriveSettings
from ssdlab.drives.settings.nvme_power import strongest, watts
from ssdlab.drives.settings.queue import Governor
from ssdlab.host.identity import block_identity
from ssdlab.model.errors import DriveError, HostError, LabError, Refused, Unsupported, UsageError

QUEUE = {
    "queue__scheduler": "none [mq-deadline] kyber",
    "queue__nomerges": "0",
    "queue__rq_affinity": "1",
    "queue__max_sectors_kb": "128",
    "queue__max_hw_sectors_kb": "512",
    "queue__nr_requests": "64",
    "queue__write_cache": "write back",
}


def nvme_settings(host, port: Any, **attributes: str) -> DriveSettings:
    disk = host.disk("nvme0n1", "pci0000:00/nvme/nvme0", nsid="1", **{**QUEUE, **attributes})
    return DriveSettings(block_identity(host.files, disk), disk, port, host.files)


def sata_settings(host, port: Any) -> DriveSettings:
    disk = host.disk("sda", "pci0000:00/ata1/host0/block", device__scsi_level="6", **QUEUE)
    host.write(disk, {"device/vpd_pg89": bytes(572)})
    return DriveSettings(block_identity(host.files, disk), disk, port, host.files)


def scsi_settings(host, port: Any) -> DriveSettings:
    disk = host.disk("sdb", "pci0000:00/host1/block", device__scsi_level="7", **QUEUE)
    return DriveSettings(block_identity(host.files, disk), disk, port, host.files)


@pytest.mark.parametrize(
    ("name", "before", "wanted", "value", "file", "content"),
    [
        ("scheduler", "mq-deadline", "none", "none", "scheduler", "none"),
        ("nomerges", "0", "2", "2", "nomerges", "2"),
        ("rq_affinity", "1", "2", "2", "rq_affinity", "2"),
        ("max_io_bytes", "131072", "64k", "65536", "max_sectors_kb", "64"),
        ("nr_requests", "64", "32", "32", "nr_requests", "32"),
    ],
)
def test_queue_settings(host, name, before, wanted, value, file, content) -> None:
    settings = nvme_settings(host, FakeNvme())
    setting = settings.find(name)
    assert (setting.read(), setting.meant(wanted)) == (before, value)
    setting.write(value)
    assert (settings.disk / "queue" / file).read_text() == f"{content}\n"


@pytest.mark.parametrize(
    ("name", "wanted", "told"),
    [
        ("scheduler", "bfq", "none, mq-deadline, kyber is"),
        ("nomerges", "3", "0 to 2"),
        ("nomerges", "yes", "0 to 2"),
        ("nr_requests", "0", "1 or more"),
        ("max_io_bytes", "1M", "64k"),
        ("max_io_bytes", "1000", "1000"),
        ("write_cache", "maybe", "not on or off"),
        ("power_state", "10", "is not a power limit"),
        ("power_state", "0W", "is not a power limit"),
    ],
)
def test_values_that_cannot_be(host, name: str, wanted: str, told: str) -> None:
    with pytest.raises(LabError) as error:
        nvme_settings(host, FakeNvme(npss=1)).find(name).meant(wanted)
    assert isinstance(error.value, UsageError | Unsupported)
    assert told in error.value.what or name == "max_io_bytes"


def test_what_is_not_there(host) -> None:
    with pytest.raises(UsageError, match="schedule"):
        nvme_settings(host, FakeNvme()).find("schedule")
    bare = host.disk("zram0")
    settings = DriveSettings(block_identity(host.files, bare), bare, FakeNvme(), host.files)
    for name in NAMES:
        with pytest.raises(Unsupported):
            settings.find(name).read()


def test_a_file_that_cannot_be_written(host, monkeypatch) -> None:
    def denied(self: Path, *_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    setting = nvme_settings(host, FakeNvme()).find("nomerges")
    monkeypatch.setattr(Path, "write_text", denied)
    with pytest.raises(HostError, match="run as root"):
        setting.write("2")


# --- write cache ---


def test_nvme_cache_and_the_kernels_stale_view(host) -> None:
    drive = FakeNvme()
    cache = nvme_settings(host, drive).find("write_cache")
    assert (cache.read(), cache.remark()) == ("on", None)
    cache.write("off")
    assert (cache.read(), drive.features[0x06]) == ("off", 0)
    assert "still takes it as on" in str(cache.remark())


def test_a_kernel_that_believes_the_cache_off(host) -> None:
    cache = nvme_settings(host, FakeNvme(), queue__write_cache="write through").find("write_cache")
    assert "may not be durable" in str(cache.remark())


def test_nvme_cache_refused(host) -> None:
    cache = nvme_settings(host, FakeNvme(feature_status=0x410E)).find("write_cache")
    with pytest.raises(DriveError, match="feature not changeable") as error:
        cache.write("off")
    assert error.value.reason == "setting-refused"


def test_nvme_cache_that_lies(host) -> None:
    cache = nvme_settings(host, FakeNvme(feature_lies=True)).find("write_cache")
    cache.write("off")
    assert cache.read() == "on"


class NoCache(FakeNvme):
    """A drive whose Identify Controller has no volatile write cache."""

    def nvme(self, opcode: int, **given: Any) -> NvmeReply:
        reply = super().nvme(opcode, **given)
        if opcode == nvme.IDENTIFY and given.get("cdw", (0,))[0] == nvme.CNS_CONTROLLER:
            page = bytearray(reply.data)
            page[525] = 0
            return NvmeReply(0, 0, bytes(page))
        return reply


def test_no_cache_is_a_cache_that_is_off(host) -> None:
    drive = NoCache()
    cache = nvme_settings(host, drive).find("write_cache")
    assert (cache.read(), cache.meant("off")) == ("off", "off")
    cache.write("off")
    assert not [opcode for opcode, *_ in drive.commands if opcode == nvme.SET_FEATURES]
    with pytest.raises(Unsupported, match="no volatile write cache"):
        cache.meant("on")


def test_ata_cache(host) -> None:
    drive = FakeAta()
    cache = sata_settings(host, drive).find("write_cache")
    assert cache.read() == "on"
    cache.write("off")
    assert (cache.read(), drive.cache) == ("off", False)
    assert "still takes it as on" in str(cache.remark())
    cache.write("on")
    assert (cache.read(), cache.remark()) == ("on", None)


def test_ata_cache_that_lies(host) -> None:
    cache = sata_settings(host, FakeAta(cache_stuck=True)).find("write_cache")
    cache.write("off")
    assert cache.read() == "on"


class FakeScsi:
    """A SAS drive with a Caching page; `fixed`: it refuses to have it changed."""

    def __init__(self, *, fixed: bool = False, pages: bool = True) -> None:
        self.page = bytearray([0x88, 0x12, 0x14, *bytes(17)])  # saveable; WCE and DISC
        self.fixed, self.pages = fixed, pages

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        if cdb[0] == 0x5A and cdb[2] & 0x3F == 0x08 and self.pages:
            header = bytes([0, 6 + 8 + len(self.page), 0, 0x10, 0, 0, 0, 8])
            return ScsiReply(0, b"", header + bytes(8) + bytes(self.page))
        if cdb[0] == 0x55 and not self.fixed and int.from_bytes(cdb[7:9], "big") == len(data):
            assert data[:8] == bytes(8) and data[8] == 0x08
            self.page[2:] = data[10:]
            return ScsiReply(0)
        return ScsiReply(2)


def test_scsi_cache(host) -> None:
    drive = FakeScsi()
    cache = scsi_settings(host, drive).find("write_cache")
    assert cache.read() == "on"
    cache.write("off")
    assert (cache.read(), drive.page[2]) == ("off", 0x10)
    cache.write("on")
    assert (cache.read(), drive.page[2]) == ("on", 0x14)


def test_scsi_cache_refused_or_without_a_page(host) -> None:
    cache = scsi_settings(host, FakeScsi(fixed=True)).find("write_cache")
    with pytest.raises(DriveError, match="mode page"):
        cache.write("off")
    cache.setting.control.port.pages = False
    with pytest.raises(Unsupported, match="no Caching mode page"):
        cache.read()


@pytest.mark.parametrize("reply", [b"", bytes(8), bytes([0, 20, 0, 0, 0, 0, 0, 0, 0x0A, 2, 0, 0])])
def test_a_mode_reply_that_is_none(reply: bytes) -> None:
    with pytest.raises(Malformed):
        scsi.caching_page(reply)


# --- power state ---


def test_the_10_w_variant(host) -> None:
    drive = FakeNvme(npss=2)  # 25 W, 10 W, 3 W
    power = nvme_settings(host, drive).find("power_state")
    assert [power.meant(wanted) for wanted in ("10W", "9.99 W", "24W", "25W", "ps2")] == [
        "ps1",
        "ps2",
        "ps1",
        "ps0",
        "ps2",
    ]
    power.write("ps1")
    assert (power.read(), drive.features[0x02]) == ("ps1", 1)
    with pytest.raises(Unsupported, match="ps0 up to 25 W, ps1 up to 10 W, ps2 up to 3 W"):
        power.meant("2W")
    with pytest.raises(Unsupported, match="ps3 is not one of its operational states"):
        power.meant("ps3")


def test_a_state_that_does_not_operate_or_does_not_say_is_never_taken() -> None:
    def state(index: int, max_w: float | None, operational: bool = True) -> nvme.PowerState:
        return nvme.PowerState(index, max_w, operational, 0, 0, None, None)

    states = (state(0, None), state(1, 9.0), state(2, 9.0), state(3, 9.5, operational=False))
    chosen = strongest(states, 10)
    assert chosen is not None and chosen.index == 1
    assert strongest((state(0, None), state(1, 0.05, operational=False)), 10) is None


def test_power_state_refused(host) -> None:
    power = nvme_settings(host, FakeNvme(npss=1, feature_status=INVALID_FIELD)).find("power_state")
    with pytest.raises(DriveError, match="invalid field"):
        power.write("ps1")


def test_watts() -> None:
    assert (watts("10W"), watts("8.5 w")) == (10.0, 8.5)
    for wrong in ("", "W", "10", "-1W", "1e3W", "10 kW"):
        with pytest.raises(UsageError):
            watts(wrong)


# --- LBA format ---


class Formattable(FakeNvme):
    """A namespace that takes the format that it is told, and a kernel that sees it."""

    def __init__(self, host, **more: Any) -> None:
        super().__init__(**more)
        self.host, self.used = host, 0

    def nvme(self, opcode: int, **given: Any) -> NvmeReply:
        reply = super().nvme(opcode, **given)
        if opcode == nvme.FORMAT and not reply.status:
            self.used = given["cdw"][0] & 0xF
            queue = self.host.root / "sys/block/nvme0n1/queue/logical_block_size"
            queue.write_text("4096\n" if self.used >= 4 else "512\n")
        if opcode == nvme.IDENTIFY and given["cdw"][0] == nvme.CNS_NAMESPACE:
            page = bytearray(reply.data)
            page[26] = self.used
            return NvmeReply(0, 0, bytes(page))
        return reply


def format_of(host, drive: FakeNvme, **calls: Any) -> Any:
    settings = nvme_settings(host, drive)
    return DriveSettings(settings.identity, settings.node, drive, host.files, **calls).find("lba_format")


def test_lba_format(host) -> None:
    done: list[str] = []
    drive = Formattable(host)
    form = format_of(
        host, drive, before_format=lambda: done.append("before"), after_format=lambda: done.append("after")
    )
    assert (form.read(), form.meant("4k"), form.destroys) == ("512", "4096", True)
    form.write("4096")
    assert (form.read(), form.remark(), done) == ("4096", None, ["before", "after"])
    assert (nvme.FORMAT, 1, (4,)) in drive.commands
    with pytest.raises(Unsupported, match="no format of 8192 bytes"):
        form.meant("8k")


def test_no_format_without_consent(host) -> None:
    def refuse() -> None:
        raise Refused("no consent", "give it")

    drive = Formattable(host)
    with pytest.raises(Refused):
        format_of(host, drive, before_format=refuse).write("4096")
    assert not [opcode for opcode, *_ in drive.commands if opcode == nvme.FORMAT]


def test_a_format_that_would_hit_siblings(host) -> None:
    drive = Formattable(host, fna=1)
    sibling = host.disk("nvme0n2", "pci0000:00/nvme/nvme0", nsid="2")
    (sibling / "device").symlink_to(sibling.parent)
    first = nvme_settings(host, drive)
    (first.disk / "device").symlink_to(sibling.parent)
    settings = DriveSettings(block_identity(host.files, first.node), first.node, drive, host.files)
    with pytest.raises(Refused, match="nvme0n2"):
        settings.find("lba_format").write("4096")
    assert not [opcode for opcode, *_ in drive.commands if opcode == nvme.FORMAT]


def test_a_drive_that_talks_nonsense(host) -> None:
    class Mute(FakeNvme):
        def nvme(self, opcode: int, **given: Any) -> NvmeReply:
            return NvmeReply(0, 0, bytes(given.get("read_bytes", 0)))

    settings = nvme_settings(host, Mute())
    for name in ("write_cache", "lba_format"):
        with pytest.raises(DriveError, match="could not be read") as error:
            settings.find(name).read()
        assert error.value.reason == "unanswered"


# --- governor ---


def governors(host, *found: str) -> Governor:
    folder = host.root / "sys/devices/system/cpu/cpufreq"
    for index, governor in enumerate(found):
        offered = "performance powersave schedutil"
        host.write(
            folder / f"policy{index}",
            {"scaling_governor": governor, "scaling_available_governors": offered},
        )
    return Governor(host.files)


def test_governor_of_all_policies_and_back(host) -> None:
    governor = governors(host, "powersave", "schedutil")
    before = governor.read()
    assert before == "policy0=powersave,policy1=schedutil"
    governor.write(governor.meant("performance"))
    assert governor.read() == "performance"
    governor.write(before)
    assert governor.read() == before
    with pytest.raises(Unsupported, match="policy0 offers performance, powersave, schedutil"):
        governor.meant("ondemand")


def test_no_governor_here(host) -> None:
    with pytest.raises(Unsupported, match="does not control the CPU frequency"):
        Governor(host.files).read()
