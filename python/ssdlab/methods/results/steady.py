"""The proof of the state that a measurement was taken in, from the step that brought it about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.rounds import round_speeds
from ssdlab.analysis.steady_state import MAX_RANGE, WINDOW, judge_window
from ssdlab.methods.verbs.precondition import Precondition
from ssdlab.model.units import NS_PER_S
from ssdlab.results.claim import Amount, Bound, Claim, Evidence
from ssdlab.results.schema import SteadyProof

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns

CAPACITIES = 2
"""Overwritten so often before, a drive has hardly any fresh blocks left."""


def proof_of(step: Step, rows: Columns, round_s: float, capacity_bytes: int) -> SteadyProof:
    """Judge the writing that a step did, by SNIA's rule over rounds of equal length."""
    rounds = round_speeds(rows["end_ns"], rows["bytes"], round_s)
    window = judge_window(rounds[-WINDOW:], len(rounds) - WINDOW) if len(rounds) >= WINDOW else None
    summary, until = step.measured, step.asked(Precondition).until
    written, seconds = summary.written_bytes, float(summary.elapsed_s)
    assert until is not None  # `write_to_steady_state` gives it
    enough = written >= until.given("least_bytes") and seconds * NS_PER_S >= until.least_ns
    return SteadyProof(
        reached=window is not None and window.steady and enough,
        ordinal=step.ordinal,
        round_s=round_s,
        rounds_mb_s=tuple(rounds),
        written_bytes=written,
        capacities=written / capacity_bytes,
        seconds=seconds,
        first=None if window is None else window.first,
        mean_mb_s=None if window is None else window.mean,
        range_share=None if window is None else window.range_share,
        rise_share=None if window is None else window.rise_share,
        slope_mb_s=None if window is None else window.slope,
    )


def caveats_of(steady: SteadyProof | None, *, quick: bool) -> Iterator[Claim]:
    """Yield what is wrong with the state that a measurement was taken in."""
    if steady is None:
        yield Claim("the drive was not brought into steady state", judged=False)
        return
    written = Amount(steady.capacities, "capacities")
    shown = Evidence((steady.ordinal,))
    if not steady.reached:
        yield Claim(
            "steady state was not reached: writing ended after {time} and {written}",
            figure=None if steady.range_share is None else Amount(100 * steady.range_share, "%"),
            bound=Bound("at most", Amount(100 * MAX_RANGE, "%")),
            evidence=shown,
            judged=steady.range_share is not None,
            others={"time": f"{steady.seconds:g} s", "written": f"{steady.capacities:.2f} capacities"},
        )
    if steady.capacities < CAPACITIES and not quick:
        yield Claim(
            "the drive was overwritten less than twice before, so fresh blocks may have been left",
            figure=written,
            bound=Bound("at least", Amount(CAPACITIES, "capacities")),
            evidence=shown,
        )
    if quick and not (steady.reached and steady.capacities >= CAPACITIES):
        yield Claim(
            "quick: the drive was written for seconds instead of hours, so this is not steady state",
            figure=written,
            bound=Bound("at least", Amount(CAPACITIES, "capacities")),
            evidence=shown,
            judged=False,
        )
