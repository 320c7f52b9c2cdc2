"""Energy and highest mean power of a run, from the power samples of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.results.metered import LIMIT_S, drawn
from ssdlab.results.step_log import POWER_SUFFIX, StepPower, power_name, read_power

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.run_folder import Step

_NEARLY = 0.99
"""A step of that part of `LIMIT_S` is as long: its first and last samples may lie across its ends."""


def energy_of(folder: HeldFolder, steps: Iterable[Step]) -> dict[str, JsonValue]:
    """Return energy, metered time and the highest mean over `LIMIT_S` of the steps that count.

    If no step is as long, it is the highest mean of a whole step. Empty without a meter.
    """
    there = {name for name in folder.names() if name.endswith(POWER_SUFFIX)}
    energy_j, metered_s = 0.0, 0.0
    highest = (0.0, 0.0)
    for step in steps:
        for attempt in step.result.segments or (step.attempt,):
            if (name := power_name(step.ordinal, attempt)) not in there:
                continue
            power = read_power(folder, name)
            lengths_s = (power.end_ns - power.start_ns) / 1e9
            energy_j += float((power.watts.sum(axis=1) * lengths_s).sum())
            metered_s += float(lengths_s.sum())
            over = (_over_s(float(lengths_s.sum())), highest_mean_w(power))
            highest = max(highest, over, key=_as_long_as_a_limit)
    if not metered_s:
        return {}
    over_s, highest_w = highest
    return drawn(energy_j, metered_s, highest_w, over_s)


def _over_s(step_s: float) -> float:
    return LIMIT_S if step_s >= LIMIT_S * _NEARLY else round(step_s, 3)


def _as_long_as_a_limit(highest: tuple[float, float]) -> tuple[bool, float]:
    """Compare means over a time: those over less than `LIMIT_S` say nothing of a limit, and come behind."""
    over_s, mean_w = highest
    return over_s >= LIMIT_S, mean_w


def highest_mean_w(power: StepPower, over_s: float = LIMIT_S) -> float:
    """Return the highest mean over a time, in whole samples, or over all if that is higher.

    A step with its peaks at both ends has a higher mean than any ten seconds of it.
    """
    watts = power.watts.sum(axis=1)
    lengths_s = (power.end_ns - power.start_ns) / 1e9
    ends = np.cumsum(lengths_s)
    if not len(ends):
        return 0.0
    energy = np.concatenate([[0.0], np.cumsum(watts * lengths_s)])
    starts = ends - lengths_s
    last = np.searchsorted(ends, starts + over_s * (1 - 1e-9))
    first = np.flatnonzero(last < len(ends))
    last = last[first]
    means = (energy[last + 1] - energy[first]) / (ends[last] - starts[first])
    return float(max(energy[-1] / ends[-1], means.max(initial=0.0)))
