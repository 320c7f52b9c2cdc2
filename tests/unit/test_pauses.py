"""Whether a process stood still, told from one that found no CPU: by made-up clocks and counts."""

from __future__ import annotations

import random

import pytest

from ssdlab.model.summary import MIN_PAUSE_S, PERIOD_S, Gap, Pause, paused_rows, pauses_in
from ssdlab.model.warnings import judge_pauses

MS = 1_000_000
PERIOD_NS, MIN_PAUSE_NS = round(PERIOD_S * 1e9), round(MIN_PAUSE_S * 1e9)
BEGAN = 5_000_000_000


def gap(late_ms: float, *, ready_ms: float | None = 0.0, stolen_ms: float = 0.0, suspended_ms: float = 0.0):
    due = BEGAN + PERIOD_NS
    ready = None if ready_ms is None else round(ready_ms * MS)
    late, stolen, suspended = (round(each * MS) for each in (late_ms, stolen_ms, suspended_ms))
    return Gap(BEGAN, due, due + late, suspended, ready, stolen)


STARVED = {
    "of a CPU": gap(2000, ready_ms=1999),
    "by a quota of a cgroup": gap(900, ready_ms=899),
    "by the hypervisor": gap(1500, stolen_ms=1490),
    "by both": gap(1000, ready_ms=500, stolen_ms=490),
    "or stopped, where the kernel does not count": gap(3000, ready_ms=None),
    "for a moment": gap(40),
}


@pytest.mark.parametrize("starved", STARVED.values(), ids=list(STARVED))
def test_a_starved_thread_was_not_stopped(starved: Gap) -> None:
    assert pauses_in([starved]) == ()


@pytest.mark.parametrize("ready_ms", [0, 3, 40])
def test_a_stop_is_time_in_which_nothing_was_ready(ready_ms: float) -> None:
    (pause,) = pauses_in([gap(2000, ready_ms=ready_ms)])
    assert pause.length_ns == round((2000 - ready_ms) * MS)
    assert (pause.start_ns, pause.end_ns) == (BEGAN, BEGAN + PERIOD_NS + 2000 * MS)


def test_a_suspend_counts_by_the_clock_that_goes_on() -> None:
    (asleep,) = pauses_in([gap(0, suspended_ms=60_000)])
    assert asleep.length_ns == 60_000 * MS
    (both,) = pauses_in([gap(1000, suspended_ms=4000)])
    assert both.length_ns == 5000 * MS
    (busy,) = pauses_in([gap(1000, ready_ms=1000, suspended_ms=4000)])
    assert busy.length_ns == 4000 * MS


def test_any_stop_of_a_tenth_of_a_second_is_seen_wherever_it_begins() -> None:
    """The sleeper's own sleep hides at most a period of it, and the wait for a CPU afterwards nothing."""
    draw = random.Random(7)
    for _ in range(2000):
        before_ns = draw.randrange(PERIOD_NS)  # of the sleep, when the stop begins
        stop_ns = draw.randrange(100 * MS, 30_000 * MS)
        waited_ns = draw.randrange(400 * MS)
        ended = max(BEGAN + PERIOD_NS, BEGAN + before_ns + stop_ns) + waited_ns
        seen = Gap(BEGAN, BEGAN + PERIOD_NS, ended, 0, waited_ns, 0)
        (pause,) = pauses_in([seen])
        assert stop_ns - PERIOD_NS <= pause.length_ns <= stop_ns
        assert pause.start_ns <= BEGAN + before_ns and pause.end_ns >= BEGAN + before_ns + stop_ns


def test_no_wait_for_a_cpu_is_a_pause_however_long() -> None:
    draw = random.Random(8)
    for _ in range(2000):
        late = draw.uniform(0, 20_000)
        stolen = draw.uniform(0, late)
        uncounted = min(late - stolen, draw.uniform(0, MIN_PAUSE_S * 1e3 - 1))
        starved = gap(late, ready_ms=late - stolen - uncounted, stolen_ms=stolen)
        assert pauses_in([starved]) == ()


def test_rows_are_flagged_that_a_pause_was_in() -> None:
    zero = 100 * MS
    pauses = [Pause(start_ns=zero + 1500 * MS, end_ns=zero + 3200 * MS, length_ns=1700 * MS)]
    rows = [(start * 1000 * MS, (start + 1) * 1000 * MS) for start in range(5)]
    assert paused_rows(pauses, zero, rows) == (False, True, True, True, False)
    assert paused_rows([], zero, rows) == (False,) * 5
    edge = [Pause(start_ns=zero + 1000 * MS, end_ns=zero + 2000 * MS, length_ns=900 * MS)]
    assert paused_rows(edge, zero, rows) == (False, True, False, False, False)


def test_the_warning_says_how_often_how_long_and_when() -> None:
    zero = 10_000 * MS
    stop = Pause(start_ns=zero + 3000 * MS, end_ns=zero + 5000 * MS, length_ns=1950 * MS)
    more = Pause(start_ns=zero + 7000 * MS, end_ns=zero + 7500 * MS, length_ns=450 * MS)
    assert judge_pauses([], zero) == []
    (warning,) = judge_pauses([stop, more], zero)
    assert warning.code == "paused"
    assert warning.facts == {"length_ns": 2400 * MS, "after_ns": 3000 * MS, "count": 2}
    for said in ("2 times", "2.40 s", "3.00 s after"):
        assert said in warning.what
    (early,) = judge_pauses([stop], stop.end_ns)
    assert "once" in early.what and early.facts["after_ns"] < 0
