"""Drives: what a measurement is made on, and the guard in front of it.

`open_drive` is the only door: it looks, judges, lays a file out where that is ours to do, and holds the
drive. `look` says the same about a drive without touching it, and `tell` asks a drive for all it knows.
"""

from __future__ import annotations

from ssdlab.drives.opening import Look, list_drives, look, open_drive, tell

__all__ = ["Look", "list_drives", "look", "open_drive", "tell"]
