"""Numbers and texts at byte offsets of an admin page."""

from __future__ import annotations

from dataclasses import dataclass


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

    def bit(self, at: int, bit: int) -> bool:
        """Return a bit counted from the least of the byte at an offset."""
        return bool(self.number(at + bit // 8, 1) >> bit % 8 & 1)

    def text(self, at: int, length: int) -> str | None:
        """Return ASCII text without its padding; None if there is none."""
        return self.content[at : at + length].decode("ascii", "replace").strip("\0 ") or None

    def hex(self, at: int, length: int) -> str | None:
        """Return an identifier in hexadecimal; None where all its bytes are zero."""
        value = self.content[at : at + length]
        return value.hex() if any(value) else None


def kelvin(value: int) -> int | None:
    """Return a temperature in degrees Celsius; None for 0, which means that none is reported.

    >>> kelvin(323)
    50
    """
    return value - 273 if value else None
