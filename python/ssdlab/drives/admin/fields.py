"""Numbers and texts at byte offsets of an admin page."""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.plausible import plausible
from ssdlab.host.fillers import is_filler
from ssdlab.host.sysfs import plain_name


class Malformed(ValueError):
    """A page that cannot be what it should be; nothing of it is used."""


@dataclass(frozen=True, slots=True)
class Page:
    """Bytes of a page, little-endian as in NVMe and ATA.

    Parameters
    ----------
    content
        What the drive sent.
    name
        What it is called in errors.
    needed_bytes
        Shortest that it may be.

    Raises
    ------
    Malformed
        It is too short, or every byte of it is the same: a drive that has nothing to say, or talks nonsense.
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
        """Return the unsigned number of `length` bytes at an offset."""
        return int.from_bytes(self.content[at : at + length], "little")

    def plausible(self, field: str, at: int, length: int) -> int | None:
        """Return the unsigned number of a field of `PLAUSIBLE`; None where it cannot be, or is all ones.

        Of a single byte all ones may be meant.
        """
        value = self.number(at, length)
        return None if length > 1 and value == (1 << 8 * length) - 1 else plausible(field, value)

    def bit(self, at: int, bit: int) -> bool:
        """Return a bit counted from the least of the byte at an offset."""
        return bool(self.number(at + bit // 8, 1) >> bit % 8 & 1)

    def text(self, at: int, length: int) -> str | None:
        """Return a name without its padding; None if there is none, or what is no text."""
        return plain_name(self.content[at : at + length])

    def hex(self, at: int, length: int) -> str | None:
        """Return a world-wide name in hexadecimal; None where it is a filler."""
        found = self.content[at : at + length].hex()
        return None if is_filler(f"eui.{found}") else found


def kelvin(value: int) -> int | None:
    """Return a temperature in degrees Celsius; None for 0, and for what no drive has.

    >>> kelvin(323), kelvin(0), kelvin(65535)
    (50, None, None)
    """
    return plausible("temperature_c", value - 273)
