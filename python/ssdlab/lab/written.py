"""How much had been written to the drive when a step ended, and since when: the evidence of its state.

It is counted from what last made the drive's state known: a purge, a trim of everything, or the run's own
beginning, of which the manifest tells how the drive was then. What was done on a fork and undone by going
back does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from ssdlab.lab.verbs.back import Back
from ssdlab.lab.verbs.purge import PurgeFacts
from ssdlab.lab.verbs.trim import TrimFacts

if TYPE_CHECKING:
    from ssdlab.results.records import VoidedWrites
    from ssdlab.results.run_folder import Step

Since = Literal["purge", "trim", "beginning"]
SINCE: dict[Since, str] = {
    "purge": "since the purge",
    "trim": "since everything was trimmed",
    "beginning": "since the run began",
}


class Written(NamedTuple):
    """What was written by the end of a step."""

    since: Since = "beginning"
    bytes: int = 0


def written_by(
    steps: Iterable[Step], capacity_bytes: int, voided: Iterable[VoidedWrites] = ()
) -> dict[int, Written]:
    """Return for each finished step, by its ordinal, what had been written by its end.

    In the order in which it was done, and by attempts that do not count too: the drive has what they wrote.
    """
    now, found = Written(), dict[int, Written]()
    left = sorted(voided, key=lambda each: each.place, reverse=True)
    for step in sorted(steps, key=lambda each: (each.place, each.ordinal)):
        while left and left[-1].place < step.place:
            now = Written(now.since, now.bytes + left.pop().written_bytes)
        now = _after(now, step, found, capacity_bytes)
        found[step.ordinal] = now
    return found


def _after(before: Written, step: Step, found: dict[int, Written], capacity_bytes: int) -> Written:
    match step.verb:
        case "purge":
            return Written("purge") if step.found(PurgeFacts).purged else before
        case "trim":
            trim = step.found(TrimFacts).trim
            whole = trim is not None and trim.length >= capacity_bytes and trim.reached_device is not False
            return Written("trim") if whole else before
        case "back":
            went_back = step.result.facts.get("forked") is True
            return found.get(step.asked(Back).to, before) if went_back else before
    return Written(before.since, before.bytes + step.written_bytes)
