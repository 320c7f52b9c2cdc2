"""Log pages of the Open Compute Project: what drives for data centres tell beyond NVMe's own.

Source: OCP Datacenter NVMe SSD Specification 2.5: C0h, SMART / Health Information Extended; C3h, Latency
Monitor. A page is known by its GUID: the same numbers mean other logs to other makers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed, Page
from ssdlab.drives.admin.nvme.commands import LOG_BYTES

LOG_EXTENDED, LOG_LATENCY = 0xC0, 0xC3
_GUID_AT = 496
_EXTENDED_GUID = bytes.fromhex("c5af1028eabff2a49c4f6f7cc914d5af")
_LATENCY_GUID = bytes.fromhex("927ac08cd0846c9c7043e6d4585ed485")
_BUCKETS = 4
_THRESHOLD_MS = 5
"""Unit of the thresholds: 0 is 5 ms."""


@dataclass(frozen=True, slots=True)
class Extended:
    """SMART / Health Information Extended; None is what cannot be (`PLAUSIBLE`).

    Attributes
    ----------
    written_bytes, read_bytes
        Physical media units: what was programmed into the medium, and read from it.
    throttle_events
        In eight bits: it begins at 0 again after 255.
    throttled_now
        Whether heat slows the drive at this moment.
    """

    written_bytes: int | None
    read_bytes: int | None
    bad_blocks: int | None
    uncorrectable_reads: int | None
    throttle_events: int
    throttled_now: bool
    pcie_errors: int | None
    link_retrains: int | None
    free_blocks_pct: int | None


def extended(content: bytes) -> Extended:
    """Decode log C0h.

    Raises
    ------
    Malformed
        It is too short or empty, or another maker's log under that number.
    """
    page = _known(content, "OCP SMART extended log", _EXTENDED_GUID)
    return Extended(
        written_bytes=page.plausible("moved_bytes", 0, 16),
        read_bytes=page.plausible("moved_bytes", 16, 16),
        bad_blocks=page.plausible("events", 32, 6),
        uncorrectable_reads=page.plausible("events", 56, 8),
        throttle_events=page.number(96, 1),
        throttled_now=page.number(97, 1) != 0,
        pcie_errors=page.plausible("events", 104, 8),
        link_retrains=page.plausible("events", 192, 8),
        free_blocks_pct=page.plausible("spare_pct", 120, 1),
    )


@dataclass(frozen=True, slots=True)
class SlowCommands:
    """Commands of one bucket of the latency monitor: above its threshold, below that of the next."""

    above_ms: int
    reads: int
    writes: int
    trims: int


@dataclass(frozen=True, slots=True)
class LatencyMonitor:
    """Latency Monitor: the drive's own count of slow commands, in the window that is open now."""

    enabled: bool
    buckets: tuple[SlowCommands, ...]

    @property
    def slow(self) -> int:
        """All that it counted."""
        return sum(each.reads + each.writes + each.trims for each in self.buckets)


def latency_monitor(content: bytes) -> LatencyMonitor:
    """Decode log C3h.

    Raises
    ------
    Malformed
        As of `extended`.
    """
    page = _known(content, "OCP latency monitor log", _LATENCY_GUID)

    def bucket(index: int) -> SlowCommands:
        at = 32 + 16 * index  # dwords: reserved, trims, writes, reads
        threshold = page.number(6 + index, 1)
        return SlowCommands(
            above_ms=(threshold + 1) * _THRESHOLD_MS,
            reads=page.number(at + 12, 4),
            writes=page.number(at + 8, 4),
            trims=page.number(at + 4, 4),
        )

    return LatencyMonitor(enabled=page.bit(0, 0), buckets=tuple(bucket(index) for index in range(_BUCKETS)))


def _known(content: bytes, name: str, guid: bytes) -> Page:
    page = Page(content, name, LOG_BYTES)
    if content[_GUID_AT : _GUID_AT + 16] != guid:
        raise Malformed(f"{name} does not bear its GUID: it is another maker's log")
    return page
