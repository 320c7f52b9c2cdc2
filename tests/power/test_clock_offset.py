"""Clock offsets that were planted are found, from load steps in a noisy trace with other load between."""

from __future__ import annotations

import numpy as np
import pytest

from ssdlab.analysis.clock_offset import Alignment, Marks, NotFound, aligned, plan_steps
from ssdlab.analysis.energy import PowerTrace

S = 1_000_000_000
BASE_W, LOAD_W = 1.0, 3.0


def marks(seed: int, start_s: float, unit_s: float) -> Marks:
    on, at = [], start_s
    for length, rest in plan_steps(seed, unit_s=unit_s):
        on.append((round(at * S), round((at + length) * S)))
        at += length + rest
    return Marks(tuple(on))


def planted(
    seed: int, offset_s: float, ppm: float, hz: float, minutes: float = 30, noise_w: float = 0.2
) -> tuple[PowerTrace, tuple[Marks, Marks], float]:
    """A trace on a clock that is off by that much; marks; and a function of the error of an alignment."""
    random = np.random.default_rng(seed)
    unit_s = max(0.5, 2 / hz)
    ends = marks(1, 2, unit_s), marks(2, 60 * minutes, unit_s)
    loads = [(*span, LOAD_W) for end in ends for span in end.on_ns]
    at = ends[0].end_ns + 5 * S
    while at < ends[1].start_ns - 10 * S:
        until = min(at + round(random.uniform(1, 60) * S), ends[1].start_ns - 5 * S)
        loads.append((at, until, random.uniform(1, 4)))
        at = until + round(random.uniform(0.5, 20) * S)
    loads.sort()
    times = np.array([edge for begin, end, _ in loads for edge in (begin, end)], dtype=float)
    drawn = np.cumsum([0.0, *(part for a, b, w in loads for part in (w * (b - a), 0.0))][:-1])
    period = S / hz
    edges = np.arange(-2 * S, ends[1].end_ns + 5 * S, period) + random.uniform(0, period)
    means = np.diff(np.interp(edges, times, drawn)) / period
    watts = BASE_W + means + random.normal(0, noise_w, len(means))
    truth = (edges[:-1] + edges[1:]) / 2
    meter = (truth - offset_s * S) / (1 + ppm / 1e6)
    trace = PowerTrace.of_points(np.rint(meter).astype(np.int64), watts)
    return trace, ends, truth


def worst_error_s(found: Alignment, offset_s: float, ppm: float, ends: tuple[Marks, Marks]) -> float:
    truth = np.linspace(ends[0].start_ns, ends[1].end_ns, 1000)
    meter = (truth - offset_s * S) / (1 + ppm / 1e6)
    return float(np.abs(found.times(meter) - truth).max()) / S


@pytest.mark.parametrize("seed", range(12))
def test_offsets_to_30_s_and_100_ppm_are_found_to_20_ms_at_100_hz(seed: int) -> None:
    random = np.random.default_rng(seed)
    offset_s, ppm = random.uniform(0, 30), random.choice([-100.0, 100.0])
    trace, ends, _ = planted(seed, offset_s, ppm, 100)
    found = aligned(trace, ends)
    assert worst_error_s(found, offset_s, ppm, ends) < 0.020
    assert found.drift_ppm == pytest.approx(ppm, abs=5)
    assert found.bound_ns == 20_000_000


@pytest.mark.parametrize("hz", [1, 4, 10, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_that_is_printed_holds_at_other_rates(hz: float, seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    offset_s, ppm = random.uniform(-30, 30), random.uniform(-100, 100)
    trace, ends, _ = planted(seed, offset_s, ppm, hz, minutes=12 if hz == 1000 else 60)
    found = aligned(trace, ends)
    assert worst_error_s(found, offset_s, ppm, ends) * S < found.bound_ns
    assert found.bound_ns == max(S // hz, 20_000_000) or found.bound_ns == pytest.approx(S / hz, rel=1e-3)


def test_a_trace_without_the_steps_is_not_aligned() -> None:
    trace, _, _ = planted(1, 0.0, 0.0, 100, minutes=5)
    with pytest.raises(NotFound, match="load steps are not found in it"):
        aligned(trace, (marks(77, 100, 0.5),))


def test_steps_that_are_there_twice_are_not_guessed_at() -> None:
    trace, ends, _ = planted(1, 0.0, 0.0, 100, minutes=3)
    shift = int(trace.end_ns[-1]) - int(trace.start_ns[0])
    twice = PowerTrace(
        np.concatenate([trace.start_ns, trace.start_ns + shift]),
        np.concatenate([trace.end_ns, trace.end_ns + shift]),
        np.concatenate([trace.watts, trace.watts]),
    )
    with pytest.raises(NotFound):
        aligned(twice, ends)


def test_a_trace_that_is_too_short_is_refused() -> None:
    trace = PowerTrace.of_points(np.arange(100) * 10_000_000, np.ones(100))
    with pytest.raises(NotFound, match="shorter"):
        aligned(trace, (marks(1, 0, 0.5),))


@pytest.mark.parametrize("hz", [1, 10, 100])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("step_w", [0.0, 1e-3])
def test_a_recording_in_which_nothing_moves_does_not_hold_the_steps(
    hz: int, both: bool, step_w: float
) -> None:
    """A recorder on another supply, or a frozen export: no correlation is to be had, not even elsewhere."""
    times = (np.arange(600 * hz) * S // hz).astype(np.int64)
    random = np.random.default_rng(1)
    trace = PowerTrace.of_points(times, 3.5 + step_w * random.integers(0, 2, len(times)))
    ends = (marks(1, 2, 0.5), marks(2, 300, 0.5))
    with pytest.raises(NotFound, match="load steps are not found in it"):
        aligned(trace, ends if both else ends[:1])


def test_both_ends_at_one_place_are_not_the_ends_of_a_run() -> None:
    trace, ends, _ = planted(1, 0.0, 0.0, 100, minutes=3)
    with pytest.raises(NotFound, match="one after the other"):
        aligned(trace, (ends[0], ends[0]))
