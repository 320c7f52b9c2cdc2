"""A block device that goes away while it is measured."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.drives import open_drive
from ssdlab.drives.base import Drive
from ssdlab.model.errors import DriveError
from ssdlab.model.workload import Mix, Stop, Stream, Workload


@pytest.mark.parametrize("how", ["whole", "file by file"])
@pytest.mark.parametrize(
    "then",
    [
        lambda drive: drive.run(Workload.of(Stream(stop=Stop(ios=1)))),
        lambda drive: drive.run(Workload.of(Stream(ops=Mix(read_pct=0), stop=Stop(ios=1)))),
        lambda drive: drive.trim(0, 1 << 20),
        lambda drive: drive.setting("nomerges").write("2"),
    ],
    ids=["read", "write", "trim", "setting"],
)
def test_pulled_while_idle(loop, tmp_path: Path, how: str, then: Callable[[Drive], object]) -> None:
    """Nothing is in flight: the next thing that is asked of it finds that it is gone, not replaced."""
    device = loop()
    with open_drive(device, writing=True, destroy=device.name) as drive:
        folder = tmp_path / device.name
        if how == "whole":
            folder.symlink_to(tmp_path / "nowhere")
        else:
            folder.mkdir()
        drive._node = folder
        with pytest.raises(DriveError, match=f"{device.name} is gone") as error:
            then(drive)
    assert (error.value.reason, error.value.exit_status) == ("gone", 3)


def test_the_kernel_has_no_such_device_any_more(loop, tmp_path: Path) -> None:
    """Its folder in sysfs goes first: a link stands in, as a device that is held cannot be detached."""
    device = loop()
    with open_drive(device) as drive:
        folder = tmp_path / device.name
        folder.symlink_to(Path("/sys/block") / device.name)
        drive._node = folder
        pulled = threading.Timer(0.3, folder.unlink)
        pulled.start()
        with pytest.raises(DriveError, match=f"{device.name} is gone") as error:
            drive.run(Workload.of(Stream(stop=Stop(time_ns=30 * 10**9))))
        pulled.join()
    assert (error.value.reason, error.value.exit_status) == ("gone", 3)
    assert error.value.measurement is not None and error.value.measurement.summary()["read"]["ios"] > 0
