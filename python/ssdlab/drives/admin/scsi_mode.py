"""The Caching mode page of SCSI devices, which holds the bit of the volatile write cache.

Sources: SBC-4 6.5.6 (Caching mode page), SPC-6 6.13 (MODE SELECT(10)), 6.15 (MODE SENSE(10)), 7.5.5 (header).
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed

MODE_BYTES = 252
_PAGE = 0x08
_HEADER_BYTES = 8
_NO_DESCRIPTORS = 0x08
_PAGE_FORMAT = 0x10
_WRITE_CACHE = 0x04


@dataclass(frozen=True, slots=True)
class CachingPage:
    """The page as it is in force."""

    content: bytes

    @property
    def write_cache(self) -> bool:
        """Whether the write cache is on (WCE)."""
        return bool(self.content[2] & _WRITE_CACHE)

    def with_write_cache(self, *, on: bool) -> bytes:
        """Return what MODE SELECT is sent: the page with that bit, and a header of zeroes as it must be."""
        page = bytearray(self.content)
        page[0] &= 0x3F  # "can be saved" is for MODE SENSE alone
        page[2] = page[2] | _WRITE_CACHE if on else page[2] & ~_WRITE_CACHE
        return bytes(_HEADER_BYTES) + bytes(page)


def caching_page_cdb() -> bytes:
    """Return MODE SENSE(10) for the current values of the Caching page, without block descriptors."""
    return bytes([0x5A, _NO_DESCRIPTORS, _PAGE, 0, 0, 0, 0, *MODE_BYTES.to_bytes(2, "big"), 0])


def mode_select_cdb(length: int) -> bytes:
    """Return MODE SELECT(10) for so many bytes of parameters; nothing is saved in the device."""
    return bytes([0x55, _PAGE_FORMAT, 0, 0, 0, 0, 0, *length.to_bytes(2, "big"), 0])


def caching_page(content: bytes) -> CachingPage:
    """Decode the reply to MODE SENSE(10).

    Raises
    ------
    Malformed
        The page is not in it.
    """
    at = _HEADER_BYTES + int.from_bytes(content[6:8], "big") if len(content) >= _HEADER_BYTES else 0
    page = content[at : at + 2 + content[at + 1]] if at and len(content) > at + 2 else b""
    if len(page) < 3 or page[0] & 0x3F != _PAGE:
        raise Malformed("the reply to MODE SENSE holds no Caching page")
    return CachingPage(page)
