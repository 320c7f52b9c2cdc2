"""Fast samples as means over bins, the window of a step, and memory that does not grow."""

from __future__ import annotations

import time

import numpy as np
import pytest

from power.fake_meter import FakeMeter, install
from ssdlab.analysis.energy import PowerTrace
from ssdlab.model.measurement import Measurement
from ssdlab.model.meter_text import MeterText
from ssdlab.power import collecting
from ssdlab.power.collecting import Bins, Collector, halved
from ssdlab.power.meter import MeterInfo
from ssdlab.runs.metering import LiveMetering


@pytest.mark.parametrize("seed", range(10))
def test_bins_are_the_means_of_their_samples_however_they_come(seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(1, 40, 5000))
    watts = random.uniform(0, 9, (5000, 2))
    bins, found = Bins(100), []
    cuts = np.sort(random.integers(0, 5000, 60))
    for part in np.split(np.arange(5000), cuts):
        found.append(bins.put(times[part], watts[part]))
    middles = np.concatenate([each for each, _ in found])
    means = np.concatenate([each for _, each in found])
    numbers = times // 100
    for middle, mean in zip(middles, means, strict=True):
        inside = numbers == middle // 100
        assert mean == pytest.approx(watts[inside].mean(axis=0))
    # All but the last, which may still get samples.
    assert (middles // 100).tolist() == np.unique(numbers)[:-1].tolist()


def test_half_as_many_bins_have_the_same_energy() -> None:
    watts = np.random.default_rng(1).uniform(0, 9, (1000, 3))
    times, means = halved(np.arange(1000) * 10 + 5, watts)
    assert times[:2].tolist() == [10, 30]
    assert means.mean(axis=0) == pytest.approx(watts.mean(axis=0))


def test_a_long_step_takes_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, rate_hz=1000.0)
    monkeypatch.setattr(collecting, "KEPT_HZ", 1000.0)
    monkeypatch.setattr(collecting, "MAX_KEPT", 100)
    with Collector(FakeMeter(MeterText.parse("fake:0"))) as collector:
        began = time.monotonic_ns()
        time.sleep(1)
        trace = collector.trace(began, began + 900_000_000)
    assert len(trace.start_ns) <= 101
    drawn = trace.drawn(began + 100_000_000, began + 800_000_000)
    assert drawn is not None
    assert (drawn.mean_w, drawn.covered) == (pytest.approx(3.0), pytest.approx(1.0, abs=0.05))


class Asked:
    """Stands in for a collector: 5 W in the ramp, 2 W after it."""

    info = MeterInfo("fake:0", "fake", ("a",), 1000.0)
    lost, disordered, died, drift_ppm = 0, 0, None, 0.0

    def trace(self, start_ns: int, end_ns: int) -> PowerTrace:
        times = np.arange(0, 10_000) * 1_000_000 + 500_000
        return PowerTrace.of_points(times, np.where(times < 2_000_000_000, 5.0, 2.0))


def test_the_window_is_that_of_the_throughput_without_the_ramp() -> None:
    measured = Measurement({"started": {"monotonic_ns": 1_000_000_000}, "elapsed_s": 3.0}, lambda: None)
    metering = LiveMetering(Asked())
    with_ramp, warnings = metering.measured(measured, 1_000_000_000)
    assert (with_ramp.as_dict()["power"]["mean_w"], warnings) == (pytest.approx(2.0), [])
    assert with_ramp.as_dict()["power"]["energy_j"] == pytest.approx(6.0)
    without, _ = metering.measured(measured, 0)
    assert without.as_dict()["power"]["mean_w"] == pytest.approx((5 + 2 * 2) / 3)
