"""What watching costs: processor time of the sampler's thread, by the kernel's account of that thread."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from machine.fake_drive import patched
from ssdlab.drives.admin.port import NvmeReply
from ssdlab.drives.telemetry.of_device import NvmeLogs
from ssdlab.drives.telemetry.sampler import HostTelemetry
from ssdlab.drives.telemetry.sources import HostCpu, KernelLog, Link

MAX_SHARE = 0.005
"""Of one core, at one sample a second: the bound that is promised."""


class Drive:
    """Answers the SMART log at once: what the ioctl itself takes is the kernel's."""

    def __init__(self) -> None:
        self.page = patched("nvme-health.bin", {})

    def nvme(self, opcode: int, **_: object) -> NvmeReply:
        return NvmeReply(0, 0, self.page)


def test_a_sample_costs_a_two_hundredth_of_a_core(tmp_path: Path) -> None:
    """CPU time for each sample: at one a second that is the share. Many samples, so that none counts much."""
    (tmp_path / "kmsg").write_text("")
    sources = [NvmeLogs(Drive()), HostCpu(), Link(tmp_path, "pcie"), KernelLog(tmp_path / "kmsg", ("nvme0",))]
    watch = HostTelemetry(sources, period_s=0.01).begin()
    (thread,) = (each for each in threading.enumerate() if each.name == "telemetry")
    end = time.monotonic() + 60
    while len(watch._samples) < 100 and time.monotonic() < end:
        time.sleep(0.05)
    used = float(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().split()[0]) / 1e9
    samples, _ = watch.end(None)
    assert len(samples) >= 100
    assert used / len(samples) < MAX_SHARE
    print(f"{1e3 * used / len(samples):.3f} ms of CPU for each sample")
