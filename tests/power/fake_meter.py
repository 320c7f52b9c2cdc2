"""A meter whose watts are known: a function of time; it can lose samples and go away."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ssdlab.model.meter_text import MeterText
from ssdlab.power import kinds
from ssdlab.power.meter import MeterInfo, Samples, chosen_rails, silent

PLACE = "power.fake_meter:FakeMeter"


class FakeMeter:
    """``fake:``; the class says what it does.

    Its samples lie on a grid whatever the host does meanwhile: who asks late gets several.
    """

    watts: Callable[[int], float] = staticmethod(lambda at: 3.0)
    rails = ("a", "b")
    rate_hz = 100.0
    bound_ns = 0
    answers = 10**9
    lost = 0
    drift_ppm = 0.0
    lacks = range(0)
    """Numbers of samples that it does not give."""
    late = range(0)
    """Numbers of samples that it dates 50 ms too early."""

    def __init__(self, text: MeterText) -> None:
        chosen_rails(text, self.rails)
        info = MeterInfo(text.use, "fake", self.rails, self.rate_hz, bound_ns=self.bound_ns)
        self.info = info.as_described(text)
        self.began = time.monotonic_ns()
        self.given = 0
        self.closed = False

    def read(self, timeout_s: float) -> Samples:
        period_ns = round(1e9 / self.rate_hz)
        due = (time.monotonic_ns() - self.began) // period_ns + 1
        if due > self.answers:
            raise silent(self.info.use, "connection reset")
        numbers = [number for number in range(self.given, due) if number not in self.lacks]
        self.given = due
        times = np.array([self.began + number * period_ns for number in numbers], dtype=np.int64)
        times -= np.array([50_000_000 * (number in self.late) for number in numbers], dtype=np.int64)
        watts = np.array([type(self).watts(int(at)) for at in times])
        lost, type(self).lost = type(self).lost, 0
        return Samples(times, np.stack([watts / 3, watts * 2 / 3], axis=1), lost)

    def close(self) -> None:
        self.closed = True


def install(monkeypatch, **says) -> None:
    """Make ``fake:`` a kind of meter."""
    monkeypatch.setitem(kinds.KINDS, "fake", (PLACE, "for tests"))
    for name, value in says.items():
        monkeypatch.setattr(FakeMeter, name, staticmethod(value) if name == "watts" else value)
