"""Drives: what a measurement is made on, and the guard in front of it.

`open_drive` is the only door: it looks, judges, lays a file out where that is ours to do, and holds the
drive. `look` says the same about a drive without touching it, and `tell` asks a drive for all it knows. What
opens drives is loaded when one of these is asked for: who reads what a drive was rated for opens none.
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
