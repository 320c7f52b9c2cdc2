"""What happened to a drive in a step, of its samples and readings: pure.

Heat slowed it where a sample says so at that moment, or where its counters of that have grown since the one
before. Errors, retraining of the link, critical warnings and worn-out flash are marks as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ssdlab.model.telemetry import DriveHealth, Mark, Sample, changes_between

_WORN_PCT = 100
"""Share of the rated endurance from which a drive is beyond what its maker answers for."""
_NS_PER_S = 1_000_000_000


def marks_of(
    samples: Sequence[Sample], before: DriveHealth | None, after: DriveHealth | None, end_ns: int
) -> tuple[Mark, ...]:
    """Return the marks of one step, in order of time.

    Parameters
    ----------
    samples
        Of the step, in order.
    before, after
        What the drive said of itself at the end of the step before, and of this one.
    end_ns
        The end of the step, on its own time.
    """
    first = _of_reading(before)
    found = [
        *_throttled(first, samples),
        *_errors(first, samples, after, end_ns),
        *_link_errors(before, after, end_ns),
        *_flags(before, after, end_ns),
    ]
    return tuple(sorted(found, key=lambda mark: mark.at_ns))


def _of_reading(before: DriveHealth | None) -> Sample:
    """Return a reading as the sample that came before the first."""
    if before is None:
        return Sample(0)
    return Sample(
        0,
        throttle_events=before.throttle_events,
        throttled_s=before.throttled_s,
        media_errors=before.media_errors,
        link_retrains=before.link_retrains,
    )


def _grown(name: str, then: Sample, now: Sample) -> float:
    old, new = getattr(then, name), getattr(now, name)
    return new - old if old is not None and new is not None and new > old else 0


def _throttled(first: Sample, samples: Sequence[Sample]) -> Iterator[Mark]:
    """Yield each stretch in which heat slowed the drive, with the temperature that it began at."""
    start: Sample | None = None
    began_ns = 0
    before = first
    for sample in samples:
        hot = (
            sample.limit_w is not None
            or _grown("throttle_events", before, sample) > 0
            or _grown("throttled_s", before, sample) > 0
        )
        if hot and start is None:
            start, began_ns = sample, before.at_ns
        elif not hot and start is not None:
            yield _stretch(start, began_ns, before.at_ns)
            start = None
        before = sample
    if start is not None:
        yield _stretch(start, began_ns, before.at_ns)


def _stretch(start: Sample, began_ns: int, until_ns: int) -> Mark:
    heat = start.temperature_c
    where = "" if heat is None else f" at {heat:.0f} °C"
    limit = "" if start.limit_w is None else f", limited to {start.limit_w:g} W"
    return Mark(
        code="throttled",
        at_ns=began_ns,
        until_ns=until_ns,
        what=f"thermal throttling{where}{limit}",
        temperature_c=heat,
    )


def _errors(
    first: Sample, samples: Sequence[Sample], after: DriveHealth | None, end_ns: int
) -> Iterator[Mark]:
    """Yield what its counters of errors have grown by, at the sample that shows it."""
    last = _of_reading(after)
    ended = Sample(end_ns, media_errors=last.media_errors, link_retrains=last.link_retrains)
    for then, now in pairwise(_counted([first, *samples, ended])):
        if errors := _grown("media_errors", then, now):
            noun = "error" if errors == 1 else "errors"
            yield Mark(code="media-errors", at_ns=now.at_ns, what=f"{errors:g} media {noun}")
        if retrains := _grown("link_retrains", then, now):
            how = "once" if retrains == 1 else f"{retrains:g} times"
            yield Mark(code="link-changed", at_ns=now.at_ns, what=f"the link retrained {how}")


def _counted(samples: Sequence[Sample]) -> list[Sample]:
    """Leave out samples without these counters, so that growth between two that have them is seen."""
    return [each for each in samples if each.media_errors is not None or each.link_retrains is not None]


def _link_errors(before: DriveHealth | None, after: DriveHealth | None, end_ns: int) -> Iterator[Mark]:
    """Yield what the drive's own count of transfers that its link got wrong has grown by."""
    grown = changes_between(before, after).get("link_errors", 0)
    if grown > 0:
        noun = "link error" if grown == 1 else "link errors"
        yield Mark(code="link-errors", at_ns=end_ns, what=f"{grown:g} {noun} counted by the drive")


def _flags(before: DriveHealth | None, after: DriveHealth | None, end_ns: int) -> Iterator[Mark]:
    if after is None:
        return
    if after.failing:
        since = "" if before is None or before.failing else " since this step"
        yield Mark(
            code="drive-failing",
            at_ns=end_ns,
            what=f"the drive raises a critical warning{since}: {'; '.join(after.failing)}",
        )
    if after.used_pct is not None and after.used_pct >= _WORN_PCT:
        yield Mark(code="worn-out", at_ns=end_ns, what=f"{after.used_pct} % of the rated endurance is used")
