"""The guest: booted once for all tests of this folder that do not break it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ssdlab
from guest.image import NoKernel
from guest.machine import Guest

_NEEDED = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}


_PATIENCE_S = 900
"""A command of a second takes minutes under emulation, and beside other work."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "guest" in item.path.parts:
            item.add_marker("guest")
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(_PATIENCE_S))


@pytest.fixture(scope="session")
def boot() -> Iterator[Callable[..., Guest]]:
    """Boots a virtual machine: ``boot(disk_bytes=64 << 20) -> Guest``; ended afterwards."""
    for program, package in _NEEDED.items():
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (apt install {package})")
    # The guest cannot keep bytecode: each of its processes would compile again what was edited meanwhile.
    package = str(Path(ssdlab.__file__).parent)
    subprocess.run([sys.executable, "-m", "compileall", "-q", package], check=False, capture_output=True)
    running: list[Guest] = []
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="ssdlab-guest-", dir=memory if os.access(memory, os.W_OK) else None
    ) as made:

        def start(**options: int) -> Guest:
            try:
                running.append(Guest(Path(tempfile.mkdtemp(dir=made)), **options))
            except NoKernel as error:
                pytest.skip(str(error))
            return running[-1]

        yield start
        for guest in running:
            guest.__exit__()


@pytest.fixture(scope="session")
def guest(boot: Callable[..., Guest]) -> Guest:
    """The machine that all tests share; each leaves its disks as it found them, or writes them first."""
    return boot()
