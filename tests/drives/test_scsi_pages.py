"""SCSI pages by the offsets of SPC-6 and SBC-4; what is missing or nonsense is said and not guessed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from ssdlab.drives.admin import ata, nvme, scsi, tcg
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.port import NvmeReply, ScsiReply, ToolReply
from ssdlab.drives.details import read_details
from ssdlab.host.attributes import sas_link_of
from ssdlab.host.identity import Identity
from ssdlab.model.errors import DriveError

B1 = bytes([0, 0xB1, 0, 0x3C, 0, 1, 0, 3]) + bytes(56)
B2 = bytes([0, 0xB2, 0, 4, 0, 0x84, 2, 0])
TEMPERATURE = bytes([0x0D, 0, 0, 12, 0, 0, 3, 2, 0, 41, 0, 1, 3, 2, 0, 65])
WEAR = bytes([0x11, 0, 0, 8, 0, 1, 3, 4, 0, 0, 0, 7])
CACHING = bytes([0, 18, 0, 0, 0, 0, 0, 0, 8, 18, 4]) + bytes(17)


@dataclass
class FakeScsi:
    """Answers by command and page; what it does not know ends in a check condition."""

    vpd: dict[int, bytes] = field(default_factory=lambda: {0xB1: B1, 0xB2: B2})
    logs: dict[int, bytes] = field(default_factory=lambda: {0x0D: TEMPERATURE, 0x11: WEAR})
    asked: list[bytes] = field(default_factory=list)

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        self.asked.append(cdb)
        pages = {0x12: self.vpd.get(cdb[2]), 0x4D: self.logs.get(cdb[2] & 0x3F), 0x5A: CACHING}
        page = pages.get(cdb[0])
        return ScsiReply(2) if page is None else ScsiReply(0, b"", page)

    def nvme(self, opcode: int, **_: object) -> NvmeReply:
        raise AssertionError("a SCSI drive was sent an NVMe command")

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        raise AssertionError("nothing is run to look at a drive")


def identity(transport: str | None = "sas") -> Identity:
    return Identity("/dev/sdx", "sdx", "block", "ID", 1 << 20, 512, transport=transport)


def test_a_sas_drive(host) -> None:
    node = host.disk("sdx", device__scsi_level="7")
    found = read_details(identity(), node, FakeScsi())
    assert found.scsi is not None
    assert found.scsi.characteristics == scsi.Characteristics(True, '2.5"')
    assert found.scsi.provisioning == scsi.Provisioning(True, False, "zeroes")
    assert (found.scsi.temperature_c, found.scsi.used_pct) == (41, 7)
    assert found.scsi.write_cache_enabled is True
    assert found.unanswered == ()


def test_what_is_not_answered_is_listed_and_the_rest_is_told(host) -> None:
    node = host.disk("sdx", device__scsi_level="7")
    wrong = FakeScsi(vpd={0xB1: B2}, logs={0x0D: TEMPERATURE[:7], 0x11: bytes(16)})
    found = read_details(identity(), node, wrong)
    assert [question for question, _ in found.unanswered] == [
        "characteristics",
        "provisioning",
        "temperature",
        "wear",
    ]
    assert found.scsi is not None
    assert found.scsi.write_cache_enabled is True
    assert found.scsi.temperature_c is None


def test_a_translator_that_takes_no_ata_commands_is_asked_by_scsi(host) -> None:
    node = host.disk("sdx", device__scsi_level="7", device__vpd_pg89=bytes(572))
    found = read_details(identity(), node, FakeScsi())
    assert found.ata is None
    assert found.scsi is not None
    assert found.scsi.temperature_c == 41
    assert [question for question, _ in found.unanswered] == ["identify"]


def test_bridges_of_usb_are_not_asked(host) -> None:
    asked = FakeScsi()
    found = read_details(identity("usb"), host.disk("sdx", device__scsi_level="7"), asked)
    assert asked.asked == []
    assert found.scsi is None
    assert "USB" in found.unanswered[0][1]


def test_no_temperature_is_none_and_a_hard_disk_is_told() -> None:
    assert scsi.temperature_c(TEMPERATURE[:9] + b"\xff" + TEMPERATURE[10:]) is None
    assert scsi.characteristics(B1[:4] + b"\x1c\x20" + B1[6:]).solid_state is False
    assert scsi.characteristics(B1[:4] + bytes(2) + B1[6:]).solid_state is None


def test_the_link_of_a_wide_port(host) -> None:
    port = host.root / "sys/devices/pci/host0/port-0:1"
    for phy, rate in ((0, "12.0 Gbit"), (1, "12.0 Gbit"), (2, "Unknown")):
        rates = {"negotiated_linkrate": rate, "maximum_linkrate": "12.0 Gbit"}
        host.write(port / f"phy-0:{phy}/sas_phy/phy-0:{phy}", rates)
    target = port / "end_device-0:1/target0:0:1/0:0:1:0"
    node = host.disk("sdx", under="pci/host0/port-0:1/end_device-0:1/target0:0:1/0:0:1:0/block")
    (node / "device").symlink_to(target)
    assert sas_link_of(node) == "x2 12.0 Gbit of 12.0 Gbit"
    assert sas_link_of(host.disk("sdy")) is None


@dataclass
class Nonsense:
    """A drive that answers every command with noise, too little, nothing but ones, or an error."""

    draw: random.Random

    def _bytes(self, wanted: int) -> bytes:
        kind = self.draw.randrange(4)
        if kind == 0:
            return self.draw.randbytes(wanted)
        if kind == 1:
            return self.draw.randbytes(self.draw.randrange(wanted + 1))
        return b"\xff" * wanted if kind == 2 else bytes(wanted)

    def _fail(self) -> None:
        if self.draw.random() < 0.2:
            raise DriveError("the controller is dead", "", errno=5)

    def nvme(
        self, opcode: int, *, nsid: int = 0, cdw: Sequence[int] = (), read_bytes: int = 0, limit_s: float = 0
    ) -> NvmeReply:
        self._fail()
        return NvmeReply(
            self.draw.choice([0, 0, 0, 0x4002]), self.draw.getrandbits(32), self._bytes(read_bytes)
        )

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        self._fail()
        return ScsiReply(self.draw.choice([0, 0, 0, 2]), b"", self._bytes(read_bytes))

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        raise AssertionError("nothing is run to look at a drive")


@pytest.mark.parametrize("kind", ["nvme", "sata", "sas"])
def test_nonsense_is_recorded_and_never_ends_the_look(host, kind: str) -> None:
    from dataclasses import asdict

    from ssdlab.cli.drives import print_details

    node = host.disk("sdx", device__scsi_level="7", **({"nsid": "1"} if kind == "nvme" else {}))
    who = identity("pcie" if kind == "nvme" else kind)
    unanswered = 0
    for seed in range(300):
        found = read_details(who, node, Nonsense(random.Random(seed)))
        unanswered += len(found.unanswered)
        assert asdict(found)
        print_details(found, None, 1 << 30)
    assert unanswered > 300


@pytest.mark.parametrize(
    "decode",
    [
        nvme.controller,
        nvme.namespace,
        nvme.health,
        nvme.sanitize_status,
        ata.device,
        scsi.characteristics,
        scsi.provisioning,
        scsi.temperature_c,
        scsi.used_pct,
        scsi.caching_page,
        scsi.sense,
        tcg.locking,
    ],
)
def test_no_page_breaks_a_decoder(decode) -> None:
    draw = random.Random(7)
    for length in (0, 1, 3, 7, 8, 64, 252, 511, 512, 4095, 4096):
        for content in (bytes(length), b"\xff" * length, draw.randbytes(length)):
            try:
                decode(content)
            except Malformed:
                continue
