"""The time left of a simulation on a host that does much else: held by a clock that runs as told."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from ssdlab.lab.verbs.steps import Request
from ssdlab.lab.verbs.verb import Bounds
from ssdlab.lab.verbs.workload import Run
from ssdlab.model.workload import Stop, Stream, Workload
from ssdlab.results.progress import Progress
from ssdlab.runs import time_left
from ssdlab.runs.plan import Plan, PlannedStep, planned_step
from ssdlab.runs.time_left import MORE_BUSY, HostTime
from ssdlab.runs.tracking import Tracker

DRIVE_S = 100.0
LOOKS = 100


@dataclass
class Clocks:
    """The host's clock, and the processor time that it gave us."""

    wall: float = 0.0
    cpu: float = 0.0

    def work(self, cpu: float, share: float) -> None:
        self.cpu += cpu
        self.wall += cpu / share


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    found = Clocks()
    monkeypatch.setattr(time_left.time, "monotonic", lambda: found.wall)
    monkeypatch.setattr(time_left.time, "process_time", lambda: found.cpu)
    monkeypatch.setattr(time_left.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    return found


class Seen:
    def __init__(self) -> None:
        self.last: Progress | None = None

    def began(self, progress: Progress) -> None:
        self.last = progress

    tick = began

    def finished(self, step: object, progress: Progress, *, read_back: bool) -> None:
        pass

    def ended(self, status: object) -> None:
        pass


def one_step() -> tuple[Request, PlannedStep]:
    stream = Stream(ops="read", block=4096, stop=Stop(time_ns=int(DRIVE_S * 1e9)))
    request = Request(0, "reads", Run(workload=Workload.of(stream)), "restart")
    return request, planned_step(request)


def looks(clocks: Clocks, share_of: list[float], cpu_s: float) -> list[bool]:
    """Whether each look from a tenth on held the end of a step of even work under such shares of the host."""
    request, planned = one_step()
    seen = Seen()
    tracker = Tracker(Plan((planned,), keeps_time=True), [seen])
    tracker.began(request)
    noted = []
    for at, share in enumerate(share_of, 1):
        clocks.work(cpu_s / len(share_of), share)
        done = at / len(share_of)
        tracker.tick(
            SimpleNamespace(latest=None, phase="measuring", bytes=0, failed=0, elapsed_ns=done * 1e11)
        )
        assert seen.last is not None
        noted.append((clocks.wall, seen.last.remaining_least_s, seen.last.remaining_most_s))
    end = clocks.wall
    return [least <= end - now <= most for now, least, most in noted if now >= end / 10]


@pytest.mark.parametrize("share", [1.0, 0.3, 0.05, 0.02])
@pytest.mark.parametrize("cpu_s", [2.0, 20.0, 500.0])
def test_the_end_is_held_whatever_share_of_a_processor_there_is(
    clocks: Clocks, share: float, cpu_s: float
) -> None:
    """A plan's bounds are of a host that is busy three times over; the rest is what was seen."""
    held = looks(clocks, [share] * LOOKS, cpu_s)
    assert sum(held) >= 0.9 * len(held)


def test_the_end_is_held_while_the_load_comes_and_goes(clocks: Clocks) -> None:
    draw = random.Random(3)
    held: list[bool] = []
    for _ in range(50):
        clocks.wall = clocks.cpu = 0.0
        pieces = [draw.choice([1.0, 0.5, 0.2, 0.1, 0.05]) for _ in range(20)]
        held += looks(clocks, [share for share in pieces for _ in range(5)], 20.0)
    assert sum(held) >= 0.9 * len(held)


def test_a_host_is_told_by_what_it_gave_of_late_and_in_all(clocks: Clocks) -> None:
    host = HostTime()
    assert host.stretch == Bounds(1.0, 1.0)
    upper = []
    for share in (1.0, 0.1, 1.0):
        for _ in range(40):
            clocks.work(0.5 * share, share)
            host.look()
        upper.append(host.stretch.upper)
    assert host.stretch.lower == 1.0
    assert host.usual == pytest.approx(60 / 42, rel=0.01)
    assert upper == pytest.approx([MORE_BUSY, 10 * MORE_BUSY, 60 / 42 * MORE_BUSY], rel=0.01)


def test_before_anything_is_seen_the_queue_of_the_host_speaks(
    clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_left.os, "getloadavg", lambda: (60.0, 1.0, 1.0))
    monkeypatch.setattr(time_left.os, "sched_getaffinity", lambda _: {0, 1})
    assert HostTime().stretch == Bounds(1.0, 10.0)


def test_what_others_did_meanwhile_is_no_work_of_ours(clocks: Clocks) -> None:
    host = HostTime()
    clocks.work(1.0, 1.0)
    host.look()
    host.pause()
    clocks.wall += 100.0
    host.look()
    clocks.work(1.0, 1.0)
    host.look()
    assert host.usual == pytest.approx(1.0)
