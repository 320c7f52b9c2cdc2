"""The sums of a plan in words, of a single run or of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.progress import bytes_text, range_text
from ssdlab.model import units
from ssdlab.runs.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.lab.verbs.verb import Bounds
    from ssdlab.runs.suites.suite_plan import SuitePlan


_TO_STEADY = "precondition"


def seconds_text(bounds: Bounds) -> str:
    """Return a range of time."""
    return range_text(bounds.lower, bounds.upper)


def writes_text(bounds: Bounds) -> str:
    """Return a range of bytes written; nothing for none."""
    return bytes_text(bounds.lower, bounds.upper)


def times_of(planned: Plan | SuitePlan, beside: int = 1) -> Iterator[tuple[str, str]]:
    """Yield how long it takes, of a simulated drive in its time and in ours; `beside`: parts at a time."""
    if planned.keeps_time:
        yield "drive time", seconds_text(planned.seconds)
        together = f", {beside} parts at a time" if beside > 1 else ""
        yield "real time", seconds_text(planned.real_seconds) + together
    else:
        yield "time", seconds_text(planned.seconds)


def steady_text(planned: Plan | SuitePlan) -> str:
    """Return what of the upper bounds is writing to steady state, whose end no plan knows; empty for none."""
    plans = (planned,) if isinstance(planned, Plan) else planned.plans
    steps = [step for plan in plans for step in plan.steps if step.verb == _TO_STEADY]
    longest = sum(step.seconds.upper for step in steps if step.seconds.lower < step.seconds.upper / 2)
    if not longest:
        return ""
    return f"up to {units.span_text(longest)} of the time is writing to it, and ends once a drive gets there"


def known_by_text(sources: Sequence[str]) -> str:
    """Return by what the bounds are known."""
    return ", ".join(sources) or "nothing: bounds are those of any drive"


def endurance_text(planned: Plan | SuitePlan) -> str:
    """Return what share of the rated endurance is written, or what is done where none is on record."""
    written, rated = planned.bytes_written, planned.endurance_bytes
    if rated is None and planned.keeps_time:
        return "of no account: the drive is simulated"
    if rated is None:
        unknown = "share not known: the drive's rating is not on record"
        if planned.cap_bytes is None:
            return f"{unknown}, and nothing ends the run for it"
        if written.upper <= planned.cap_bytes:
            return unknown
        cap = units.capacity_text(planned.cap_bytes)
        return f"{unknown}; the run ends after {cap} unless --endurance-cap says more, such as 200TB"
    shares = units.ends_text(units.share_text(written.lower / rated), units.share_text(written.upper / rated))
    return f"{shares} of the rated {units.capacity_text(rated)}"
