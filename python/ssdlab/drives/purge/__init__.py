"""Purge: a drive back to its fresh state, and the proof of it.

The words here are what a drive, a journal and a report say of a purge; how each kind of drive is purged is in
the other modules of this package.
"""

from __future__ import annotations

from ssdlab.drives.purge.record import (
    SUBSTITUTES,
    PurgeMethod,
    PurgeProgress,
    PurgeRecord,
    Sampling,
)

__all__ = ["SUBSTITUTES", "PurgeMethod", "PurgeProgress", "PurgeRecord", "Sampling"]
