"""The proof of the state that a measurement was taken in, from the step that brought it about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ssdlab.analysis.rounds import round_speeds
from ssdlab.analysis.steady_state import WINDOW, judge_window
from ssdlab.model.units import NS_PER_S
from ssdlab.results.schema import SteadyProof

if TYPE_CHECKING:
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


def proof_of(step: Step, rows: Columns, round_s: float, capacity_bytes: int) -> SteadyProof:
    """Judge the writing that a step did, by SNIA's rule over rounds of equal length."""
    rounds = round_speeds(rows["end_ns"], rows["bytes"], round_s)
    window = judge_window(rounds[-WINDOW:], len(rounds) - WINDOW) if len(rounds) >= WINDOW else None
    summary = cast("dict[str, Any]", step.result.measurement)
    until = cast("dict[str, Any]", step.args["until"])
    written, seconds = int(summary["write"]["bytes"]), float(summary["elapsed_s"])
    enough = written >= until["least_bytes"] and seconds * NS_PER_S >= until["least_ns"]
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


def caveats_of(steady: SteadyProof | None, *, quick: bool) -> list[str]:
    """Say what is wrong with the state that a measurement was taken in."""
    if steady is None:
        return ["the drive was not brought into steady state"]
    found = []
    if not steady.reached:
        found.append(
            f"steady state was not reached: writing ended after {steady.seconds:g} s and "
            f"{steady.capacities:.2f} capacities"
        )
    if steady.capacities < 2 and not quick:
        found.append("the drive was overwritten less than twice before, so fresh blocks may have been left")
    if quick and not (steady.reached and steady.capacities >= 2):
        found.append("quick: the drive was written for seconds instead of hours, so this is not steady state")
    return found
