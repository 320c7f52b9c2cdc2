"""Drives: the targets of measurements, and the guard that protects them.

`open_drive` inspects a target, lets the guard judge it, lays out a file if needed, and holds the drive. There
is no other way to get a drive. `look` inspects a drive without touching it. `tell` queries a drive for
everything it reports. The code that opens drives is loaded on first use, because readers of ratings do not
need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.drives.opening import Look, list_drives, look, open_drive, tell

__all__ = ["Look", "list_drives", "look", "open_drive", "tell"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ssdlab.drives import opening

    return getattr(opening, name)
