"""Logs of drives by fixture: what recorded pages with single fields changed are read as."""

from __future__ import annotations

import pytest

from machine.fake_drive import patched
from ssdlab.drives.admin import ata, nvme
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.nvme import logs
from ssdlab.drives.admin.port import NvmeReply, ScsiReply
from ssdlab.drives.telemetry.of_device import AtaHealth, NvmeLogs

EXTENDED_GUID = bytes.fromhex("c5af1028eabff2a49c4f6f7cc914d5af")
LATENCY_GUID = bytes.fromhex("927ac08cd0846c9c7043e6d4585ed485")


def made(changes: dict[int, bytes], guid: bytes) -> bytes:
    page = bytearray(512)
    for at, content in {**changes, 496: guid}.items():
        page[at : at + len(content)] = content
    return bytes(page)


def number(value: int, length: int) -> bytes:
    return value.to_bytes(length, "little")


EXTENDED = made(
    {0: number(5 << 40, 16), 16: number(7 << 40, 16), 96: b"\x02\x01", 192: number(4, 8), 104: number(9, 8)},
    EXTENDED_GUID,
)


class Drive:
    """Answers Get Log Page; counts what it is asked."""

    def __init__(self, logs: dict[int, bytes]) -> None:
        self.logs, self.asked = logs, []

    def nvme(
        self, opcode: int, *, nsid: int, cdw: tuple[int, ...], read_bytes: int, limit_s: float
    ) -> NvmeReply:
        assert (opcode, nsid, cdw[0] >> 16) == (0x02, 0xFFFFFFFF, read_bytes // 4 - 1)
        self.asked.append(cdw[0] & 0xFF)
        found = self.logs.get(cdw[0] & 0xFF)
        return NvmeReply(0x4109) if found is None else NvmeReply(0, 0, found)


def health_log(**changes: bytes) -> bytes:
    return patched("nvme-health.bin", {int(at[1:]): content for at, content in changes.items()})


def test_thermal_management_of_nvme() -> None:
    """Base 2.0c figure 207: transitions of the two temperatures from 216 on, their seconds from 224 on."""
    log = health_log(b216=number(3, 4), b220=number(2, 4), b224=number(40, 4), b228=number(9, 4))
    figures = NvmeLogs(Drive({2: log})).figures()
    assert (figures["throttle_events"], figures["throttled_s"]) == (5, 49)


def test_the_physical_media_units_give_write_amplification() -> None:
    told = NvmeLogs(Drive({2: health_log(), 0xC0: EXTENDED})).reading()
    assert (told.nand_written_bytes, told.link_retrains, told.link_errors) == (5 << 40, 4, 9)
    assert told.throttle_events == 2, "by OCP's count, as NVMe's own says none"
    assert logs.extended(EXTENDED).throttled_now


def test_the_latency_monitor_counts_slow_commands() -> None:
    """Dwords of a bucket: reserved, trims, writes, reads; thresholds in units of 5 ms, from 0."""
    counts = {32: number(0, 4) + number(1, 4) + number(2, 4) + number(30, 4), 48 + 12: number(4, 4)}
    page = made({0: b"\x01", 6: b"\x00\x03\x07\x0f", **counts}, LATENCY_GUID)
    told = logs.latency_monitor(page)
    assert [each.above_ms for each in told.buckets] == [5, 20, 40, 80]
    assert (told.buckets[0].reads, told.buckets[0].writes, told.buckets[0].trims) == (30, 2, 1)
    assert NvmeLogs(Drive({2: health_log(), 0xC3: page})).reading().slow_commands == 37
    off = made({0: b"\x00", **counts}, LATENCY_GUID)
    assert NvmeLogs(Drive({2: health_log(), 0xC3: off})).reading().slow_commands is None


def test_another_makers_log_under_that_number_is_not_believed() -> None:
    other = made({0: number(5 << 40, 16)}, bytes(range(16)))
    with pytest.raises(Malformed, match="GUID"):
        logs.extended(other)
    assert NvmeLogs(Drive({2: health_log(), 0xC0: other})).reading().nand_written_bytes is None


def test_a_log_that_a_drive_lacks_is_asked_for_once() -> None:
    drive = Drive({2: health_log()})
    logs = NvmeLogs(drive)
    logs.begin()
    assert drive.asked == [], "nothing before the step has begun"
    for _ in range(3):
        logs.figures()
    assert (drive.asked.count(2), drive.asked.count(0xC0)) == (3, 1)


def test_a_drive_that_refuses_its_health_is_not_guessed_at() -> None:
    with pytest.raises(Malformed, match="invalid log page"):
        NvmeLogs(Drive({})).figures()


# --- power by the drive's own account: pages made up by their layout, as no drive at hand has them ---


def interval_power(value: int, scale: int, sort: int = 0) -> bytes:
    return number(value | scale << 16 | sort << 20, 4)


def power_page(**changes: bytes) -> bytes:
    """Log 25h of a drive that has measured 600 intervals: 8.12 W on average, 11.5 W at most, 3 % error."""
    page = bytearray(64)
    fields = {2: b"\x01\x00", 4: number(64, 4), 8: number(600, 4), 26: number(250, 2), 56: b"\x03"}
    fields |= {40: number(812 | 2 << 16, 4), 44: number(1150 | 2 << 16, 4)}
    for at, content in {**fields, **{int(at[1:]): content for at, content in changes.items()}}.items():
        page[at : at + len(content)] = content
    return bytes(page)


@pytest.mark.parametrize(
    ("field", "watts"),
    [
        (interval_power(812, 2), 8.12),
        (interval_power(35, 1), 0.0035),
        (interval_power(812, 0), None),
        (interval_power(812, 3), None),
        (interval_power(0, 2), None),
        (interval_power(812, 2, sort=0xC), None),
    ],
    ids=["10 mW", "100 uW", "not reported", "reserved scale", "none", "a maker's own sort"],
)
def test_the_interval_power_of_the_health_log(field: bytes, watts: float | None) -> None:
    logs = NvmeLogs(Drive({2: health_log(b240=field)}))
    assert logs.figures()["drawn_w"] == watts
    assert logs.reading().drawn_w == watts


def test_energy_over_its_life_and_the_error_of_its_account() -> None:
    drive = Drive({2: health_log(b232=number(4321, 8), b240=interval_power(812, 2)), 0x25: power_page()})
    told = NvmeLogs(drive).reading()
    assert (told.energy_wh, told.drawn_w) == (4321, 8.12)
    assert (told.power_error, told.power_estimated) == (0.03, False)
    none = NvmeLogs(Drive({2: health_log()})).reading()
    assert (none.energy_wh, none.drawn_w, none.power_error, none.power_estimated) == (None,) * 4


def test_the_power_measurement_log() -> None:
    found = nvme.power_measurement(power_page())
    assert (found.running, found.estimated, found.count) == (True, False, 600)
    assert (found.mean_w, found.max_w, found.error) == (8.12, 11.5, 0.03)
    other = nvme.power_measurement(power_page(b2=b"\x05\xc0", b56=b"\xff"))
    assert (other.estimated, other.mean_w, other.max_w, other.error) == (True, None, None, None)
    with pytest.raises(Malformed, match="bytes long"):
        nvme.power_measurement(power_page()[:40])


def test_the_power_log_is_asked_for_at_the_ends_of_steps_and_once_where_it_lacks() -> None:
    drive = Drive({2: health_log()})
    logs = NvmeLogs(drive)
    for _ in range(3):
        logs.figures()
    assert drive.asked.count(0x25) == 0
    for _ in range(3):
        logs.reading()
    assert drive.asked.count(0x25) == 1


# --- SATA ---


def smart_data(*attributes: tuple[int, int]) -> bytes:
    """A page of SMART data with attributes of these numbers and raw values, its checksum right."""
    page = bytearray(512)
    for index, (attribute, raw) in enumerate(attributes):
        at = 2 + 12 * index
        page[at : at + 11] = bytes([attribute, 0, 0, 100, 90]) + number(raw, 6)
    page[511] = -sum(page) % 256
    return bytes(page)


class Sata:
    """Answers SMART READ DATA and RETURN STATUS; has no Device Statistics."""

    def __init__(self, page: bytes, *, failing: bool = False) -> None:
        self.page, self.failing, self.commands = page, failing, []

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, data: bytes = b"", limit_s: float = 0) -> ScsiReply:
        self.commands.append((cdb[14], cdb[4]))
        if (cdb[14], cdb[4]) == (0xB0, 0xD0):
            assert (cdb[10], cdb[12]) == (0x4F, 0xC2), "the key that SMART asks for"
            return ScsiReply(0, b"", self.page)
        if (cdb[14], cdb[4]) == (0xB0, 0xDA):
            mid, high = (0xF4, 0x2C) if self.failing else (0x4F, 0xC2)
            registers = bytes([0x09, 0x0C, 0, 0, 0, 0, 0, 0, 0, mid, 0, high, 0xA0, 0x50])
            return ScsiReply(2, b"\x72\x01\x00\x1d\0\0\0\x0e" + registers)
        return ScsiReply(2)


def test_sata_tells_of_its_heat_and_errors() -> None:
    # The upper bytes of a temperature hold the least and the greatest so far.
    drive = Sata(smart_data((194, 45 << 32 | 18 << 16 | 33), (187, 6), (199, 2)))
    told = AtaHealth(drive, 512).reading()
    assert (told.temperature_c, told.media_errors, told.link_errors, told.failing) == (33, 6, 2, ())


def test_sata_asks_for_statistics_that_it_lacks_once() -> None:
    drive = Sata(smart_data((190, 31)))
    asking = AtaHealth(drive, 512)
    assert [asking.reading().temperature_c for _ in range(2)] == [31, 31]
    assert sum(command == 0x2F for command, _ in drive.commands) == 3


def test_sata_that_says_it_is_failing() -> None:
    assert AtaHealth(Sata(smart_data((194, 30)), failing=True), 512).reading().failing


def test_smart_data_with_a_wrong_checksum_are_not_used() -> None:
    page = bytearray(smart_data((194, 30)))
    page[7] += 1
    with pytest.raises(Malformed, match="checksum"):
        ata.attributes(bytes(page))
