"""Places the steps of a run on one time line, and states the events of the drive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.telemetry import COUNTED
from ssdlab.model.units import counted
from ssdlab.results.claim import Amount, Claim, Evidence

if TYPE_CHECKING:
    from ssdlab.model.telemetry import Mark
    from ssdlab.results.metric import Metric
    from ssdlab.results.run_folder import Step

_NS_PER_S = 1e9
_SLACK_S = 60.0
"""Time allowed between two watched steps in addition to the steps between them, for example for resuming."""
_MIN_BYTES = 1_000_000_000
"""Minimum bytes that the host wrote before write amplification is stated: drives count in thousands of
blocks."""
_NAMED = 3
"""Maximum number of steps that a sentence names."""
_SENTENCES = {
    "media-errors": "media errors {count} in {steps}: {first}",
    "link-errors": "link errors {count} in {steps}: {first}",
    "link-changed": "the link changed {count} in {steps}: {first}",
    "drive-reset": "the kernel logged resets or timeouts {count} in {steps}: {first}",
    "drive-error": "the kernel logged drive errors {count} in {steps}: {first}",
    "kernel-log": "the kernel mentioned the drive {count} in {steps}: {first}",
    "drive-failing": "{first}",
    "worn-out": "{first}",
    "unanswered": "{first}",
}


@dataclass(frozen=True)
class Placed:
    """A step with telemetry on the time line, in seconds since the first such step began."""

    step: Step
    start_s: float
    end_s: float


def place_steps(steps: Iterable[Step]) -> list[Placed]:
    """Return the steps of a run that have telemetry, at their places on the time line.

    A gap follows the run's clock, but is no longer than the steps in between explain. After an interruption
    the time line continues where it stopped. After a return to an earlier drive state it continues after the
    last step.
    """
    placed: list[Placed] = []
    last_ns: int | None = None
    between_s = 0.0
    for step in steps:
        found = step.result.telemetry
        if found is None:
            between_s += max(step.result.seconds, _asked_s(step))
            continue
        gap_s = 0.0 if last_ns is None else max(0.0, (found.began_ns - last_ns) / _NS_PER_S)
        start_s = (placed[-1].end_s if placed else 0.0) + min(gap_s, between_s + _SLACK_S)
        placed.append(Placed(step, start_s, start_s + (found.ended_ns - found.began_ns) / _NS_PER_S))
        last_ns, between_s = found.ended_ns, 0.0
    return placed


def _asked_s(step: Step) -> float:
    seconds = step.args.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def drive_findings(
    steps: Iterable[Step], figures: Sequence[Metric] = (), *, beside: bool = False
) -> tuple[Claim, ...]:
    """Return the events of the drive during a run, as claims with their steps.

    `figures` are those of the run, if it has ended. `beside` leaves out temperature and write amplification,
    for a page with a table of them (`counted_of`).
    """
    placed = place_steps(steps)
    marks = [(each, mark) for each in placed for mark in _marks(each.step)]
    hot = [(each, mark) for each, mark in marks if mark.code == "throttled"]
    throttled = [_throttled(placed, hot), _affected(figures)] if hot else []
    if beside:
        found = list(throttled)
    else:
        heat, amplification = counted_of(placed)
        # The claim about throttling has the temperature.
        found = [*(throttled or [heat]), amplification]
    for code, says in _SENTENCES.items():
        of_code = [(each.step.ordinal, mark) for each, mark in marks if mark.code == code]
        if of_code:
            found.append(_happened(says, of_code))
    return tuple(each for each in found if each is not None)


def counted_of(placed: Sequence[Placed]) -> tuple[Claim | None, Claim | None]:
    """Return claims for the highest temperature and the write amplification; None: unknown."""
    return _heat(placed), _amplification(placed)


def _marks(step: Step) -> tuple[Mark, ...]:
    return () if step.result.telemetry is None else step.result.telemetry.marks


def _heat(placed: Sequence[Placed]) -> Claim | None:
    known = [
        (found.hottest_c, each.step.ordinal)
        for each in placed
        if (found := each.step.result.telemetry) is not None and found.hottest_c is not None
    ]
    if not known:
        return None
    hottest, ordinal = max(known)
    return Claim("highest drive temperature {figure}", Amount(hottest, "°C"), evidence=Evidence((ordinal,)))


def _throttled(placed: Sequence[Placed], hot: Sequence[tuple[Placed, Mark]]) -> Claim:
    """State when, how hot and in which steps the drive throttled, and for which share of the time."""
    at, first = hot[0]
    minute = int((at.start_s + first.at_ns / _NS_PER_S) // 60)
    slowed_s = sum((mark.until_ns or mark.at_ns) - mark.at_ns for _, mark in hot) / _NS_PER_S
    watched_s = sum(each.end_s - each.start_s for each in placed)
    heat = "" if first.temperature_c is None else f" at {first.temperature_c:.0f} °C"
    labels = list(dict.fromkeys(each.step.label for each, _ in hot))
    named = "; ".join(labels[:_NAMED])
    more = f"; and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return Claim(
        "throttled from minute {minute}{heat}, for {figure} of the observed time ({steps})",
        Amount(100 * slowed_s / watched_s if watched_s else None, "%"),
        evidence=Evidence(tuple(dict.fromkeys(each.step.ordinal for each, _ in hot))),
        others={"minute": str(minute), "heat": heat, "steps": named + more},
    )


def _affected(figures: Sequence[Metric]) -> Claim | None:
    """State how many figures of a throttled run heat affects; None: the run has no figures."""
    # A figure that heat left without a value is affected too.
    known = [each for each in figures if each.value is not None or "throttled" in each.codes]
    affected = sum("throttled" in each.codes for each in known)
    if not known:
        return None
    if not affected:
        return Claim("heat affects no figure")
    return Claim(
        "heat affects {affected} of {figures}",
        others={"affected": str(affected), "figures": counted(len(known), "figure")},
    )


def _amplification(placed: Sequence[Placed]) -> Claim | None:
    """State the write amplification, if the drive counts both host and NAND writes."""
    sums = dict.fromkeys(("host_written_bytes", "nand_written_bytes"), 0.0)
    shown = []
    for each in placed:
        found = each.step.result.telemetry
        if found is not None and all(name in found.changes for name in sums):
            shown.append(each.step.ordinal)
            for name in sums:
                sums[name] += found.changes[name]
    if sums["host_written_bytes"] < _MIN_BYTES:
        return None
    return Claim(
        "write amplification {figure} (drive counters)",
        Amount(sums["nand_written_bytes"] / sums["host_written_bytes"]),
        evidence=Evidence(tuple(shown)),
    )


def _happened(says: str, found: Sequence[tuple[int, Mark]]) -> Claim:
    ordinals = tuple(dict.fromkeys(ordinal for ordinal, _ in found))
    steps = "1 step" if len(ordinals) == 1 else f"{len(ordinals)} steps"
    times = "once" if len(found) == 1 else f"{len(found)} times"
    words = {"count": times, "steps": steps, "first": found[0][1].what}
    named = {name: text for name, text in words.items() if f"{{{name}}}" in says}
    return Claim(says, evidence=Evidence(ordinals), others=named)


def changes_of(steps: Iterable[Step]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for step in steps:
        found = step.result.telemetry
        for name, value in ({} if found is None else found.changes).items():
            sums[name] = sums.get(name, 0.0) + value
    return {name: sums[name] for name in COUNTED if name in sums}
