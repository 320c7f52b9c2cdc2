"""The words of the commands that erase: Format NVM and Sanitize.

Source: NVM Express Base Specification 2.0c, 5.14 (Format NVM, figure 189) and 5.24 (Sanitize, figures 303
and 304); NVM Command Set 1.0c figure 97 (Identify Namespace).
"""

from __future__ import annotations

from ssdlab.drives.admin.fields import Page
from ssdlab.drives.admin.nvme.commands import PAGE_BYTES

EXIT_FAILURE, BLOCK_ERASE, OVERWRITE, CRYPTO_ERASE = 1, 2, 3, 4
"""Sanitize actions."""
ERASE_USER_DATA, ERASE_CRYPTO = 1, 2
"""Secure erase settings of a format."""
_UNRESTRICTED_EXIT = 1 << 3
_ONE_PASS = 1 << 4


def sanitize_words(action: int) -> tuple[int, ...]:
    """Return dwords 10 and 11 of Sanitize.

    Blocks are deallocated afterwards, as a fresh drive's are. Should it fail, the drive may be let out of
    that state without another sanitize: else it would take no I/O any more. Overwriting is done once, with
    zeroes.
    """
    if action == EXIT_FAILURE:
        return (EXIT_FAILURE,)
    return (action | _UNRESTRICTED_EXIT | (_ONE_PASS if action == OVERWRITE else 0), 0)


def format_words(identify_namespace: bytes, erase: int) -> tuple[int, ...]:
    """Return dword 10 of a format that erases and leaves LBA format, metadata and protection as they are.

    Raises
    ------
    Malformed
        The page is too short, or empty.
    """
    page = Page(identify_namespace, "Identify Namespace", PAGE_BYTES)
    flbas, protection = page.number(26, 1), page.number(29, 1)
    return (
        flbas & 0xF  # LBA format, lower bits
        | (flbas >> 4 & 1) << 4  # metadata within the data
        | (protection & 7) << 5  # type of protection information
        | (protection >> 3 & 1) << 8  # and where it lies
        | erase << 9
        | (flbas >> 5 & 3) << 12,  # LBA format, upper bits
    )


def format_share(identify_namespace: bytes) -> float | None:
    """Return how far a format is, 0 to 1 (FPI); None where the drive does not tell."""
    page = Page(identify_namespace, "Identify Namespace", PAGE_BYTES)
    left = page.number(32, 1)
    return 1 - (left & 0x7F) / 100 if left & 0x80 else None
