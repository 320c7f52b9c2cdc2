"""Odd pages of real life, and 2,000 drives of odd fields: one costs its field, no page, and is not shown."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from machine.fake_drive import PAGES, patched
from ssdlab.cli.drives import print_details
from ssdlab.drives.admin import nvme, scsi
from ssdlab.drives.admin.fields import PLAUSIBLE, plausible
from ssdlab.drives.admin.nvme import logs
from ssdlab.drives.admin.port import NvmeReply, ScsiReply, ToolReply
from ssdlab.drives.details import read_details
from ssdlab.drives.telemetry.of_device import AtaHealth, Hwmon, NvmeLogs
from ssdlab.host.identity import Identity

INT64 = 2**63 - 1
"""What tables hold."""
YEAR_H = 8766


def little(value: int, length: int = 2) -> bytes:
    return value.to_bytes(length, "little")


def health(changes: dict[int, bytes]) -> nvme.Health:
    return nvme.health(patched("nvme-health.bin", changes))


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({0: b"\xff"}, "warnings", ()),
        ({0: b"\x7f"}, "warnings", logs._WARNINGS),
        ({4: b"\xff"}, "spare_threshold_pct", None),  # CrystalDiskInfo issue 186
        ({3: b"\x65"}, "spare_pct", None),
        ({5: b"\xff"}, "used_pct", 255),  # "255 or more"
        ({1: little(11)}, "temperature_c", None),
        ({1: little(65535)}, "temperature_c", None),
        ({1: little(273)}, "temperature_c", None),
        ({1: little(233)}, "temperature_c", -40),
        ({1: little(400)}, "temperature_c", 127),
        ({200: little(65535), 202: little(318)}, "sensors_c", (45,)),  # lm-sensors issue 574
        ({48: b"\xff" * 16}, "written_bytes", None),
        ({160: b"\xff" * 16}, "media_errors", None),
        ({128: little(2**64, 16)}, "power_on_hours", None),
        ({228: b"\xff" * 4}, "throttled_heavy_s", None),
    ],
)
def test_a_health_log_loses_the_odd_field_alone(changes: dict[int, bytes], field: str, value: object) -> None:
    found, was = asdict(health(changes)), asdict(health({}))
    assert found.pop(field) == value
    was.pop(field)
    assert found == was


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({4: b"0cc47ad37b71-3\n     "}, "serial", "0cc47ad37b71-3"),  # nvme-cli issue 311
        ({24: b"PC711 NVMe SK hynix\x01"}, "model", None),  # nvme-cli issue 1598
        ({24: "SSD 1 To été".encode("latin-1")}, "model", None),
        ({64: b"\xff" * 8}, "firmware", None),
        ({4: b"ABC\0\0ZZ" + bytes(13)}, "serial", "ABC"),
        ({266: little(65535)}, "warning_c", None),
        ({268: little(11)}, "critical_c", None),
        ({280: little(2**77, 16)}, "total_bytes", None),
        ({80: b"\xff" * 4}, "version", None),
    ],
)
def test_identify_controller_loses_the_odd_field_alone(
    changes: dict[int, bytes], field: str, value: object
) -> None:
    found, was = (asdict(nvme.controller(patched("nvme-controller.bin", each))) for each in (changes, {}))
    assert found.pop(field) == value
    was.pop(field)
    if field == "total_bytes":  # of which the other is a part
        assert (found.pop("unallocated_bytes"), was.pop("unallocated_bytes")) == (None, None)
    assert found == was


def test_more_power_states_than_there_can_be() -> None:
    """Those stay that say what they draw: `--power-limit` still has them to choose from."""
    state = {2048 + 32 * 3: little(800)}
    found = nvme.controller(patched("nvme-controller.bin", {263: b"\xff", **state})).power_states
    assert [(each.index, each.max_w) for each in found] == [(0, 25.0), (3, 8.0)]
    (odd,) = nvme.controller(patched("nvme-controller.bin", {2048: b"\xff\xff"})).power_states
    assert odd.max_w is None, "655 W"


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({8: b"\xff" * 8}, "capacity_blocks", None),
        ({16: b"\xff" * 8}, "used_blocks", None),
        ({26: b"\x0f"}, "format", 15),
        ({48: b"\xff" * 16}, "allocated_bytes", None),
        ({104: b"\xff" * 16}, "nguid", None),
    ],
)
def test_identify_namespace_loses_the_odd_field_alone(
    changes: dict[int, bytes], field: str, value: object
) -> None:
    name = "nvme-namespace-512.bin"
    found, was = (asdict(nvme.namespace(patched(name, each))) for each in (changes, {}))
    assert found.pop(field) == value
    was.pop(field)
    assert found == was


def test_a_block_that_cannot_be_is_no_format() -> None:
    space = nvme.namespace(
        patched("nvme-namespace-512.bin", {128 + 4: b"\xff\xff\x09\0", 128 + 8: b"\0\0\x1f\0"})
    )
    assert [form.index for form in space.formats] == [0, 3, 4, 5, 6, 7]


def smart(*attributes: tuple[int, int]) -> bytes:
    page = bytearray(512)
    for index, (number, raw) in enumerate(attributes):
        at = 2 + 12 * index
        page[at], page[at + 3], page[at + 4] = number, 100, 100
        page[at + 5 : at + 11] = little(raw, 6)
    return summed(page)


def summed(page: bytes | bytearray, first: int = 0) -> bytes:
    kept = bytes([*page[:510], first or page[510]])
    return kept + bytes([-sum(kept) % 256])


def statistics(page: int, *values: tuple[int, bytes]) -> bytes:
    content = bytearray(512)
    content[2], content[0] = page, 1
    for at, value in values:
        content[at : at + 8] = value.ljust(7, b"\0") + b"\xc0"
    return bytes(content)


@pytest.mark.parametrize(
    ("attributes", "stated", "temperature"),
    [
        ([(194, 35)], -93, 35),  # smartmontools issue 609
        ([(194, 38)], -128, 38),
        ([(194, 38)], 41, 41),
        ([(194, 0)], None, None),  # beszel issue 1686, Starosdev/scrutiny issue 587
        ([(190, 36), (194, 0)], None, 36),
        ([(190, 36), (194, 255)], None, 36),
        ([(194, 0x2D0010_0000 | 35)], None, 35),  # with the least and the most so far
        ([(194, 255)], None, None),
        ([], 0, None),
    ],
)
def test_a_temperature_that_cannot_be_yields_to_the_next_that_tells_one(
    host, attributes: list[tuple[int, int]], stated: int | None, temperature: int | None
) -> None:
    stats = {} if stated is None else {5: statistics(5, (8, bytes([stated & 0xFF])))}
    drive = Sata(smart(*attributes), stats)
    assert AtaHealth(drive, 512).reading().temperature_c == temperature
    node = host.disk("sdx", device__scsi_level="7")
    found = read_details(identity("sata"), node, drive)
    assert found.ata is not None
    assert found.ata.temperature_c == temperature, "and so it is in `ssdlab drives`"


def test_a_broken_smart_page_leaves_the_statistics() -> None:
    drive = Sata(smart((194, 35))[:511] + b"\x77", {5: statistics(5, (8, b"\x29"))})
    assert AtaHealth(drive, 512).reading().temperature_c == 41


@pytest.mark.parametrize(("byte", "temperature"), [(0, None), (1, 1), (127, 127), (128, None), (255, None)])
def test_a_scsi_temperature(byte: int, temperature: int | None) -> None:
    page = bytes([0x0D, 0, 0, 6, 0, 0, 3, 2, 0, byte])
    assert scsi.temperature_c(page) == temperature


def test_hwmon(host) -> None:
    folder = host.root / "hwmon1"
    host.write(folder, {"temp1_input": "-262150", "temp2_input": "65261850", "temp3_input": "44850"})
    assert Hwmon(folder).figures() == {"temperature_c": None, "hottest_c": 44.85}


def test_the_table_says_where_each_bound_is_from() -> None:
    for name, (least, most, source) in PLAUSIBLE.items():
        assert least < most and source, name
        assert plausible(name, most) == most and plausible(name, most + 1) is None, name
        assert plausible(name, least) == least and plausible(name, least - 1) is None, name


# --- 2,000 drives ---


def identity(transport: str) -> Identity:
    nsid = 1 if transport == "pcie" else None
    return Identity("/dev/sdx", "sdx", "block", "ID", 1 << 40, 512, transport=transport, nsid=nsid)


@dataclass
class Nvme:
    """A drive that answers with these pages."""

    pages: dict[str, bytes]

    def nvme(
        self, opcode: int, *, nsid: int = 0, cdw: Sequence[int] = (), read_bytes: int = 0, limit_s: float = 0
    ) -> NvmeReply:
        if opcode == nvme.IDENTIFY:
            name = {0: "namespace", 1: "controller"}.get(cdw[0])
            listed = little(1, 4).ljust(4096, b"\0")
            return NvmeReply(0, 0, self.pages[name] if name else listed)
        if opcode == nvme.GET_LOG:
            number = cdw[0] & 0xFF
            return NvmeReply(0, 0, self.pages[f"log {number:02x}"])
        return NvmeReply(0, 0)

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        raise AssertionError

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        raise AssertionError


@dataclass
class Sata:
    """A SATA drive of these pages."""

    smart: bytes
    statistics: dict[int, bytes]
    identify: bytes = (PAGES / "ata-identify.bin").read_bytes()

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        if cdb[14] == 0xEC:
            return ScsiReply(0, b"", self.identify)
        if cdb[14] == 0xB0:
            return ScsiReply(0, b"", self.smart if read_bytes else b"")
        page = self.statistics.get(cdb[10])
        return ScsiReply(2) if page is None else ScsiReply(0, b"", page)

    def nvme(self, opcode: int, **_: object) -> NvmeReply:
        raise AssertionError

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        raise AssertionError


@dataclass
class Sas:
    """A SAS drive of these pages."""

    temperature: bytes
    wear: bytes
    shape: bytes = bytes([0, 0xB1, 0, 0x3C, 0, 1, 0, 3]) + bytes(56)
    supply: bytes = bytes([0, 0xB2, 0, 4, 0, 0x84, 2, 0])
    caching: bytes = field(default=bytes([0, 18, 0, 0, 0, 0, 0, 0, 8, 18, 4]) + bytes(17))

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        vpd = {0xB1: self.shape, 0xB2: self.supply}
        logs = {0x0D: self.temperature, 0x11: self.wear}
        pages = {0x12: vpd.get(cdb[2]), 0x4D: logs.get(cdb[2] & 0x3F), 0x5A: self.caching}
        page = pages.get(cdb[0])
        return ScsiReply(2) if page is None else ScsiReply(0, b"", page)

    def nvme(self, opcode: int, **_: object) -> NvmeReply:
        raise AssertionError

    def tool(self, *arguments: str, limit_s: float) -> ToolReply:
        raise AssertionError


NUMBERS = {
    "controller": [
        *[(at, 2) for at in (0, 2, 266, 268, 2048, 2080, 2112)],
        *[(77, 1), (78, 2), (80, 4), (263, 1), (280, 16), (296, 16), (328, 4), (516, 4), (524, 1)],
        *[(at, 4) for at in (2052, 2056, 2084, 2088)],
        *[(2064, 2), (2066, 1), (2068, 2), (2070, 1)],
    ],
    "namespace": [
        *[(at, 8) for at in (0, 8, 16, 120)],
        *[(24, 1), (25, 1), (26, 1), (33, 1), (48, 16), (104, 16)],
        *[(at, 4) for at in range(128, 160, 4)],
    ],
    "log 02": [
        *[(0, 1), (1, 2), (3, 1), (4, 1), (5, 1), (232, 8), (240, 4)],
        *[(at, 16) for at in range(32, 192, 16)],
        *[(at, 4) for at in (192, 196, 216, 220, 224, 228)],
        *[(at, 2) for at in range(200, 216, 2)],
    ],
    "log 25": [(8, 4), (40, 4), (44, 4), (56, 1)],
    "log 81": [(0, 2), (2, 2), (4, 4), (8, 4), (12, 4), (16, 4)],
    "log c0": [(0, 16), (16, 16), (32, 6), (56, 8), (96, 1), (97, 1), (104, 8), (120, 1), (192, 8)],
    "log c3": [(6, 4), *[(at, 4) for at in range(32, 96, 4)]],
    "identify": [
        *[(2 * word, 2) for word in (59, 69, 76, 77, 78, 89, 90, 106, 128, 168, 169, 217)],
        *[(120, 4), (200, 8), (216, 8), (234, 4)],
    ],
    "statistics 1": [(8, 4), (16, 4), (24, 6), (40, 6)],
    "statistics 5": [(8, 1)],
    "statistics 7": [(8, 1)],
    "smart": [(2 + 12 * index + 5, 6) for index in range(4)],
    "temperature": [(9, 1)],
    "wear": [(11, 1)],
    "shape": [(4, 2), (7, 1)],
    "supply": [(5, 1)],
}
"""Fields by page: where they are and how long."""
NAMES = {"controller": [(4, 20), (24, 40), (64, 8)], "identify": [(20, 20), (46, 8), (54, 40)]}
SPOILERS = (b"\x01", b"\n", b"\x1b[31m", b"\xff", b"\0", b"\xc3\xa9", b"\x7f")
LIMITS: dict[str, tuple[float, float]] = {
    "temperature_c": (-40, 127),
    "hottest_c": (-40, 127),
    "warning_c": (-40, 127),
    "critical_c": (-40, 127),
    "spare_pct": (0, 100),
    "spare_threshold_pct": (0, 100),
    "used_pct": (0, 255),
    "free_blocks_pct": (0, 100),
    "power_on_hours": (0, 50 * YEAR_H),
    "max_w": (0, 100),
    "idle_w": (0, 100),
    "active_w": (0, 100),
    "interval_w": (0, 100),
    "mean_w": (0, 100),
    "drawn_w": (0, 100),
    "total_bytes": (1, 10**18),
    "capacity_bytes": (1, 10**18),
    "data_bytes": (512, 1 << 20),
    "logical_block_bytes": (512, 1 << 20),
    "physical_block_bytes": (512, 1 << 20),
    "throttled_s": (0, 100 * YEAR_H * 3600),
}
"""By hand, and not of the table: what nobody would take for a figure of a drive is beyond."""
SHOWN = {
    re.compile(r"(-?[\d.]+) C\b"): (-40, 127),
    re.compile(r"(\d+) % of rated"): (0, 255),
    re.compile(r"(\d+) % spare"): (0, 100),
    re.compile(r"(\d+) h\b"): (0, 50 * YEAR_H),
    re.compile(r"([\d.]+) W\b"): (0, 100),
}


def edges(length: int) -> list[int]:
    """Both ends of a number and beside them, its sign bit, and values that drives are known for."""
    top = (1 << 8 * length) - 1
    known = (11, 35, 128, 163, 255, 273, 65535, 0x7FFFFFFF)
    return sorted({0, 1, top, top - 1, top >> 1, (top >> 1) + 1, *(each for each in known if each <= top)})


def spoilt(draw: random.Random, pages: dict[str, bytes]) -> dict[str, bytes]:
    """Pages of which some fields are at their edges."""
    made = {name: bytearray(page) for name, page in pages.items()}
    for name, page in made.items():
        fields = NUMBERS[name]
        for at, length in draw.sample(fields, min(len(fields), draw.randrange(4))):
            page[at : at + length] = little(draw.choice(edges(length)), length)
        if name in NAMES and draw.random() < 0.5:
            at, length = draw.choice(NAMES[name])
            spoiler = draw.choice(SPOILERS)
            at += draw.randrange(length - len(spoiler) + 1)
            page[at : at + len(spoiler)] = spoiler
    return {name: bytes(page) for name, page in made.items()}


def nvme_pages() -> dict[str, bytes]:
    def ocp_page(guid: bytes) -> bytes:
        return bytes([1]).ljust(496, b"\0") + guid

    changes = {328: b"\x07\0\0\0", 263: b"\x02", 2080: little(800), 2112: little(50), 525: b"\x01"}
    return {
        "controller": patched("nvme-controller.bin", changes),
        "namespace": (PAGES / "nvme-namespace-512.bin").read_bytes(),
        "log 02": patched("nvme-health.bin", {1: little(313), 3: b"\x64\x0a\x07"}),
        "log 25": b"\0\0\x01".ljust(512, b"\0"),
        "log 81": (b"\xff\xff\x01\x01" + bytes(4) + b"\xff" * 12).ljust(512, b"\0"),
        "log c0": ocp_page(logs._EXTENDED_GUID),
        "log c3": ocp_page(logs._LATENCY_GUID),
    }


def ata_pages() -> dict[str, bytes]:
    return {
        "identify": (PAGES / "ata-identify.bin").read_bytes(),
        "statistics 1": statistics(1, *((at, b"\x10") for at in (8, 16, 24, 40))),
        "statistics 5": statistics(5, (8, b"\x29")),
        "statistics 7": statistics(7, (8, b"\x07")),
        "smart": smart((194, 35), (190, 36), (187, 0), (199, 2)),
    }


def scsi_pages_of() -> dict[str, bytes]:
    made = Sas(bytes([0x0D, 0, 0, 6, 0, 0, 3, 2, 0, 41]), bytes([0x11, 0, 0, 8, 0, 1, 3, 4, 0, 0, 0, 7]))
    return {name: getattr(made, name) for name in ("temperature", "wear", "shape", "supply")}


def nvme_drive(pages: dict[str, bytes]) -> tuple[Any, Callable[[], Any]]:
    drive = Nvme(pages)
    return drive, NvmeLogs(drive).reading


def ata_drive(pages: dict[str, bytes]) -> tuple[Any, Callable[[], Any]]:
    stats = {number: pages[f"statistics {number}"] for number in (1, 5, 7)}
    drive = Sata(summed(pages["smart"]), stats, summed(pages["identify"], 0xA5))
    return drive, AtaHealth(drive, 512).reading


def sas_drive(pages: dict[str, bytes]) -> tuple[Any, Callable[[], Any]]:
    return Sas(**pages), lambda: None


KINDS: dict[str, tuple[Callable[[], dict[str, bytes]], Callable[[dict[str, bytes]], Any], int]] = {
    "pcie": (nvme_pages, nvme_drive, 1000),
    "sata": (ata_pages, ata_drive, 600),
    "sas": (scsi_pages_of, sas_drive, 400),
}


def values_in(found: object, name: str = "") -> Iterator[tuple[str, Any]]:
    """All figures and texts of what was told, each under the name of its field."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from values_in(value, str(key))
    elif isinstance(found, (list, tuple)):
        for value in found:
            yield from values_in(value, name)
    elif found is not None:
        yield name, found


def check_plausible(found: object) -> None:
    for name, value in values_in(found):
        if isinstance(value, str):
            assert value.isprintable(), (name, value)
        elif name in LIMITS or name == "sensors_c":
            least, most = LIMITS.get(name, (-40, 127))
            assert least <= value <= most, (name, value)
        if name.endswith("_c"):
            assert value != 0, name
        if name not in ("size_blocks", "capacity_blocks", "used_blocks"):
            assert not isinstance(value, int) or value <= INT64, (name, value)


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_is_lost_and_nothing_absurd_is_shown(
    host, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    pages_of, drive_of, count = KINDS[kind]
    who, good = identity(kind), pages_of()
    attributes = {"nsid": "1"} if kind == "pcie" else {"device__scsi_level": "7"}
    node = host.disk("sdx", **attributes)
    drive, _ = drive_of(good)
    whole = read_details(who, node, drive)
    assert whole.unanswered == ()
    for seed in range(count):
        drive, reading = drive_of(spoilt(random.Random(f"{kind} {seed}"), good))
        found = read_details(who, node, drive)
        assert found.unanswered == (), seed
        check_plausible(asdict(found))
        if (read := reading()) is not None:
            check_plausible(read.model_dump())
        capsys.readouterr()
        print_details(found, None, 1 << 40)
        shown = capsys.readouterr().out
        for pattern, (least, most) in SHOWN.items():
            assert all(least <= float(value) <= most for value in pattern.findall(shown)), (seed, shown)
        assert "None" not in shown, (seed, shown)
