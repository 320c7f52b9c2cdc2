"""Reads numbers and texts at byte offsets of an admin page, within plausible ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from ssdlab.host.fillers import is_filler
from ssdlab.host.sysfs import plain_name

# Plausible ranges of a drive's figures. A value outside counts as not reported; other fields stay valid.
#
# One table serves NVMe, ATA, SCSI and hwmon. A bound comes from a specification, or is so wide that no drive
# reaches it. Drives fill unknown fields with zeroes, ones, or stale memory (smartmontools issues 537 and
# 609, lm-sensors 574, CrystalDiskInfo 186, beszel 1686).

Number = TypeVar("Number", int, float)

_LIFE_H = 30 * 8766
"""Hours of 30 years: solid-state drives with such counters have existed since about 2005."""


class Range(NamedTuple):
    """Lowest and highest plausible value, and their source."""

    low: float
    high: float
    source: str


PLAUSIBLE: Final = {
    "temperature_c": Range(-40, 127, "industrial drives work from -40 C on; smartctl takes 1 to 127"),
    "warnings": Range(0, 0x7F, "NVMe figure 207: bits, of which the highest is reserved"),
    "spare_pct": Range(0, 100, "NVMe Base 2.0c figure 207: a normalised percentage"),
    "used_pct": Range(0, 255, "NVMe figure 207, ACS-5 9.5.11, SBC-4 table 229: 255 is 255 % or more"),
    "power_on_h": Range(0, _LIFE_H, "30 years"),
    "minutes": Range(0, _LIFE_H * 60, "30 years"),
    "seconds": Range(0, _LIFE_H * 3600, "30 years"),
    "events": Range(0, _LIFE_H * 3600, "one a second for 30 years: cycles, errors, throttling"),
    "commands": Range(0, _LIFE_H * 3600 * 10**7, "10 million a second for 30 years, as no drive does"),
    "moved_bytes": Range(0, _LIFE_H * 3600 * 8 * 10**9, "8 GB/s, the mean of PCIe 4 x4, for 30 years"),
    "energy_wh": Range(0, _LIFE_H * 100, "the most power for 30 years"),
    "power_w": Range(0.0001, 100, "EDSFF (SFF-TA-1006 to 1008) goes up to 70 W; the unit is 0.1 mW"),
    "latency_us": Range(
        0, 60 * 10**6, "the kernel gives up on a drive after some 30 s (nvme_core.io_timeout)"
    ),
    "erase_s": Range(0, 60 * 86_400, "ACS-5 words 89 and 90 end at 45 days"),
    "capacity_bytes": Range(1, 10**17, "100 PB: 400 times the largest drive of 2025"),
    "block_bytes": Range(512, 65_536, "NVMe and SCSI begin at 512; Linux takes 64 KiB at most"),
    "metadata_bytes": Range(0, 4096, "a block's own size: drives have 8 to 128"),
    "power_states": Range(0, 31, "NVMe figure 275: NPSS counts from 0, and there are 32 at most"),
    "lba_formats": Range(0, 63, "NVM Command Set figure 97: NLBAF counts from 0, and there are 64 at most"),
    "version": Range(0, 9, "each part of it: NVMe goes from 1.0 to 2.3"),
}
"""Ranges, by name or unit of a field."""


def plausible(field: str, value: Number | None) -> Number | None:
    """Return a figure; None if implausible or missing.

    A temperature of 0 C means that there is no sensor. SATA drives without a sensor report it
    (Starosdev/scrutiny issue 587). SCSI also reports it for all lower temperatures, and NVMe has no other way
    to report a missing sensor in Celsius.

    >>> plausible("temperature_c", 35), plausible("temperature_c", -93), plausible("temperature_c", 0)
    (35, None, None)
    """
    low, high, _ = PLAUSIBLE[field]
    if value is None or not low <= value <= high or (field == "temperature_c" and value == 0):
        return None
    return value


class Malformed(ValueError):
    """A page is invalid and must not be used."""


@dataclass(frozen=True, slots=True)
class Page:
    """The bytes of a page, little-endian as in NVMe and ATA.

    Parameters
    ----------
    name
        Name of the page in errors.
    needed_bytes
        Minimum length.

    Raises
    ------
    Malformed
        The page is too short, or all its bytes are equal.
    """

    content: bytes
    name: str
    needed_bytes: int

    def __post_init__(self) -> None:
        if len(self.content) < self.needed_bytes:
            raise Malformed(f"{self.name} is {len(self.content)} bytes long, not {self.needed_bytes}")
        if len(set(self.content[: self.needed_bytes])) == 1:
            raise Malformed(f"{self.name} holds nothing but {self.content[0]:02x}h")

    def number(self, at: int, length: int) -> int:
        return int.from_bytes(self.content[at : at + length], "little")

    def plausible(self, field: str, at: int, length: int) -> int | None:
        """Return the unsigned number of a field in `PLAUSIBLE`; None if implausible or all ones.

        A single byte may be all ones.
        """
        value = self.number(at, length)
        return None if length > 1 and value == (1 << 8 * length) - 1 else plausible(field, value)

    def bit(self, at: int, bit: int) -> bool:
        """Return a bit, counted from the lowest bit of the byte at an offset."""
        return bool(self.number(at + bit // 8, 1) >> bit % 8 & 1)

    def text(self, at: int, length: int) -> str | None:
        """Return a text without padding; None if missing or not text."""
        return plain_name(self.content[at : at + length])

    def hex(self, at: int, length: int) -> str | None:
        """Return a world-wide name in hexadecimal; None if it is only a filler."""
        found = self.content[at : at + length].hex()
        return None if is_filler(f"eui.{found}") else found


def kelvin(value: int) -> int | None:
    """Convert a temperature to degrees Celsius; None for 0 or an implausible value.

    >>> kelvin(323), kelvin(0), kelvin(65535)
    (50, None, None)
    """
    return plausible("temperature_c", value - 273)
