"""Block devices in memory (zram), made for one test and removed after it."""

from __future__ import annotations

import time
from pathlib import Path

from machine import sharing

CONTROL = Path("/sys/class/zram-control")


def available() -> bool:
    """Whether the kernel can make zram devices."""
    return CONTROL.exists()


def add(size_bytes: int) -> Path:
    """A new device of that size; blocks never written cost no memory."""
    sharing.alone("makes a zram device")
    number = int((CONTROL / "hot_add").read_text())
    Path(f"/sys/block/zram{number}/disksize").write_text(str(size_bytes))
    return Path(f"/dev/zram{number}")


def remove(device: Path) -> None:
    """Forget the data and take the device away; waits a moment for the last user to close it."""
    reset = Path(f"/sys/block/{device.name}/reset")
    deadline = time.monotonic() + 5
    while True:
        try:
            reset.write_text("1")
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    (CONTROL / "hot_remove").write_text(device.name.removeprefix("zram"))
