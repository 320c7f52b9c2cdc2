"""A file that was really written, and the native target that holds it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bindings.workloads import MIB
from machine.targets import open_target
from ssdlab import _core


@pytest.fixture
def written_file(scratch: Path) -> Path:
    path = scratch / "target.bin"
    with path.open("wb") as file:
        file.write(os.urandom(16 * MIB))
        os.fsync(file.fileno())
    return path


@pytest.fixture
def target(written_file: Path) -> Iterator[_core.Target]:
    with open_target(written_file, write=True) as target:
        yield target
