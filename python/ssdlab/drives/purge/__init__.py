"""Purge: a drive back to its fresh state, and the proof of it.

`record` holds the words in which a drive, a journal and a report tell of a purge. `choice` finds out how a
drive can be purged; `nvme`, `ata`, `scsi` and `host` do it; `purging` chooses, watches and proves; `ledger`
keeps what was begun, so that a restart finds it. A method reports what it did, and is never believed: marks
written before must be gone afterwards.
"""

from __future__ import annotations

from ssdlab.drives.purge.record import (
    METHODS,
    SUBSTITUTES,
    PurgeMethodName,
    PurgeProgress,
    PurgeRecord,
    Sampling,
    check_method,
)

__all__ = [
    "METHODS",
    "SUBSTITUTES",
    "PurgeMethodName",
    "PurgeProgress",
    "PurgeRecord",
    "Sampling",
    "check_method",
]
