"""A held block device stays the one that was judged, and nothing comes to stand on it unseen."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.drives import look, open_drive
from ssdlab.drives.admin.port import KernelPort
from ssdlab.drives.guard.signatures import Signature, read_signatures
from ssdlab.model.errors import DriveError, Refused
from ssdlab.model.workload import Workload


def on(device: Path) -> tuple[Signature, ...]:
    """What lies on a device."""
    return read_signatures(device, KernelPort(device))


def writes(**stop: int) -> Workload:
    stream = {"name": "w", "ops": {"read_pct": 0}, "block": [{"bytes": 4096}], "stop": stop}
    return Workload.model_validate({"streams": [{**stream, "span": {"start": 1 << 20, "length": 1 << 20}}]})


def test_signatures_are_wiped_before_the_first_write_and_not_earlier(
    loop: Callable[..., Path], need_tool: Callable[[str], str]
) -> None:
    device = loop()
    subprocess.run([need_tool("mkfs.ext4"), "-q", str(device)], check=True)
    with open_drive(device, writing=True, destroy=device.name, wipe_signatures=True) as drive:
        assert [found.kind for found in on(device)] == ["ext4"]
        drive.run(writes(ios=1))
        assert on(device) == ()
    assert look(device, destroy=device.name).writing is None


def test_what_came_to_stand_on_a_held_device_stops_the_next_write(
    loop: Callable[..., Path], need_tool: Callable[[str], str]
) -> None:
    device = loop()
    with open_drive(device, writing=True, destroy=device.name) as drive:
        drive.run(writes(ios=1))
        command = [need_tool("losetup"), "--find", "--show", str(device)]
        upper = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        try:
            with pytest.raises(Refused, match=f"loop device {Path(upper).name} is attached to it"):
                drive.run(writes(ios=1))
        finally:
            subprocess.run(["losetup", "--detach", upper], check=True)
        drive.run(writes(ios=1))


def test_another_device_under_the_same_name_is_not_written(loop: Callable[..., Path], scratch: Path) -> None:
    device, other = loop(), loop()
    node = scratch / "node"
    os.mknod(node, 0o600 | stat.S_IFBLK, device.stat().st_rdev)
    with open_drive(node, writing=True, destroy=device.name) as drive:
        node.unlink()
        os.mknod(node, 0o600 | stat.S_IFBLK, other.stat().st_rdev)
        with pytest.raises(Refused) as caught:
            drive.run(writes(ios=1))
    assert caught.value.facts["reason"] == "replaced"
    assert not any(other.read_bytes())


def test_a_drive_that_becomes_another_in_mid_run_stops_the_run(
    loop: Callable[..., Path], need_tool: Callable[[str], str]
) -> None:
    """A loop device whose file has grown, as a drive that comes back from a reset with another size."""
    device = loop()
    backing = Path(f"/sys/block/{device.name}/loop/backing_file").read_text().strip()
    grown = []

    def grow(_: object) -> None:
        if not grown:
            grown.append(os.truncate(backing, 80 << 20))
            subprocess.run([need_tool("losetup"), "--set-capacity", str(device)], check=True)

    with (
        open_drive(device, writing=True, destroy=device.name) as drive,
        pytest.raises(DriveError) as caught,
    ):
        drive.run(writes(time_ns=20 * 10**9), on_tick=grow)
    assert caught.value.facts["reason"] == "changed"
    assert f"its capacity_bytes is {80 << 20}, was {64 << 20}" in caught.value.what
    assert caught.value.measurement is not None
    assert caught.value.measurement.summary()["elapsed_s"] < 10
