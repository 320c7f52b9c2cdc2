"""A block device that goes away while it is measured."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ssdlab.drives import open_drive
from ssdlab.model.errors import DriveError
from ssdlab.model.workload import Stop, Stream, Workload


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
