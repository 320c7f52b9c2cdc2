"""Other programs that ssdlab starts: where they are looked for, and their environment.

Root, working in another user's folder, must not run code from it: neither a `numpy.py` in the working folder,
nor a program found through a relative or foreign entry of PATH.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Folders in which programs are looked for, whatever PATH says; for root, before those of PATH."""
WORKING_FOLDER = "/"
"""Working folder of every program that is started."""
_DROPPED = "PYTHON"
"""Prefix of the variables that change what a Python program imports."""


def search_path(environment: Mapping[str, str] = os.environ) -> str:
    """Return the folders in which programs are looked for, in the form of PATH.

    They are the system's own and the absolute ones in PATH; for root, only those that nobody else can change.
    """
    given = [entry for entry in environment.get("PATH", "").split(os.pathsep) if entry.startswith("/")]
    system = SYSTEM_PATH.split(os.pathsep)
    if os.geteuid() == 0:
        return os.pathsep.join(dict.fromkeys([*system, *filter(_only_roots, given)]))
    return os.pathsep.join(dict.fromkeys([*given, *system]))


def _only_roots(entry: str) -> bool:
    """Return whether a folder and all its parents belong to root, and others can replace nothing there."""
    real = Path(os.path.realpath(entry))
    try:
        found = [folder.stat() for folder in (real, *real.parents)]
    except OSError:
        return False
    return all(
        each.st_uid == 0 and (not each.st_mode & 0o022 or each.st_mode & stat.S_ISVTX) for each in found
    )


def find_program(name: str) -> str | None:
    return shutil.which(name, path=search_path())


def fixed_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment for a program: ours without variables that make it run other code."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_DROPPED)}
    return {**kept, "PATH": search_path(environment)}


def own_module(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of ssdlab; -P keeps it from importing from the working folder."""
    return [sys.executable, "-P", "-m", module, *words]


def forget_working_folder() -> None:
    """Remove the working folder from `sys.path`, if `python -m` has put it there."""
    if not sys.flags.safe_path and sys.path and Path(sys.path[0] or ".").resolve() == Path.cwd():
        home = Path(__file__).resolve().parents[2]
        if Path(sys.path[0] or ".").resolve() != home:
            del sys.path[0]
