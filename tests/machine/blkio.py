"""A device of exactly known speed: the throttle of the blkio cgroup, version 1, which also works for zram."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machine import sharing

ROOT = Path("/sys/fs/cgroup/blkio")


def available() -> bool:
    """Whether the controller is mounted and can throttle."""
    return (ROOT / "blkio.throttle.read_iops_device").exists() and os.access(ROOT, os.W_OK)


class Throttle:
    """Limits the processes in a cgroup of its own on one device.

    Parameters
    ----------
    device
        Block device.
    limits
        Any of ``read_iops write_iops read_bps write_bps``.
    """

    def __init__(self, device: Path, **limits: int) -> None:
        sharing.alone("limits a device")
        number = device.stat().st_rdev
        self.device = device
        self.limits = limits
        self._group = ROOT / f"ssdlab-test-{uuid.uuid4().hex[:12]}"
        self._group.mkdir()
        for name, limit in limits.items():
            file = self._group / f"blkio.throttle.{name}_device"
            file.write_text(f"{os.major(number)}:{os.minor(number)} {limit}")

    def run(self, arguments: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """A program under the limits; `options` are those of `subprocess.run`."""
        procs = self._group / "cgroup.procs"
        joined = ["sh", "-c", f'echo $$ > {procs} && exec "$@"', "sh", *arguments]
        return subprocess.run(joined, text=True, capture_output=True, check=False, **options)

    @contextmanager
    def here(self) -> Iterator[None]:
        """This process, with all threads it starts meanwhile, under the limits."""
        before = _group_of_this_process()
        (self._group / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            (before / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self) -> None:
        """Lift the limits; the processes in it must have ended or left."""
        self._group.rmdir()


def _group_of_this_process() -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "blkio" in controllers.split(","):
            return ROOT / path.lstrip("/")
    return ROOT
