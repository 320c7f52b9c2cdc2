"""Every kind of meter beside a real block device whose watts follow its writes, as the kernel counts them.

The device is a zram disk held to a known rate. Its watts are 1 W, and 0.1 W for each MB/s that the kernel
says it writes (/sys/block/NAME/stat), as a mean over the last 0.5 s: five slices of the throttle, which lets
I/O through in bursts. What is true of a window is then known from the bytes that the measurement counted,
while the rate stays the same: a busy host lets slices pass, as `truth/test_known_rate.py` says, and such a
measurement is repeated.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import ssdlab
from machine import blkio
from power.kit import VOLTS, Kit, plugged
from power.servers import Qis, Scpi, serving
from power.trees import chip, host
from ssdlab.drives import look
from ssdlab.power import hwmon, kinds

BASE_W, W_PER_MB_S = 1.0, 0.1
AVERAGED_NS = 500_000_000
SECTOR = 512
ATTEMPTS = 3


class Draw:
    """Watts of a device, from the kernel's count of the sectors that it wrote."""

    def __init__(self, device: Path, tell: Callable[[float], None] = lambda watts: None) -> None:
        self._stat = Path("/sys/block") / device.name / "stat"
        self._tell = tell
        self._counts: deque[tuple[int, int]] = deque(maxlen=200)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while not self._ended.wait(0.005):
            sectors = int(self._stat.read_text().split()[6])
            self._counts.append((time.monotonic_ns(), sectors))
            self._tell(self.watts(self._counts[-1][0]))

    def watts(self, at_ns: float) -> float:
        times, sectors = np.array(list(self._counts), dtype=float).reshape(-1, 2).T
        if not len(times):
            return BASE_W
        at_ns = min(at_ns, times[-1])  # of what comes after the last count nothing is known yet
        early, late = np.interp([at_ns - AVERAGED_NS, at_ns], times, sectors)
        return BASE_W + W_PER_MB_S * float(late - early) * SECTOR / 1e6 / (AVERAGED_NS / 1e9)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


@contextmanager
def metered(kind: str, device: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A meter of a kind that sees the device; gives its text."""
    if kind == "hwmon":
        place = chip(folder, 0, "ina226", power1_input=0) / "power1_input"
        new = folder / "new"

        def tell(watts: float) -> None:
            new.write_text(f"{round(watts * 1e6)}\n")
            new.replace(place)  # as sysfs: whole or not at all

        draw = Draw(device, tell)
        monkeypatch.setattr(hwmon, "HostFiles", lambda: host(folder))
        assert kinds.KINDS[kind][0] == "ssdlab.power.hwmon:HwmonMeter"
        yield "hwmon:ina226"
    elif kind == "ppk2":
        draw = Draw(device)
        with plugged(Kit(draw.watts)) as kit:
            yield f"ppk2:{kit.path}@{VOLTS:g}V"
    else:
        draw = Draw(device)
        server = Scpi(draw.watts) if kind == "scpi" else Qis(draw.watts, period_us=5000)
        with serving(server):
            yield f"{kind}:127.0.0.1:{server.port}"
    draw.end()


@pytest.mark.parametrize("kind", ["hwmon", "scpi", "quarch", "ppk2"])
def test_mean_watts_are_those_of_what_was_written(
    kind: str,
    zram: Path,
    tmp_path: Path,
    throttled: Callable[..., blkio.Throttle],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    throttle = throttled(zram, write_iops=200)
    words = {"rw": "randwrite", "bs": "128k", "threads": 4, "seconds": 5, "ramp": "2s"}
    identity = look(str(zram)).identity
    assert identity is not None
    with metered(kind, zram, tmp_path, monkeypatch) as text, throttle.here():
        for _ in range(ATTEMPTS):
            measured = ssdlab.measure(
                zram, destroy=identity.consent_id, meter=f"{text},accuracy=1%", **words
            ).as_dict()
            power, true_w = measured["power"], BASE_W + W_PER_MB_S * measured["mb_s"]
            assert measured["mb_s"] > 10
            assert power["energy_j"] == pytest.approx(power["mean_w"] * measured["elapsed_s"])
            assert power["error_w"] == pytest.approx(power["mean_w"] * 0.01)
            if power["mean_w"] == pytest.approx(true_w, rel=0.01):
                return
    pytest.fail(f"the meter says {power['mean_w']} W of a device that draws {true_w} W")
