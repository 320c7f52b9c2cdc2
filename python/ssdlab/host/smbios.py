"""Memory modules and slots from the SMBIOS table, which only root may read.

Source: DMTF DSP0134 (SMBIOS 3.7) 6.1 (structures, strings), 7.18 (type 17, memory device), 7.10 (type 9,
system slots).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ssdlab.host.fillers import known

_MEMORY_DEVICE, _SYSTEM_SLOT, _END = 17, 9, 127
_MEMORY_TYPES = {24: "DDR3", 26: "DDR4", 30: "LPDDR4", 34: "DDR5", 35: "LPDDR5"}


@dataclass(frozen=True, slots=True)
class MemoryModule:
    """A module that is plugged in; None is "not said"."""

    size_bytes: int
    kind: str | None
    speed_mt_s: int | None
    maker: str | None
    part: str | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of the board, by the PCI address (`0000:01:00`) of what is plugged into it."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class _Structure:
    kind: int
    data: bytes
    texts: tuple[str, ...]

    def number(self, at: int, length: int) -> int | None:
        """Return a number; None where the structure, of an older version, is too short for it."""
        return (
            int.from_bytes(self.data[at : at + length], "little") if len(self.data) >= at + length else None
        )

    def text(self, at: int) -> str | None:
        index = self.number(at, 1)
        return known(self.texts[index - 1]) if index and index <= len(self.texts) else None


def memory_modules(table: bytes) -> tuple[MemoryModule, ...]:
    """Return the memory modules that an SMBIOS structure table (`/sys/firmware/dmi/tables/DMI`) lists."""
    found = []
    for one in _structures(table):
        size = _size_bytes(one) if one.kind == _MEMORY_DEVICE else None
        if size:
            speed = one.number(0x20, 2) or one.number(0x15, 2)
            kind = _MEMORY_TYPES.get(one.number(0x12, 1) or 0)
            found.append(
                MemoryModule(size, kind, None if speed == 0xFFFF else speed, one.text(0x17), one.text(0x1A))
            )
    return tuple(found)


def slots(table: bytes) -> tuple[Slot, ...]:
    """Return the slots of the board whose PCI address an SMBIOS structure table gives."""
    found = []
    for one in _structures(table):
        name, segment, bus = one.text(0x04), one.number(0x0D, 2), one.number(0x0F, 1)
        device = one.number(0x10, 1)
        if one.kind != _SYSTEM_SLOT or name is None or segment is None or bus is None or device is None:
            continue
        if (segment, bus, device) != (0xFFFF, 0xFF, 0xFF):
            found.append(Slot(name, f"{segment:04x}:{bus:02x}:{device >> 3:02x}"))
    return tuple(found)


def _size_bytes(one: _Structure) -> int | None:
    size = one.number(0x0C, 2)
    if size in (None, 0, 0xFFFF):
        return None
    if size == 0x7FFF:  # in full, in MiB, in the extended size
        return (one.number(0x1C, 4) or 0) << 20
    return (size & 0x7FFF) << (10 if size & 0x8000 else 20)


def _structures(table: bytes) -> Iterator[_Structure]:
    at = 0
    while at + 4 <= len(table):
        kind, length = table[at], table[at + 1]
        end = table.find(b"\0\0", at + length)
        if length < 4 or end < 0:
            return
        texts = table[at + length : end].decode("latin-1").split("\0")
        yield _Structure(kind, table[at : at + length], tuple(text for text in texts if text))
        if kind == _END:
            return
        at = end + 2
