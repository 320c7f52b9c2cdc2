"""Opcodes, identifiers and status codes of NVMe admin commands.

Source: NVM Express Base Specification 2.0c, figures named at each.
"""

from __future__ import annotations

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
    """Return a status field in words: bits 10:8 its type, 7:0 its code (Base 3.3.3.2).

    >>> status_text(0x4001)
    'invalid opcode'
    >>> status_text(0x0702)
    'status 702h'
    """
    return _STATUS.get((status >> 8 & 7, status & 0xFF), f"status {status & 0x7FF:x}h")
