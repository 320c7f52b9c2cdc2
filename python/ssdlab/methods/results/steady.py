"""The proof of the state that a measurement was taken in, from the step that brought it about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.rounds import round_speeds
from ssdlab.analysis.steady_state import MAX_RANGE, MIN_CAPACITIES, WINDOW, judge_window, left
from ssdlab.methods.presented.steady import lasted, one_pass_claim, why_not_judged
from ssdlab.methods.verbs.precondition import Precondition
from ssdlab.model.units import NS_PER_S
from ssdlab.results.claim import Amount, Bound, Claim, Evidence
from ssdlab.results.drive_states import (
    FULL_CAPACITIES,
    PREPARED,
    OnePassProof,
    PlacedProof,
    StateCheck,
    SteadyProof,
)
from ssdlab.results.host_part import not_the_drive
from ssdlab.results.warned_steps import throttled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ssdlab.methods.results.written import Written
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


def proof_of(
    step: Step, rows: Columns, round_s: float, capacity_bytes: int, written: Written, failed: str = ""
) -> SteadyProof:
    """Judge the writing that a step did, by SNIA's rule over rounds of equal length.

    `written` is what had been written by its end, and since when (`written_by`); `failed` is what of it, or
    of what prepared the drive, was not.
    """
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
        throttled=throttled(step) or None,
        by_host=not_the_drive(step, WINDOW * round_s) or None,
        failed=failed or None,
    )
    steady = window is not None and window.steady and enough and found.judged
    return found.model_copy(update={"reached": steady})


def caveats_of(steady: SteadyProof | None) -> Iterator[Claim]:
    """Yield what is wrong with the state that a measurement was taken in."""
    if steady is None:
        yield Claim("the drive was not brought into steady state", judged=False)
        return
    written = Amount(steady.capacities, "capacities")
    shown = Evidence((steady.ordinal,))
    if not steady.judged:
        held_back = steady.throttled or steady.by_host or steady.failed
        yield Claim(
            f"whether the drive was in steady state is not judged: {why_not_judged(steady)}",
            figure=None if held_back else written,
            bound=None if held_back else Bound("at least", Amount(MIN_CAPACITIES, "capacities")),
            evidence=shown,
            judged=False,
            others=lasted(steady),
        )
        return
    if not steady.reached:
        yield Claim(
            "steady state was not reached: writing ended after {time} and {written}",
            figure=None if steady.range_share is None else Amount(100 * steady.range_share, "%"),
            bound=Bound("at most", Amount(100 * MAX_RANGE, "%")),
            evidence=shown,
            others=lasted(steady),
        )
    if isinstance(steady, OnePassProof):
        yield one_pass_claim(steady)
    if isinstance(steady, PlacedProof):
        yield Claim(f"steady state was {PREPARED}: it was placed by theory", evidence=shown)
    if not steady.fills_enough:
        yield Claim(
            "the drive was overwritten less than twice before, so fresh blocks may have been left",
            figure=written,
            bound=Bound("at least", Amount(FULL_CAPACITIES, "capacities")),
            evidence=shown,
        )


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


def moved_caveats(checks: Iterable[StateCheck], of: str = "", remedy: str = "") -> Iterator[Claim]:
    """Yield that a sweep has no headline figure, where its points are not of one state.

    `of` says which of several: " of random write", `remedy` what brings about a state that holds.
    """
    moved = [check for check in checks if not check.held]
    if moved:
        shown = Evidence(tuple(dict.fromkeys(ordinal for check in moved for ordinal in check.ordinals)))
        known = any(not check.by_host and not check.failed for check in moved)
        reason = "I/O failed" if any(check.failed for check in moved) else "the host was the limit"
        says = (
            "state moved: the points are not of one drive state"
            if known
            else f"whether the points are of one drive state is not judged, as {reason}"
        )
        yield Claim(
            f"{says}, so there is no headline figure{of}{f'; {remedy}' if remedy and known else ''}",
            evidence=shown,
            judged=False,
        )
