"""Writing until the drive is in steady state, and the proof of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ssdlab.analysis.steady_state import WINDOW, Window, first_steady, judge_window
from ssdlab.methods.method import Params, RunData, Seconds, param
from ssdlab.methods.workloads import Order, closed_loop
from ssdlab.request import Until
from ssdlab.results.schema import SteadyProof
from ssdlab.units import NS_PER_S

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.results.run_folder import Step

LABEL = "to steady state"


class SteadyParams(Params):
    """Of the writing that brings a drive into steady state."""

    overwrites: float = param(
        2.0,
        "spans to be written at least before steady state may be declared, after the fill",
        unit="spans",
        quick=0.0,
        ge=0,
        le=20,
    )
    least_seconds: Seconds = param(
        3600.0, "to be written at least: the reviews write for hours", unit="s", quick=2.0, ge=0, le=864_000
    )
    most_seconds: Seconds = param(
        86_400.0,
        "after which the writing ends, steady or not; the result then says that it is not",
        unit="s",
        quick=8.0,
        gt=0,
        le=864_000,
    )
    round_seconds: Seconds = param(
        300.0,
        f"of one value of SNIA's rule, which judges {WINDOW} in a row: longer than a saw tooth of collection",
        unit="s",
        quick=0.5,
        gt=0,
        le=3600,
    )
    precondition_depth: int = param(
        32, "I/Os in flight while writing to steady state, as threads of one", unit="I/Os", ge=1, le=512
    )


class _Rounds:
    """Sums closed rows up to rounds of equal length, as they come; of one attempt of one step."""

    def __init__(self, round_ns: int) -> None:
        self._round_ns = round_ns
        self._seen = 0
        self._bytes = 0.0
        self.total_bytes = 0
        self.ended_ns = 0
        self.mb_s: list[float] = []

    def take(self, rows: Sequence[Any]) -> bool:
        """Take the rows not seen yet; returns whether a round ended with the last of them."""
        before = len(self.mb_s)
        for row in rows[self._seen :]:
            self._bytes += row.bytes
            self.total_bytes += row.bytes
            self.ended_ns = row.end_ns
            if row.end_ns >= (len(self.mb_s) + 1) * self._round_ns:
                self.mb_s.append(self._bytes / self._round_ns * NS_PER_S / 1e6)
                self._bytes = 0.0
        self._seen = len(rows)
        return len(self.mb_s) > before


def write_to_steady_state(
    lab: Lab, p: SteadyParams, order: Order, block_bytes: int, *, label: str = LABEL
) -> Step:
    """Write over the whole span until SNIA's rule holds, not before the least, nor longer than the most."""
    row_ns, round_ns = _row_and_round_ns(p)
    workload = closed_loop(
        order, "write", block_bytes=block_bytes, in_flight=p.precondition_depth, seconds=p.most_seconds
    ).model_copy(update={"interval_ns": row_ns})
    least_bytes = round(p.overwrites * cast("int", lab.span.length))
    least_ns = round(p.least_seconds * NS_PER_S)
    rounds = _Rounds(round_ns)

    def holds(rows: Sequence[Any]) -> bool:
        ended = rounds.take(rows)
        enough = rounds.total_bytes >= least_bytes and rounds.ended_ns >= least_ns
        return ended and enough and first_steady([rounds.mb_s[-WINDOW:]]) is not None

    bounds = {"least_bytes": least_bytes, "least_ns": least_ns, "round_ns": round_ns}
    until = Until("steady", dict(bounds), holds)
    return lab.precondition(workload, label=label, until=until)


def proof(data: RunData, p: SteadyParams, label: str = LABEL) -> SteadyProof | None:
    """Judge the writing before the measurement; None if it was not done."""
    step = data.step(label)
    if step is None:
        return None
    round_s = _row_and_round_ns(p)[1] / NS_PER_S
    rounds = list(_rounds_of(data, step, round_s))
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
        capacities=written / data.capacity_bytes,
        seconds=seconds,
        **_window_fields(window),
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


def _row_and_round_ns(p: SteadyParams) -> tuple[int, int]:
    """Return rows of a second at most, and a round of a whole number of them."""
    asked_ns = round(p.round_seconds * NS_PER_S)
    rows = -(-asked_ns // NS_PER_S)
    row_ns = -(-asked_ns // rows)
    return row_ns, rows * row_ns


def _rounds_of(data: RunData, step: Step, round_seconds: float) -> Iterator[float]:
    """Yield the mean throughput of each whole round, in MB/s."""
    rows = data.rows(step)
    ends_s = rows["end_ns"].astype(np.float64) / NS_PER_S
    if not ends_s.size:
        return
    number = np.ceil(ends_s / round_seconds - 1e-9).astype(np.int64) - 1
    whole = int(ends_s.max() / round_seconds + 1e-9)
    written = np.bincount(number, weights=rows["bytes"].astype(np.float64), minlength=whole)
    yield from (float(each) / round_seconds / 1e6 for each in written[:whole])


def _window_fields(window: Window | None) -> dict[str, Any]:
    if window is None:
        return dict.fromkeys(("first", "mean_mb_s", "range_share", "rise_share", "slope_mb_s"))
    return {
        "first": window.first,
        "mean_mb_s": window.mean,
        "range_share": window.range_share,
        "rise_share": window.rise_share,
        "slope_mb_s": window.slope,
    }
