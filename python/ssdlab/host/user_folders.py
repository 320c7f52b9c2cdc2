"""Where this user's ssdlab keeps what belongs to this host and not to a run: state, data, configuration.

Source: XDG Base Directory Specification 0.8.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `ssdlab` in the XDG state folder; it need not be there."""
    return _folder("STATE", ".local/state", environment)


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `ssdlab` in the XDG data folder, likewise."""
    return _folder("DATA", ".local/share", environment)


def config_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `ssdlab` in the XDG configuration folder, likewise."""
    return _folder("CONFIG", ".config", environment)


def _folder(kind: str, usual: str, environment: Mapping[str, str]) -> Path:
    given = environment.get(f"XDG_{kind}_HOME", "")
    # A relative path is to be ignored, says the specification.
    return (Path(given) if given.startswith("/") else _home(environment) / usual) / "ssdlab"


def _home(environment: Mapping[str, str]) -> Path:
    """Return the home folder; the root folder for a user who has none, as in a container."""
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path.home raises there
    return Path(home if home.startswith("/") else "/")


def conditions_folder() -> Path:
    """Return where is kept what runs have set on this host and not yet put back; it need not be there."""
    return state_folder() / "conditions"


def ledger_paths(folder: Path | None = None) -> list[Path]:
    """Return the ledgers that lie there, of runs that go on too; cheap, as every command asks."""
    folder = folder or conditions_folder()
    try:
        # What somebody else has put there says nothing: under sudo HOME may be another user's, and a folder
        # may be open to a group.
        if folder.stat().st_uid != os.geteuid():
            return []
        return sorted(path for path in folder.glob("*.json") if path.lstat().st_uid == os.geteuid())
    except OSError:
        return []
