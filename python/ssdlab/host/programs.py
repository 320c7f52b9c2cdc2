"""Other programs that ssdlab starts: where they are looked for, and in what environment they run.

Whoever works as root in a folder of somebody else must not run what lies there: not a `numpy.py` beside the
shell, not a program found by a relative or foreign entry of PATH.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for whatever PATH says; for root first."""
WORKING_FOLDER = "/"
"""Of every program that is started."""
_DROPPED = "PYTHON"
"""Beginning of the variables that change what a Python program imports."""


def search_path(environment: Mapping[str, str] = os.environ) -> str:
    """Return where programs are looked for.

    The system's own folders, and of PATH the absolute ones; for root only those that nobody else can change.
    """
    given = [entry for entry in environment.get("PATH", "").split(os.pathsep) if entry.startswith("/")]
    system = SYSTEM_PATH.split(os.pathsep)
    if os.geteuid() == 0:
        return os.pathsep.join(dict.fromkeys([*system, *filter(_only_roots, given)]))
    return os.pathsep.join(dict.fromkeys([*given, *system]))


def _only_roots(entry: str) -> bool:
    """Whether a folder, and each that it lies in, belongs to root and cannot be changed by others."""
    real = Path(os.path.realpath(entry))
    try:
        found = [folder.stat() for folder in (real, *real.parents)]
    except OSError:
        return False
    return all(
        each.st_uid == 0 and (not each.st_mode & 0o022 or each.st_mode & stat.S_ISVTX) for each in found
    )


def find_program(name: str) -> str | None:
    """Return the absolute path of a program; None if it is not installed."""
    return shutil.which(name, path=search_path())


def fixed_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a program: ours without what makes it run other code."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_DROPPED)}
    return {**kept, "PATH": search_path(environment)}


def own_module(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of ours; its working folder is no place to import from (-P)."""
    return [sys.executable, "-P", "-m", module, *words]


def forget_working_folder() -> None:
    """Take the working folder off the places to import from, where `python -m` has put it there."""
    if not sys.flags.safe_path and sys.path and Path(sys.path[0] or ".").resolve() == Path.cwd():
        home = Path(__file__).resolve().parents[2]
        if Path(sys.path[0] or ".").resolve() != home:
            del sys.path[0]
