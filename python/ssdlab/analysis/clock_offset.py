"""Offset between a power meter's clock and the run's clock, found by load steps: pure.

The tool issues pseudo-random load steps at both ends of a run, and records when each began and ended. The
meter's trace holds the same steps at other times. The cross-correlation of both is greatest at the offset.
The offsets of the two ends give the drift. Method: matched filter with a two-level pseudo-random sequence,
whose autocorrelation has one peak (Golomb, Shift Register Sequences, 1967).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.analysis.energy import Array, PowerTrace


MIN_CORRELATION = 0.6
"""Minimum correlation of marks and trace at the offset. It is 1 if the marks are the only load; noise alone
stays under 0.4."""
MIN_LEAD = 1.15
"""Minimum ratio of the peak to the next peak elsewhere; below it, two offsets fit equally well."""
MAX_DRIFT = 1e-3
"""1000 ppm, ten times the drift of a cheap quartz. With more, one of the two ends was not found correctly."""
_UNKNOWN_DRIFT = 1e-4
"""Assumed bound of the drift if only one end has marks: 100 ppm, as cheap quartzes have."""
_BOUND_PERIODS = 1.0
"""Error bound in periods of the meter. Planted offsets are found to a fifth of a period at 10 Hz and
below."""
_MIN_BOUND_NS = 20_000_000
"""Minimum error bound. Offsets are found to 3 ms at 100 Hz, but the load itself begins and ends some ms
late."""
_STEPS_A_PERIOD = 8
"""Steps of the fine search in a period of the meter; a parabola through the best three values refines it."""


class NotFound(ValueError):
    """The marks are not in the trace, or they fit at more than one place."""


@dataclass(frozen=True)
class Marks:
    """Load steps at one end of a run: start and end of each period with load, in ns of the run's clock."""

    on_ns: tuple[tuple[int, int], ...]

    @property
    def start_ns(self) -> int:
        return self.on_ns[0][0]

    @property
    def end_ns(self) -> int:
        return self.on_ns[-1][1]


def plan_steps(seed: int, *, unit_s: float = 0.5, count: int = 16) -> tuple[tuple[float, float], ...]:
    """Return `count` load steps: length of the load and of the pause after it, each of 1 to 3 units, in s.

    A unit must be at least two periods of the meter: 0.5 s suffices for 4 Hz and more.
    """
    draw = random.Random(seed)
    return tuple((unit_s * draw.randint(1, 3), unit_s * draw.randint(1, 3)) for _ in range(count))


@dataclass(frozen=True)
class Alignment:
    """From a meter's clock to the run's: ``run = meter + offset + drift x (meter - pivot)``.

    Attributes
    ----------
    offset_ns
        Offset at `pivot_ns`.
    drift_ppm
        How much faster the run's clock runs.
    bound_ns
        Maximum error of a converted time.
    pivot_ns
        Time on the meter's clock for which the offset holds.
    correlation
        The lower correlation of both ends.
    """

    offset_ns: int
    drift_ppm: float
    bound_ns: int
    pivot_ns: int
    correlation: float

    def times(self, meter_ns: Array) -> Array:
        """Convert times of the meter's clock to times of the run's clock, in ns."""
        passed = np.asarray(meter_ns, dtype=np.int64) - self.pivot_ns
        drifted: Array = np.rint(passed * (1 + self.drift_ppm / 1e6)).astype(np.int64)
        return drifted + self.pivot_ns + self.offset_ns


def aligned(trace: PowerTrace, ends: Sequence[Marks]) -> Alignment:
    """Return how the clock of a trace fits the marks of one end of a run, or of both ends.

    Raises
    ------
    NotFound
        The marks do not fit, or they fit at more than one place.
    """
    found = [_end(trace, marks) for marks in ends]
    offsets = [offset for offset, _ in found]
    pivots = [
        (marks.start_ns + marks.end_ns) // 2 - offset for marks, offset in zip(ends, offsets, strict=True)
    ]
    period_ns = float(np.median(trace.end_ns - trace.start_ns))
    drift = 0.0
    if len(found) == 2:
        if pivots[1] <= pivots[0]:
            raise NotFound("the load steps of both ends are not in it one after the other")
        drift = (offsets[1] - offsets[0]) / (pivots[1] - pivots[0])
        if abs(drift) > MAX_DRIFT:
            raise NotFound(
                f"the two ends are {abs(offsets[1] - offsets[0]) / 1e9:.3g} s apart: no clock drifts so"
            )
    bound = max(period_ns * _BOUND_PERIODS, _MIN_BOUND_NS)
    if len(found) == 1:
        bound += _UNKNOWN_DRIFT * float(trace.end_ns[-1] - trace.start_ns[0])
    return Alignment(offsets[0], drift * 1e6, round(bound), pivots[0], min(fit for _, fit in found))


def _end(trace: PowerTrace, marks: Marks) -> tuple[int, float]:
    """Return the offset in ns and the correlation for the marks of one end."""
    period_ns = max(int(np.median(trace.end_ns - trace.start_ns)), 1)
    coarse_ns = max(period_ns, 10_000_000)
    power = _Sampled(trace)
    coarse, fit, elsewhere = _coarse(power, marks, coarse_ns)
    if fit < MIN_CORRELATION or fit < MIN_LEAD * elsewhere:
        raise NotFound(
            f"the load steps are not found in it: they fit to {fit:.2f}, and to {elsewhere:.2f} elsewhere"
        )
    step_ns = max(coarse_ns // _STEPS_A_PERIOD, 1)
    near = np.arange(-2 * _STEPS_A_PERIOD, 2 * _STEPS_A_PERIOD + 1) * step_ns + coarse
    fits = np.array([_fit(power, marks, int(offset), period_ns) for offset in near])
    at = int(np.argmax(fits))
    return round(near[at] + _vertex(fits, at) * step_ns), float(fits[at])


class _Sampled:
    """Cumulative energy of a trace, so that the mean power of any window takes two look-ups."""

    def __init__(self, trace: PowerTrace) -> None:
        widths = trace.end_ns - trace.start_ns
        self.edges = np.concatenate([trace.start_ns[:1], trace.end_ns])
        self.energy = np.concatenate([[0.0], np.cumsum(trace.watts.sum(axis=1) * widths)])

    def means(self, edges: Array) -> Array:
        means: Array = np.diff(np.interp(edges, self.edges, self.energy)) / np.diff(edges)
        return means


def _load(marks: Marks, edges: Array) -> Array:
    """Return the share of each window during which load was on."""
    on, off = np.array(marks.on_ns, dtype=np.float64).T
    times = np.stack([on, off], axis=1).ravel()
    passed = np.concatenate([[0.0], np.cumsum(np.stack([off - on, np.zeros(len(on))], axis=1).ravel()[:-1])])
    on_so_far = np.interp(edges, times, passed, right=float((off - on).sum()))
    share: Array = np.diff(on_so_far) / np.diff(edges)
    return share


def _coarse(power: _Sampled, marks: Marks, step_ns: int) -> tuple[int, float, float]:
    """Return the best offset on a grid, its correlation, and the best correlation away from it."""
    lead_ns = step_ns * 4
    pattern_edges = np.arange(marks.start_ns - lead_ns, marks.end_ns + lead_ns, step_ns)
    pattern = _load(marks, pattern_edges.astype(np.float64))
    edges = np.arange(power.edges[0], power.edges[-1] + 1, step_ns)
    watts = power.means(edges.astype(np.float64))
    if len(watts) < len(pattern):
        raise NotFound("it is shorter than the load steps")
    fits = _correlations(watts, pattern)
    best = int(np.argmax(fits))
    apart = max(int(min(off - on for on, off in marks.on_ns) // step_ns), 2)
    elsewhere = np.concatenate([fits[: max(best - apart, 0)], fits[best + apart + 1 :]])
    offset = int(pattern_edges[0]) - int(edges[best])
    return offset, float(fits[best]), float(elsewhere.max(initial=0.0))


def _correlations(watts: Array, pattern: Array) -> Array:
    """Return the correlation coefficient of a pattern with each stretch of a series, by FFT."""
    length, size = len(pattern), len(watts)
    shape = pattern - pattern.mean()
    levelled = watts - watts.mean()
    padded = 1 << (size + length - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(levelled, padded) * np.conj(np.fft.rfft(shape, padded)), padded)
    sums = np.concatenate([[0.0], np.cumsum(levelled)])
    squares = np.concatenate([[0.0], np.cumsum(levelled**2)])
    count = size - length + 1
    mean = (sums[length:] - sums[:count]) / length
    variance = np.maximum((squares[length:] - squares[:count]) / length - mean**2, 0.0)
    scale = np.sqrt(variance) * float(np.sqrt((shape**2).sum() * length))
    floor = 1e-9 * max(float(np.sqrt((shape**2).sum() * length)), 1e-9)
    return np.where(scale > floor, product[:count] / np.maximum(scale, floor), 0.0)


def _fit(power: _Sampled, marks: Marks, offset_ns: int, window_ns: int) -> float:
    """Return the correlation at one offset, over windows of one meter period."""
    edges = np.arange(marks.start_ns - 4 * window_ns, marks.end_ns + 4 * window_ns, window_ns).astype(
        np.float64
    )
    watts = power.means(edges - offset_ns)
    pattern = _load(marks, edges)
    if not watts.std() or not pattern.std():
        return 0.0
    return float(np.corrcoef(watts, pattern)[0, 1])


def _vertex(fits: Array, at: int) -> float:
    """Return the peak of a parabola through a value and its two neighbours, in steps from that value."""
    if not 0 < at < len(fits) - 1:
        return 0.0
    left, middle, right = fits[at - 1 : at + 2]
    bend = left - 2 * middle + right
    return 0.0 if bend >= 0 else float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5))
