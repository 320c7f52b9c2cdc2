"""Opcodes, identifiers and status codes of NVMe admin commands, and dwords of the commands that erase.

Source: NVM Express Base Specification 2.0c; each table names its figures.
"""

from __future__ import annotations

from ssdlab.drives.admin.fields import Page

GET_LOG, IDENTIFY, SET_FEATURES, GET_FEATURES, FORMAT, SANITIZE = 0x02, 0x06, 0x09, 0x0A, 0x80, 0x84
"""Admin opcodes, Base figure 138."""
SECURITY_RECEIVE = 0x82
CNS_NAMESPACE, CNS_CONTROLLER, CNS_ACTIVE_NAMESPACES, CNS_DESCRIPTORS = 0x00, 0x01, 0x02, 0x03
LOG_SMART, LOG_POWER, LOG_SANITIZE = 0x02, 0x25, 0x81
FEATURE_POWER, FEATURE_WRITE_CACHE = 0x02, 0x06
ALL_NAMESPACES = 0xFFFFFFFF
PAGE_BYTES = 4096
LOG_BYTES = 512

_STATUS = {
    (0, 0x01): "invalid opcode",
    (0, 0x02): "invalid field in command",
    (0, 0x06): "internal error",
    (0, 0x0B): "invalid namespace or format",
    (0, 0x0C): "command sequence error",
    (0, 0x15): "operation denied",
    (0, 0x1C): "sanitize failed",
    (0, 0x1D): "sanitize in progress",
    (0, 0x20): "namespace is write protected",
    (0, 0x84): "format in progress",
    (1, 0x09): "invalid log page",
    (1, 0x0A): "invalid format",
    (1, 0x0D): "feature not saveable",
    (1, 0x0E): "feature not changeable",
}
"""Status code type and status code in words, Base figures 97 to 99."""


def status_text(status: int) -> str:
    """Return a status field in words: bits 10:8 are its type, bits 7:0 its code (Base 3.3.3.2).

    >>> status_text(0x4001)
    'invalid opcode'
    >>> status_text(0x0702)
    'status 702h'
    """
    return _STATUS.get((status >> 8 & 7, status & 0xFF), f"status {status & 0x7FF:x}h")


# Dwords of the commands that erase: Format NVM and Sanitize.
#
# Source: NVM Express Base Specification 2.0c, 5.14 (Format NVM, figure 189) and 5.24 (Sanitize, figures 303
# and 304); NVM Command Set 1.0c figure 97 (Identify Namespace).

EXIT_FAILURE, BLOCK_ERASE, OVERWRITE, CRYPTO_ERASE = 1, 2, 3, 4
"""Sanitize actions."""
ERASE_USER_DATA, ERASE_CRYPTO = 1, 2
"""Secure erase settings of a format."""
_UNRESTRICTED_EXIT = 1 << 3
_ONE_PASS = 1 << 4


def sanitize_words(action: int) -> tuple[int, ...]:
    """Return dwords 10 and 11 of Sanitize.

    The drive deallocates its blocks afterwards, as in a fresh drive. Unrestricted exit is allowed: if the
    sanitize fails, the drive can take I/O again without another sanitize. An overwrite is one pass of zeroes.
    """
    if action == EXIT_FAILURE:
        return (EXIT_FAILURE,)
    return (action | _UNRESTRICTED_EXIT | (_ONE_PASS if action == OVERWRITE else 0), 0)


def format_words(identify_namespace: bytes, erase: int) -> tuple[int, ...]:
    """Return dword 10 of a format that erases, but keeps LBA format, metadata and protection.

    Raises
    ------
    Malformed
        The page is too short or empty.
    """
    page = Page(identify_namespace, "Identify Namespace", PAGE_BYTES)
    flbas, protection = page.number(26, 1), page.number(29, 1)
    return (
        flbas & 0xF  # LBA format, lower bits
        | (flbas >> 4 & 1) << 4  # metadata within the data
        | (protection & 7) << 5  # type of protection information
        | (protection >> 3 & 1) << 8  # its place in the metadata
        | erase << 9
        | (flbas >> 5 & 3) << 12,  # LBA format, upper bits
    )


def format_share(identify_namespace: bytes) -> float | None:
    """Return the progress of a format, 0 to 1 (FPI); None if the drive does not report it."""
    page = Page(identify_namespace, "Identify Namespace", PAGE_BYTES)
    left = page.number(32, 1)
    return 1 - (left & 0x7F) / 100 if left & 0x80 else None
