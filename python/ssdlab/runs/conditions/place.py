"""Where this user's ssdlab keeps what its runs have set on this host and not yet put back."""

from __future__ import annotations

from pathlib import Path

from ssdlab.host.state_folder import state_folder


def host_folder() -> Path:
    """Return the folder; it need not be there."""
    return state_folder() / "conditions"


def ledger_paths(folder: Path | None = None) -> list[Path]:
    """Return the ledgers that lie there, of runs that go on too; cheap, as every command asks."""
    try:
        return sorted((folder or host_folder()).glob("*.json"))
    except OSError:
        return []
