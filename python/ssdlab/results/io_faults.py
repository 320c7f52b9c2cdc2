"""What went wrong with the I/O of one step: I/Os that failed, and what kernel or drive hid from its figures.

A failed I/O is in no latency and in no rate, so what is left looks like a healthy drive's. An error that the
kernel or the drive repaired took time that stands in the figures of others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.units import NS_PER_S, counted, span_text
from ssdlab.results.claim import Claim, Evidence, clause
from ssdlab.results.host_part import PREPARING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import ResultBase

FAILED_IO = "failed I/O"
"""What is said of a figure of such a step."""
UNPROVEN = "state not shown"
"""What is said of a figure whose drive was prepared by such a step; as of any state that was not shown."""
HIDDEN = frozenset({"drive-reset", "drive-error", "media-errors", "link-errors", "link-changed"})
"""Marks of a step's telemetry that tell of what no failed I/O need show."""
_NAMED = 2
"""So many of them are told in full."""


@dataclass(frozen=True)
class IoFaults:
    """What went wrong in one step.

    Attributes
    ----------
    failed, asked
        I/Os that failed, of how many that were done or failed.
    first
        The first of them in words: operation, place, why; empty: not recorded.
    hidden
        What the kernel or the drive told of beside them.
    """

    failed: int
    asked: int
    first: str
    hidden: tuple[str, ...]

    @property
    def words(self) -> str:
        """All of it, as a clause."""
        failed = f"{self.failed} of {counted(self.asked, 'I/O')} failed" if self.failed else ""
        more = len(self.hidden) - _NAMED
        others = "; ".join((*self.hidden[:_NAMED], *((f"and {more} more",) if more > 0 else ())))
        return "; ".join(filter(None, (failed + (f", first {self.first}" if self.first else ""), others)))


def io_faults(step: Step) -> IoFaults | None:
    """Return what went wrong with the I/O of a step, ramp and earlier attempts included; None: nothing."""
    summary, telemetry, facts = step.summary, step.result.telemetry, step.result.facts
    failed = asked = 0
    first = ""
    if summary is not None:
        failed = summary.failed
        asked = summary.ios + failed
        if summary.first_failure is not None:
            first = summary.first_failure.words
            if not failed:  # in the ramp, which counts for nothing else
                failed, asked = 1, asked + 1
    if isinstance(before := facts.get("failed"), int):  # of attempts that this one goes on from, or of a rest
        failed += before
        done, of = facts.get("ios"), facts.get("asked")
        asked = of if isinstance(of, int) else failed + (done if isinstance(done, int) else asked)
    marks = () if telemetry is None else telemetry.marks
    telling = HIDDEN - {"drive-error"} if failed else HIDDEN  # of each failed I/O the kernel's log has a line
    hidden = tuple(dict.fromkeys(mark.what for mark in marks if mark.code in telling))
    return IoFaults(failed, asked, first, hidden) if failed or hidden else None


def why_faulty(steps: Iterable[Step]) -> str:
    """Return what went wrong in the first of some steps of which anything did; empty: nothing."""
    return next((f"{step.label}: {found.words}" for step in steps if (found := io_faults(step))), "")


def disturbance(step: Step) -> str:
    """Return why a load says nothing of the drive: failed I/O, or that ssdlab stood still; empty: neither."""
    found = io_faults(step)
    if found is not None:
        return found.words
    still_s = sum(each.length_ns for each in step.result.pauses) / NS_PER_S
    return f"ssdlab stood still for {span_text(still_s)}" if still_s else ""


def disturbance_claim(step: Step) -> Claim | None:
    """Return the same as why what the load was to show is not shown; None: nothing disturbed it."""
    why = disturbance(step)
    return Claim("{why}", evidence=Evidence((step.ordinal,)), others={"why": why}) if why else None


def unprepared(steps: Iterable[Step], before: int) -> str:
    """Return why the drive was not prepared before a step of that ordinal; empty where it was.

    What a failed write left out holds what was there before. A purge ends what was before it.
    """
    faulty: list[Step] = []
    for step in steps:
        if step.ordinal >= before:
            break
        if step.verb == "purge":
            faulty.clear()
        elif step.verb in PREPARING and (found := io_faults(step)) is not None and found.failed:
            faulty.append(step)
    return why_faulty(faulty)


def not_proven(steps: Sequence[Step], step: Step) -> str:
    """Return why a step proves no state of the drive: what failed in it, or in what prepared it."""
    return why_faulty([step]) or unprepared(steps, step.ordinal)


def faulty_states(steps: Iterable[Step]) -> dict[int, str]:
    """Return what is said of figures of each step that something went wrong for, by its ordinal."""
    found: dict[int, str] = {}
    unproven = False
    for step in steps:
        faults = io_faults(step)
        if faults is not None:
            found[step.ordinal] = FAILED_IO
        elif unproven:
            found[step.ordinal] = UNPROVEN
        if step.verb == "purge":
            unproven = False
        elif step.verb in PREPARING and faults is not None and faults.failed:
            unproven = True
    return found


def faulty_state(states: Mapping[int, str], of: Iterable[int]) -> str:
    """Return what is said of a figure of the steps of these ordinals; empty: nothing went wrong for it."""
    own = {states[ordinal] for ordinal in of if ordinal in states}
    return FAILED_IO if FAILED_IO in own else UNPROVEN if own else ""


def with_io_faults(result: ResultBase, steps: Sequence[Step]) -> ResultBase:
    """Return a Result that tells first of the steps in which I/O failed, if there are any."""
    faulty = [step for step in steps if io_faults(step) is not None]
    if not faulty:
        return result
    several = f"in {counted(len(faulty), 'step')}" if len(faulty) > 1 else "in a step"
    claim = Claim(
        "I/O failed, or drive or link had errors, {several}; figures of that are not ranked, rated or "
        "compared: {why}",
        evidence=Evidence(tuple(step.ordinal for step in faulty)),
        judged=False,
        others={"several": several, "why": why_faulty(faulty)},
    )
    return result.model_copy(update={"caveats": (clause(claim), *result.caveats)})
