"""Purges a drive to its fresh state, and proves it.

`record` is the common record of a purge. `choice` finds a drive's purge methods; `nvme`, `ata`, `scsi` and
`host` execute them; `purging` chooses, watches and proves, and keeps started purges for a restart.
Success reports are not trusted: marks written before must be gone afterwards.
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
