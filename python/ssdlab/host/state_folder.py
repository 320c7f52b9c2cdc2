"""Where ssdlab keeps this user's state on this host, and the default place of runs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

CHANGES = Path(".catalogue") / "changes"
"""Within a library: notes of changes that are under way (`ssdlab.results.settling`)."""


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return `ssdlab` in the XDG state folder; it need not be there."""
    given = environment.get("XDG_STATE_HOME", "")
    base = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    return base / "ssdlab"


def default_library(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the library that is used when none is named: `ssdlab/runs` in the XDG data folder."""
    data = environment.get("XDG_DATA_HOME", "")
    base = Path(data) if data.startswith("/") else Path(environment.get("HOME", "/")) / ".local" / "share"
    return base / "ssdlab" / "runs"


def library_words(library: Path) -> str:
    """Return what a proposed command says of a library after its other words: nothing of the usual one."""
    return "" if library == default_library() else f" --library {shlex.quote(str(library))}"


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
