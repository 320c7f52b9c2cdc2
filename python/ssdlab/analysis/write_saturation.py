"""When a write saturation test ends: at a written amount, at a time limit, or at steady state.

The standard's limits are four times the capacity and six hours. The load continues without a pause, and a
record is taken each minute. Steady state is judged by samples. A cycle is half an hour of load and one more
minute, and the record of that minute is the sample. Five samples in a row must pass SNIA's rule, so the
earliest steady state is after five cycles, or 155 minutes. The test ends with the first record at whose end
one of the three conditions holds.

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


@dataclass(frozen=True)
class StopRule:
    """Conditions that end the test.

    Attributes
    ----------
    written_bytes
        Bytes written that end the test.
    records
        Number of records that end the test.
    cycle
        Records of one cycle; the last one is the sample.
    steady
        Whether steady state ends the test.
    """

    written_bytes: int
    records: int
    cycle: int
    steady: bool = True


@dataclass(frozen=True)
class Ended:
    """Why the test ended, and the number of records until then."""

    reason: Reason
    records: int


def samples(iops: Sequence[float], rule: StopRule) -> list[float]:
    """Return the last record of each whole cycle, within the records of the test."""
    return list(iops[rule.cycle - 1 : rule.records : rule.cycle])


def ended(iops: Sequence[float], written_bytes: Sequence[int], rule: StopRule) -> Ended | None:
    """Find the first record with which the test ends.

    If several reasons hold at that record, the order is steady state, written amount, time.

    Parameters
    ----------
    iops, written_bytes
        Values of each record so far; records after the end are ignored.
    rule
        Conditions that end the test.

    Returns
    -------
    Ended or None
        None while the test continues.
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
