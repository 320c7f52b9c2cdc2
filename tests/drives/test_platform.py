"""The component table: what DMI, sysfs and the rig file say, and unknown where none does."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from ssdlab.host import platform
from ssdlab.host.identity import block_identity
from ssdlab.host.platform import PARTS, Platform, Rig, read_components, read_platform, read_rig
from ssdlab.model.errors import UsageError


def structure(kind: int, body: bytes, *texts: str) -> bytes:
    """An SMBIOS structure: type, length, handle, body, texts."""
    words = b"".join(text.encode() + b"\0" for text in texts) or b"\0"
    return struct.pack("<BBH", kind, 4 + len(body), kind) + body + words + b"\0"


def module(size: int, *, extended: int = 0, maker: str = "Micron", part: str = "18ASF4G72") -> bytes:
    """A memory device (type 17) by the offsets of DSP0134 7.18."""
    body = bytearray(0x22 - 4)
    for at, length, value in (
        (0x0C, 2, size), (0x12, 1, 26), (0x15, 2, 3200), (0x17, 1, 1), (0x1A, 1, 2), (0x1C, 4, extended),
        (0x20, 2, 2933),
    ):  # fmt: skip
        body[at - 4 : at - 4 + length] = value.to_bytes(length, "little")
    return structure(17, bytes(body), maker, part)


def slot(name: str, bus: int) -> bytes:
    body = bytearray(0x11 - 4)
    body[0] = 1
    body[0x0F - 4 : 0x11 - 4] = bytes([bus, 0])
    return structure(9, bytes(body), name)


END = structure(127, b"")


@pytest.fixture
def rig_host(host):
    root = host.root
    host.write(
        root / "sys/class/dmi/id",
        {
            "sys_vendor": "Supermicro",
            "product_name": "AS-1114S",
            "board_vendor": "To Be Filled By O.E.M.",
            "board_name": "H12SSW-NT",
            "bios_vendor": "American Megatrends",
            "bios_version": "2.8",
            "bios_date": "01/12/2024",
            "product_serial": "SECRET-1",
        },
    )
    table = module(0x7FFF, extended=32768) * 2 + module(0) + slot("CPU1 SLOT3 PCI-E 4.0 X16", 0x41) + END
    host.write(root / "sys/firmware/dmi/tables", {"DMI": table})
    host.write(root / "etc", {"os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"'})
    host.write(root / "proc", {"cpuinfo": "model name : EPYC 7543\nphysical id : 0\nphysical id\t: 1"})
    host.write(root / "proc/sys/kernel", {"osrelease": "6.1.0-18"})
    host.write(
        root / "sys/class/hwmon/hwmon0", {"fan1_input": "1200", "fan1_label": "CPU", "fan2_input": "0"}
    )
    host.write(
        root / "usr/share/misc",
        {"pci.ids": "# list\n10de  NVIDIA\n\t2204  GA102\n144d  Samsung\n\ta80a  PM9A3\n"},
    )
    card = root / "sys/devices/pci0000:00/0000:02:00.0"
    host.write(card, {"class": "0x030000", "vendor": "0x10de", "device": "0x2204"})
    (root / "sys/bus/pci/devices").mkdir(parents=True)
    (root / "sys/bus/pci/devices/0000:02:00.0").symlink_to(card)
    host.mount(host.number(host.disk("sda", device__model="INTEL SSDSC2KB", size="3750748848")), "/")
    return host


@pytest.fixture
def nvme(rig_host):
    """An NVMe drive below the slot of bus 41h."""
    function = rig_host.root / "sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0"
    node = rig_host.disk("nvme0n1", under="pci0000:40/0000:40:01.1/0000:41:00.0/nvme/nvme0", nsid="1")
    rig_host.write(function, {"vendor": "0x144d", "device": "0xa80a"})
    rig_host.write(function, {"current_link_speed": "16.0 GT/s PCIe", "current_link_width": "4"})
    driver = rig_host.root / "sys/bus/pci/drivers/nvme"
    rig_host.write(driver / "module", {"version": "1.0"})
    (function / "driver").symlink_to(driver)
    (node / "device").symlink_to(function / "nvme/nvme0")
    return block_identity(rig_host.files, node)


def named(components) -> dict[str, str | None]:
    return {one.part: one.name for one in components}


def test_what_the_machine_tells(rig_host, nvme) -> None:
    assert named(read_components(rig_host.files, Rig(), nvme)) == {
        "chassis": "Supermicro AS-1114S",
        "board": "H12SSW-NT",
        "board_firmware": "American Megatrends 2.8 01/12/2024",
        "cpu": "2 x EPYC 7543",
        "cooler": None,
        "memory": "2 x 32 GiB DDR4 at 2933 MT/s Micron 18ASF4G72",
        "power_supply": None,
        "graphics": "NVIDIA GA102",
        "fans": "CPU 1200 RPM",
        "os_disk": "INTEL SSDSC2KB, 1.92 TB, ext4",
        "operating_system": "Debian GNU/Linux 12",
        "kernel": "6.1.0-18",
        "host_adapter": "Samsung PM9A3, driver nvme 1.0",
        "slot": "CPU1 SLOT3 PCI-E 4.0 X16, 0000:41:00.0, 16.0 GT/s x4",
    }


def test_no_serial_number_is_read(rig_host, nvme) -> None:
    told = str(Platform(None, read_components(rig_host.files, Rig(), nvme)).as_dict())
    assert "SECRET" not in told


def test_a_host_that_tells_nothing_has_every_line(host) -> None:
    components = read_components(host.files, Rig())
    assert [one.part for one in components] == list(PARTS)
    assert {one.name for one in components} == {None}


RIG = """
name = "Rig A"
cooler = "Noctua NH-U14S"
[chassis]
name = "Open bench"
link = "https://example.org/bench"
price = "90 EUR"
[[other]]
part = "Power meter"
name = "Quarch PPM"
"""


def test_the_rig_file_adds_what_the_machine_does_not_know(rig_host, tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    path.write_text(RIG)
    platform = read_platform(rig_host.files, path)
    assert platform.name == "Rig A"
    by_part = {one.part: one for one in platform.components}
    assert by_part["cooler"].name == "Noctua NH-U14S"
    chassis = by_part["chassis"]
    assert (chassis.name, chassis.found) == ("Open bench", "Supermicro AS-1114S"), "both are kept"
    assert (chassis.link, chassis.price) == ("https://example.org/bench", "90 EUR")
    assert (by_part["other"].title, by_part["other"].name) == ("Power meter", "Quarch PPM")


def test_a_user_without_a_rig_file_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert read_rig() == Rig()
    (tmp_path / "ssdlab").mkdir()
    (tmp_path / "ssdlab/rig.toml").write_text('fans = "3 x Arctic P12"')
    noted = read_rig().fans
    assert noted is not None
    assert noted.name == "3 x Arctic P12"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("cooler = [", "is not TOML"),
        ("coolr = 'x'", "coolr"),
        ("[cooler]\nlink = 'https://a.b'", "name"),
        ("[cooler]\nname = 'x'\nlink = 'javascript:alert(1)'", "link"),
        ("cooler = 3", "cooler"),
    ],
)
def test_a_wrong_rig_file_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "rig.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=words) as caught:
        read_rig(path)
    assert str(path) in caught.value.what


def test_a_rig_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the rig file .*rig\.toml: No such file"):
        read_rig(tmp_path / "rig.toml")


def test_smbios_that_makes_no_sense_yields_nothing() -> None:
    for table in (b"", b"\x11", b"\x11\x02\0\0", module(8192)[:-20], bytes(64), b"\xff" * 64):
        assert platform.memory_modules(table) == ()
        assert platform.slots(table) == ()
    (one,) = platform.memory_modules(module(16384, maker="NO DIMM", part="Unknown") + END)
    assert (one.size_bytes, one.maker, one.part) == (16 << 30, None, None)
    (small,) = platform.memory_modules(module(0x8000 | 512) + END)
    assert small.size_bytes == 512 << 10


def test_this_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    told = named(read_platform().components)
    assert told["kernel"]
    assert told["operating_system"]
