"""TCG Level 0 Discovery: whether a self-encrypting drive is locked, and by which TCG specification.

Sources: TCG Storage Architecture Core Specification 2.01, 3.3.6 (Level 0 Discovery) and its Locking feature;
the codes of the Opal, Opalite, Pyrite, Ruby and Enterprise specifications. Numbers are big-endian.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed

REPLY_BYTES = 512
PROTOCOL, DISCOVERY = 0x01, 0x0001
_HEADER_BYTES = 48
_LOCKING = 0x0002
_RULES = {
    0x0100: "Enterprise",
    0x0200: "Opal 1",
    0x0203: "Opal 2",
    0x0301: "Opalite",
    0x0302: "Pyrite 1",
    0x0303: "Pyrite 2",
    0x0304: "Ruby",
}


@dataclass(frozen=True, slots=True)
class Locking:
    """The Locking feature of a drive.

    Attributes
    ----------
    rules
        Names of the TCG specifications that the drive lists.
    supported, enabled
        Whether the drive can lock, and whether its owner has set up locking.
    locked
        Whether some range is locked now, so that its reads or writes fail.
    encrypts, shadow
        Whether the drive encrypts its data, and whether a shadow boot record (MBR) replaces its data.
    """

    rules: tuple[str, ...]
    supported: bool
    enabled: bool
    locked: bool
    encrypts: bool
    shadow: bool


def receive_words() -> tuple[int, int]:
    """Return dwords 10 and 11 of NVMe Security Receive for Level 0 Discovery."""
    return PROTOCOL << 24 | DISCOVERY << 8, REPLY_BYTES


def locking(content: bytes) -> Locking:
    """Decode a Level 0 Discovery reply.

    Raises
    ------
    Malformed
        The reply is too short or empty, or lists no Locking feature.
    """
    end = min(len(content), 4 + int.from_bytes(content[:4], "big"))
    if end <= _HEADER_BYTES:
        raise Malformed("Level 0 Discovery is empty")
    at, rules, flags = _HEADER_BYTES, [], None
    while at + 4 <= end:
        code, length = int.from_bytes(content[at : at + 2], "big"), content[at + 3]
        if code in _RULES:
            rules.append(_RULES[code])
        if code == _LOCKING and length and at + 4 < end:
            flags = content[at + 4]
        at += 4 + length
    if flags is None:
        raise Malformed("Level 0 Discovery lists no Locking feature")
    return Locking(
        rules=tuple(rules),
        supported=bool(flags & 0x01),
        enabled=bool(flags & 0x02),
        locked=bool(flags & 0x04),
        encrypts=bool(flags & 0x08),
        shadow=bool(flags & 0x10) and not flags & 0x20,
    )
