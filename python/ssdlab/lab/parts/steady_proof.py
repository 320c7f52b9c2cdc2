"""The proof of the state that a measurement was taken in, from the step that brought it about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.rounds import round_speeds
from ssdlab.analysis.steady_state import WINDOW, judge_window, left
from ssdlab.lab.verbs.precondition import Precondition
from ssdlab.model.units import NS_PER_S
from ssdlab.results.drive_states import StateCheck, SteadyProof, doubts
from ssdlab.results.evidence import evidence_of

if TYPE_CHECKING:
    from ssdlab.lab.written import Written
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


def proof_of(
    step: Step, rows: Columns, round_s: float, capacity_bytes: int, written: Written, failed: str = ""
) -> SteadyProof:
    """Judge the writing that a step did, by SNIA's rule over rounds of equal length.

    `written` is what had been written by its end, and since when (`written_by`); `failed` is what of it, or
    of what prepared the drive, was not.
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
    """Hold a later step that does what the writing before did against its window; None without a window."""
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
