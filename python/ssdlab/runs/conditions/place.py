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
        # One that somebody else can fill says nothing: under sudo, HOME may be another user's.
        ours = folder.stat().st_uid == os.geteuid()
        return sorted(folder.glob("*.json")) if ours else []
    except OSError:
        return []
