"""Whether the drive's state held during a sweep of writes over depths.

If throughput drops by over a fifth with rising depth, and the host is not the limit, the first point and the
one before the drop are repeated at the end. The sweep has headline figures only if both are reproduced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.analysis.saturation import Fall, came_back, deepest_fall
from ssdlab.lab.method import RunData
from ssdlab.lab.parts.steady import window_check
from ssdlab.results.drive_states import StateCheck, SteadyProof, doubts
from ssdlab.results.evidence import evidence_of, why_faulty

if TYPE_CHECKING:
    from ssdlab.lab.lab import Lab
    from ssdlab.model.workload import Workload
    from ssdlab.results.run_folder import Step

Unit = Literal["IOPS", "MB/s"]


@dataclass(frozen=True)
class Taken:
    """A measured point of a sweep, with its workload for a repeat."""

    workload: Workload
    step: Step


def repeat_if_fallen(lab: Lab, lines: Sequence[Sequence[Taken]], *, rest_seconds: float = 0.0) -> None:
    """Repeat points where throughput has dropped; each line is one kind of work by rising depth.

    A plan counts two points. With `rest_seconds` the drive rests after each, as after the earlier points.
    """
    for point in _to_repeat(lines):
        lab.run(point.workload, label=again(point.step.label), certain=False)
        if rest_seconds:
            lab.idle(rest_seconds, certain=False)


def again(label: str) -> str:
    """Return the label of a repeated point."""
    return f"{label} again"


def _to_repeat(lines: Sequence[Sequence[Taken]]) -> tuple[Taken, ...]:
    lines = [line for line in lines if len(line) > 1]
    if not lines:
        return ()
    if any(point.step.summary is None for line in lines for point in line):
        return (lines[0][0], lines[0][-1])
    falls = [(fall, line) for line in lines if (fall := _fall([point.step for point in line])) is not None]
    if not falls:
        return ()
    fall, line = max(falls, key=lambda found: found[0].share)
    return (line[0], *((line[fall.high],) if fall.high else ()))


def _fall(steps: Sequence[Step]) -> Fall | None:
    by_host = [bool(evidence_of(step).not_the_drive()) for step in steps]
    return deepest_fall([float(step.measured.iops) for step in steps], by_host)


def checks_of(
    data: RunData,
    lines: Sequence[Sequence[str]],
    unit: Unit,
    steady: SteadyProof | None = None,
    alike: str = "",
) -> tuple[StateCheck, ...]:
    """Return the checks of whether the state held.

    Parameters
    ----------
    lines
        Labels of the sweep's points, each kind of work by rising depth.
    unit
        Of the figures.
    steady, alike
        The writing before, and the label of the point with the same load; empty: none.
    """
    repeated = [check for line in lines for check in _repeated(data, line, unit)]
    later = data.step(alike) if alike else None
    disturbed = later is not None and (evidence_of(later).not_the_drive() or why_faulty([later]))
    if (
        steady is None
        or later is None
        or disturbed
        or any(each.code != "throttled" for each in steady.doubts)
    ):
        return tuple(repeated)
    check = window_check(steady, later, alike)
    return (*repeated, *(() if check is None else (check,)))


def _repeated(data: RunData, line: Sequence[str], unit: Unit) -> Iterator[StateCheck]:
    steps = [step for label in line if (step := data.step(label)) is not None]
    for at, step in enumerate(steps):
        then = data.step(again(step.label))
        if then is None:
            continue
        before, after = _value(step, unit), _value(then, unit)
        lowest = min(steps[at + 1 :], key=lambda each: _value(each, unit), default=step)
        fell = _value(lowest, unit) < before  # the first point is taken again whichever the fall began at
        ordinals = (step.ordinal, *((lowest.ordinal,) if fell else ()), then.ordinal)
        host = evidence_of(step).not_the_drive() or evidence_of(then).not_the_drive()
        doubted = doubts(ordinals, host=host, failed=why_faulty((step, then)))
        yield StateCheck(
            kind="repeated",
            unit=unit,
            what=step.label,
            before=before,
            then=then.label,
            after=after,
            fallen=lowest.label if fell else "",
            lowest=_value(lowest, unit) if fell else None,
            held=came_back(before, after) and not doubted,
            doubts=doubted,
            ordinals=ordinals,
        )


def heat_check(data: RunData, line: Sequence[str], chosen: str, unit: Unit) -> StateCheck | None:
    """Return the check for a reported point that was thermally throttled after a cool point.

    The reported depth then depends on how warm the drive was, and on the order of depths.
    """
    steps = [step for label in line if (step := data.step(label)) is not None]
    hot = next((step for step in steps if step.label == chosen and evidence_of(step).hot), None)
    if hot is None:
        return None
    cool = [step for step in steps if step.ordinal < hot.ordinal and not evidence_of(step).hot]
    if not cool:
        return None
    return StateCheck(
        kind="throttled",
        unit=unit,
        what=cool[-1].label,
        before=_value(cool[-1], unit),
        then=hot.label,
        after=_value(hot, unit),
        held=False,
        ordinals=(cool[-1].ordinal, hot.ordinal),
    )


def _value(step: Step, unit: Unit) -> float:
    return float(step.measured.iops if unit == "IOPS" else step.measured.mb_s)
