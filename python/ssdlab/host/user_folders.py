"""Folders of this user for ssdlab's state, data and configuration, which belong to the host and not to a run.

Source: XDG Base Directory Specification 0.8.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `ssdlab` in the XDG state folder; it may not exist."""
    return _folder("STATE", ".local/state", environment)


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `ssdlab` in the XDG data folder; it may not exist."""
    return _folder("DATA", ".local/share", environment)


def config_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `ssdlab` in the XDG configuration folder; it may not exist."""
    return _folder("CONFIG", ".config", environment)


def _folder(kind: str, usual: str, environment: Mapping[str, str]) -> Path:
    given = environment.get(f"XDG_{kind}_HOME", "")
    # The specification says to ignore a relative path.
    return (Path(given) if given.startswith("/") else _home(environment) / usual) / "ssdlab"


def _home(environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path.home raises there
    return Path(home if home.startswith("/") else "/")


def conditions_folder() -> Path:
    """Return the folder that records settings that runs have changed and not restored; it may not exist."""
    return state_folder() / "conditions"


def ledger_paths(folder: Path | None = None) -> list[Path]:
    """Return the ledgers in that folder, also those of active runs; fast, as every command calls it."""
    folder = folder or conditions_folder()
    try:
        # Files of other users do not count: under sudo, HOME may be another user's, and a group may be able
        # to write to the folder.
        if folder.stat().st_uid != os.geteuid():
            return []
        return sorted(path for path in folder.glob("*.json") if path.lstat().st_uid == os.geteuid())
    except OSError:
        return []
