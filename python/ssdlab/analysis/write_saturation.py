"""When a write saturation test ends: the drive written four times over, six hours, or steady state.

The load continues without a pause and a record is taken each minute. Steady state is judged by samples: each
cycle is half an hour of load and the minute after it, and that minute is the sample; five of them in a row
have to pass SNIA's rule, so that it cannot be said before five cycles, 155 minutes, are over. The test ends
with the first record by whose end one of the three holds.

Source: SNIA SSS PTS 2.0.2, section 10; the cycle as open implementations of 2.0 have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ssdlab.analysis.steady_state import WINDOW, first_steady

Reason = Literal["steady", "capacity", "time"]
REASONS: dict[Reason, str] = {
    "steady": "steady state",
    "capacity": "what was written",
    "time": "the time limit",
}
"""Each in words."""


@dataclass(frozen=True)
class StopRule:
    """What ends the test.

    Attributes
    ----------
    written_bytes
        So much written.
    records
        So many records taken.
    cycle
        Records of one cycle, the last of which is the sample.
    steady
        Whether steady state ends it.
    """

    written_bytes: int
    records: int
    cycle: int
    steady: bool = True


@dataclass(frozen=True)
class Ended:
    """Why the test ended, and with which record: the number of records until then."""

    reason: Reason
    records: int


def samples(iops: Sequence[float], rule: StopRule) -> list[float]:
    """Return the last record of each whole cycle, as far as the test goes."""
    return list(iops[rule.cycle - 1 : rule.records : rule.cycle])


def ended(iops: Sequence[float], written_bytes: Sequence[int], rule: StopRule) -> Ended | None:
    """Find the first record with which the test ends; of several reasons at once the foremost is named.

    Parameters
    ----------
    iops, written_bytes
        Of each record so far; what came after the end is of no account.
    rule
        What ends it.

    Returns
    -------
    Ended or None
        None while it goes on.
    """
    found: list[Ended] = []
    first = first_steady([samples(iops, rule)]) if rule.steady else None
    if first is not None:
        found.append(Ended("steady", (first + WINDOW) * rule.cycle))
    total = 0
    for number, each in enumerate(written_bytes, 1):
        total += each
        if total >= rule.written_bytes:
            found.append(Ended("capacity", number))
            break
    if len(iops) >= rule.records:
        found.append(Ended("time", rule.records))
    return min(found, key=lambda each: each.records, default=None)
