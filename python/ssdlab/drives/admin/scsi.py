"""SCSI commands and sense data.

Sources: SPC-6 4.4 (sense data), 6.41 (REQUEST SENSE); SBC-4 5.4 (FORMAT UNIT), 5.34 (SANITIZE), 6.6.5 (Block
Limits), 6.6.7 (Logical Block Provisioning). SCSI numbers are big-endian.
"""

from __future__ import annotations

from dataclasses import dataclass

SENSE_BYTES = 252
_NOT_READY, _ILLEGAL_REQUEST = 0x2, 0x5
SANITIZE_ACTIONS = {"block": 0x02, "crypto": 0x03}
SUPPORTED_BYTES = 64


@dataclass(frozen=True, slots=True)
class Sense:
    """Sense data: key, additional code and qualifier, and progress (0 to 1) where there is any."""

    key: int
    code: int
    qualifier: int
    share: float | None

    @property
    def unsupported(self) -> bool:
        """Whether the device does not know the command, or a field of it."""
        return self.key == _ILLEGAL_REQUEST

    @property
    def working(self) -> str | None:
        """Which long command goes on: `format`, `sanitize`, or None."""
        return (
            {4: "format", 0x1B: "sanitize"}.get(self.qualifier) if (self.key, self.code) == (2, 4) else None
        )


def sense(content: bytes) -> Sense | None:
    """Decode fixed (70h) or descriptor (72h) sense data; None where there is none."""
    kind = content[0] & 0x7F if content else 0
    if kind in {0x70, 0x71} and len(content) >= 14:
        share = _share(content[15:18]) if len(content) >= 18 else None
        return Sense(content[2] & 0xF, content[12], content[13], share)
    if kind in {0x72, 0x73} and len(content) >= 8:
        at, share = 8, None
        while at + 8 <= len(content) and content[at + 1]:
            if content[at] == 0x02:  # sense key specific
                share = _share(content[at + 4 : at + 7])
            at += 2 + content[at + 1]
        return Sense(content[1] & 0xF, content[2], content[3], share)
    return None


def _share(field: bytes) -> float | None:
    """Return a progress indication: valid with bit 7 of its first byte, in 65536ths."""
    return int.from_bytes(field[1:3], "big") / 65536 if len(field) == 3 and field[0] & 0x80 else None


def request_sense_cdb() -> bytes:
    """Return REQUEST SENSE for descriptor or fixed data of up to `SENSE_BYTES`."""
    return bytes([0x03, 0, 0, 0, SENSE_BYTES, 0])


def supported_cdb(opcode: int, action: int | None) -> bytes:
    """Return REPORT SUPPORTED OPERATION CODES for one command, or one service action of it (SPC-6 6.36)."""
    option = 0x01 if action is None else 0x02
    return bytes([0xA3, 0x0C, option, opcode, *(action or 0).to_bytes(2, "big"),
                  *SUPPORTED_BYTES.to_bytes(4, "big"), 0, 0])  # fmt: skip


def is_supported(content: bytes) -> bool:
    """Say whether the answer to `supported_cdb` is that the device has it, as the standard says."""
    return len(content) >= 2 and content[1] & 0x07 == 0x03


def sanitize_cdb(action: str) -> bytes:
    """Return SANITIZE, `block` or `crypto` erase, returning at once (IMMED)."""
    return bytes([0x48, 0x80 | SANITIZE_ACTIONS[action], *(0,) * 8])


def format_cdb() -> bytes:
    """Return FORMAT UNIT with a parameter list (`FORMAT_LIST`)."""
    return bytes([0x04, 0x10, 0, 0, 0, 0])


FORMAT_LIST = bytes([0, 0x02, 0, 0])
"""Parameter list of FORMAT UNIT: return at once (IMMED), all else default."""
