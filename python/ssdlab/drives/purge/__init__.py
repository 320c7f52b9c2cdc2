"""Purges a drive to its fresh state, and proves it.

`record` is the common record of a purge. `choice` finds a drive's purge methods, which `nvme`, `ata`, `scsi`
and `method` (discard and zero fill) execute. `purging` chooses a method, watches and proves the purge, and
records started purges for a restart. `planning` predicts a purge. A drive's success report is not trusted:
marks written before the purge must be gone afterwards.
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
