"""Where this user's ssdlab keeps what its runs have set on this host and not yet put back."""

from __future__ import annotations

import os
from pathlib import Path

from ssdlab.host.state_folder import state_folder


def host_folder() -> Path:
    """Return the folder; it need not be there."""
    return state_folder() / "conditions"


def ledger_paths(folder: Path | None = None) -> list[Path]:
    """Return the ledgers that lie there, of runs that go on too; cheap, as every command asks."""
    folder = folder or host_folder()
    try:
        # What somebody else has put there says nothing: under sudo HOME may be another user's, and a folder
        # may be open to a group.
        if folder.stat().st_uid != os.geteuid():
            return []
        return sorted(path for path in folder.glob("*.json") if path.lstat().st_uid == os.geteuid())
    except OSError:
        return []
