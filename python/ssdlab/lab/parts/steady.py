"""Writing to steady state: its proof, the bytes written to the drive, and whether the state lasted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ssdlab.analysis.saturation import Fall, came_back, deepest_fall
from ssdlab.analysis.steady_state import WINDOW, RunningRounds, first_steady, judge_window, left, round_speeds
from ssdlab.lab.method import Params, RunData, Seconds, param
from ssdlab.lab.parts.workloads import Order, closed_loop
from ssdlab.lab.verbs.drive_state import Back, PurgeFacts, TrimFacts
from ssdlab.lab.verbs.steps import STEADY, Until
from ssdlab.lab.verbs.workload import Precondition
from ssdlab.model.units import NS_PER_S
from ssdlab.results.drive_states import StateCheck, SteadyProof, doubts
from ssdlab.results.evidence import evidence_of, not_proven, why_faulty

if TYPE_CHECKING:
    from ssdlab.lab.lab import Lab
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import VoidedWrites
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns

# Bytes written to the drive by the end of each step: evidence of the drive's state.
#
# They are counted from the last event that made the state known: a purge, a trim of the whole drive, or the
# beginning of the run, for which the manifest has the state. Writes that a return to a fork has undone do not
# count.

Since = Literal["purge", "trim", "beginning"]


class Written(NamedTuple):
    """Bytes written by the end of a step, and the event from which they are counted."""

    since: Since = "beginning"
    bytes: int = 0


def written_by(
    steps: Iterable[Step], capacity_bytes: int, voided: Iterable[VoidedWrites] = ()
) -> dict[int, Written]:
    """Return the bytes written by the end of each finished step, by ordinal; voided attempts count."""
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


LABEL = "to steady state"


class SteadyParams(Params):
    """Parameters of writing to steady state."""

    overwrites: float = param(
        2.0,
        "minimum spans written before steady state can be declared, after the fill",
        unit="spans",
        quick=0.0,
        ge=0,
        le=20,
    )
    least_seconds: Seconds = param(
        3600.0, "minimum writing time; published reviews write for hours", unit="s", quick=2.0, ge=0
    )
    most_seconds: Seconds = param(
        86_400.0,
        "maximum writing time; the result says if steady state is not reached by then",
        unit="s",
        quick=8.0,
        gt=0,
    )
    round_seconds: Seconds = param(
        300.0,
        f"length of a round, longer than a garbage-collection cycle; SNIA's rule takes {WINDOW} in a row",
        unit="s",
        quick=0.5,
        gt=0,
        le=3600,
    )
    precondition_depth: int = param(
        32, "I/Os in flight during preconditioning, as threads with one I/O each", unit="I/Os", ge=1, le=512
    )


def write_to_steady_state(
    lab: Lab, p: SteadyParams, order: Order, block_bytes: int, *, label: str = LABEL
) -> Step:
    """Overwrite the whole span until SNIA's rule is met, within the limits of the parameters."""
    row_ns, _ = _row_and_round_ns(p)
    workload = closed_loop(
        order, "write", block_bytes=block_bytes, in_flight=p.precondition_depth, seconds=p.most_seconds
    ).model_copy(update={"interval_ns": row_ns})
    holds, bounds = steady_until(p, lab.usable_bytes)
    return lab.precondition(workload, label=label, until=Until(STEADY, dict(bounds), holds))


def steady_until(
    p: SteadyParams, usable_bytes: int, min_spans: float = 0.0
) -> tuple[Callable[[Sequence[Any]], bool], dict[str, float]]:
    """Return the stop condition of writing to steady state, and its bounds for the journal.

    The condition does not hold before `min_spans` spans are written.
    """
    _, round_ns = _row_and_round_ns(p)
    least_bytes = round(max(p.overwrites, min_spans) * usable_bytes)
    least_ns = round(p.least_seconds * NS_PER_S)
    rounds = RunningRounds(round_ns)

    def holds(rows: Sequence[Any]) -> bool:
        ended = rounds.take(rows)
        enough = rounds.total_bytes >= least_bytes and rounds.ended_ns >= least_ns
        return ended and enough and first_steady([rounds.mb_s[-WINDOW:]]) is not None

    return holds, {"least_bytes": least_bytes, "least_ns": least_ns, "round_ns": round_ns}


def proof(data: RunData, p: SteadyParams, label: str = LABEL) -> SteadyProof | None:
    """Judge the writing to steady state before the measurement; None if there was none."""
    step = data.step(label)
    if step is None:
        return None
    written = written_by(data.steps, data.capacity_bytes, data.voided)[step.ordinal]
    failed = not_proven(data.steps, step)
    round_s = _row_and_round_ns(p)[1] / NS_PER_S
    return proof_of(step, data.rows(step), round_s, data.capacity_bytes, written, failed)


def _row_and_round_ns(p: SteadyParams) -> tuple[int, int]:
    """Return the lengths of an interval row (at most 1 s) and of a round of whole rows, in ns."""
    asked_ns = round(p.round_seconds * NS_PER_S)
    rows = -(-asked_ns // NS_PER_S)
    row_ns = -(-asked_ns // rows)
    return row_ns, rows * row_ns


def proof_of(
    step: Step, rows: Columns, round_s: float, capacity_bytes: int, written: Written, failed: str = ""
) -> SteadyProof:
    """Judge a step's writing by SNIA's rule, over equal rounds.

    `written` comes from `written_by`. `failed` describes failed writes of the step or of earlier preparation;
    empty: none.
    """
    shown = evidence_of(step)
    rounds = round_speeds(rows["end_ns"], rows["bytes"], round_s)
    window = judge_window(rounds[-WINDOW:], len(rounds) - WINDOW) if len(rounds) >= WINDOW else None
    summary, until = step.measured, step.asked(Precondition).until
    done, seconds = summary.written_bytes, float(summary.elapsed_s)
    assert until is not None  # `write_to_steady_state` gives it
    enough = done >= until.given("least_bytes") and seconds * NS_PER_S >= until.least_ns
    _, span_bytes = step.ran.streams[0].span_bytes(capacity_bytes, 1)
    found = SteadyProof(
        reached=False,
        ordinal=step.ordinal,
        round_s=round_s,
        rounds_mb_s=tuple(rounds),
        written_bytes=done,
        capacities=done / span_bytes,
        seconds=seconds,
        first=None if window is None else window.first,
        mean_mb_s=None if window is None else window.mean,
        range_share=None if window is None else window.range_share,
        rise_share=None if window is None else window.rise_share,
        slope_mb_s=None if window is None else window.slope,
        since=written.since,
        since_capacities=written.bytes / span_bytes,
        doubts=doubts(
            [step.ordinal], hot=shown.hot, host=shown.not_the_drive(WINDOW * round_s), failed=failed
        ),
    )
    steady = window is not None and window.steady and enough and found.judged
    return found.model_copy(update={"reached": steady})


def window_check(steady: SteadyProof, point: Step, label: str) -> StateCheck | None:
    """Compare a later step of the same load with the steady-state window; None without a window."""
    if steady.mean_mb_s is None:
        return None
    after = float(point.measured.mb_s)
    return StateCheck(
        kind="window",
        unit="MB/s",
        what="the writing before",
        before=steady.mean_mb_s,
        then=label,
        after=after,
        held=not left(steady.mean_mb_s, [after]),
        ordinals=(steady.ordinal, point.ordinal),
    )


# Checks of whether the drive's state lasted during a sweep of writes over queue depths.
#
# If throughput drops by over a fifth with rising depth, and the host is not the limit, the first point and
# the one before the drop are repeated at the end. The sweep has headline figures only if both are reproduced.

Unit = Literal["IOPS", "MB/s"]
"""Unit of throughput, IOPS or MB/s."""


@dataclass(frozen=True)
class Taken:
    """A measured point of a sweep, with its workload so that it can be repeated."""

    workload: Workload
    step: Step


def repeat_if_fallen(lab: Lab, lines: Sequence[Sequence[Taken]], *, rest_seconds: float = 0.0) -> None:
    """Repeat points of a sweep if throughput dropped as the queue depth rose.

    Each line holds the points of one kind of work, by rising depth. A plan counts two repeats. With
    `rest_seconds` the drive rests after each repeat, as after the earlier points.
    """
    for point in _to_repeat(lines):
        lab.run(point.workload, label=again(point.step.label), certain=False)
        if rest_seconds:
            lab.idle(rest_seconds, certain=False)


def again(label: str) -> str:
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
    """Return the checks of whether the drive's state lasted.

    Parameters
    ----------
    lines
        Labels of the sweep's points, one line for each kind of work, by rising depth.
    unit
        Unit of the compared figures.
    steady
        Proof of the writing before the sweep; None: there was none.
    alike
        Label of the point with the same load as that writing; empty: none.
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
        fell = _value(lowest, unit) < before  # the first point is repeated wherever the fall began
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
    """Return the check of a reported point that was throttled by heat, after a point that was not.

    The reported depth then depends on the drive's temperature and on the order of depths. None: no such
    points.
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
