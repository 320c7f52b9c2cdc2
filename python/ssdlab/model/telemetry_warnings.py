"""What of a drive's telemetry makes figures mean less than they seem to: warnings of the catalogue."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ssdlab.model.warnings import Warning

if TYPE_CHECKING:
    from ssdlab.model.telemetry import Mark, StepTelemetry

_NAMED = 3
"""So many marks of one kind are told in full; the others are counted."""


def judge_telemetry(telemetry: StepTelemetry | None, known: Collection[str] = ()) -> list[Warning]:
    """Return a warning for each kind of mark.

    Parameters
    ----------
    telemetry
        Of one step; None of a drive that tells nothing.
    known
        Codes that were raised already, by what the measurement itself holds.
    """
    return [] if telemetry is None else [each for each in _judged(telemetry) if each.code not in known]


def _judged(telemetry: StepTelemetry) -> Iterator[Warning]:
    for code in dict.fromkeys(mark.code for mark in telemetry.marks):
        marks = [mark for mark in telemetry.marks if mark.code == code]
        yield _throttled(telemetry, marks) if code == "throttled" else Warning.of(code, what=_words(marks))


def _words(marks: list[Mark]) -> str:
    more = len(marks) - _NAMED
    named = "; ".join(mark.what for mark in marks[:_NAMED])
    return named + (f"; and {more} more" if more > 0 else "")


def _throttled(telemetry: StepTelemetry, marks: list[Mark]) -> Warning:
    heat = telemetry.health.temperature_c if telemetry.health is not None else None
    words = {
        "when": "once" if len(marks) == 1 else f"{len(marks)} times",
        "temperature": "a temperature that it did not tell" if heat is None else f"{heat:.1f} °C",
        "limit": "",
    }
    return Warning.of("throttled", words, events=len(marks), limit_w=None)
