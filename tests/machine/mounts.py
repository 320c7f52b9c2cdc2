"""Which file system a path lies on, and what it can do."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def file_system_type(path: Path) -> str | None:
    """Type of the file system under `path` as the kernel names it; None if the path does not exist."""
    if not path.exists():
        return None
    wanted = path.stat().st_dev
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        mount_point = before.split()[4].encode().decode("unicode_escape")
        try:
            if Path(mount_point).stat().st_dev == wanted:
                return after.split()[0]
        except OSError:
            continue
    return None


def takes_direct_io(folder: Path) -> bool:
    """Whether a file made there can be opened past the page cache."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as made:
            os.close(os.open(made.name, os.O_RDWR | os.O_DIRECT))
    except OSError:
        return False
    return True
