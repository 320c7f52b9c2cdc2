"""The native target of a file or device of a test's own, which nobody swaps meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

from ssdlab import _core


def open_target(path: Path, *, write: bool = False, exclusive: bool = False) -> _core.Target:
    """Open a path and hand it over."""
    access = os.O_RDWR if write else os.O_RDONLY
    descriptor = os.open(path, access | (os.O_EXCL if exclusive else 0))
    try:
        return _core.Target.from_descriptor(descriptor, path=path, write=write, exclusive=exclusive)
    finally:
        os.close(descriptor)
