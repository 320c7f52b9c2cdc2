"""Steady state of random writes and its proof: in full, by one random pass, or by placing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, JsonValue

from ssdlab.analysis.steady_state import MIN_CAPACITIES, WINDOW, judge_window
from ssdlab.lab.method import param
from ssdlab.lab.parts.one_pass import (
    PASS_LABEL,
    SPEEDS_LABEL,
    AfterPass,
    Judged,
    Pass,
    judge,
    lay_out,
)
from ssdlab.lab.parts.steady import (
    LABEL,
    SteadyParams,
    proof,
    steady_until,
    write_to_steady_state,
    written_by,
)
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.lab.verbs.steps import Finding, Until
from ssdlab.lab.verbs.workload import OnePass, Place
from ssdlab.model.frozen import Bytes
from ssdlab.model.units import NS_PER_S
from ssdlab.results.drive_states import OnePassProof, PlacedProof, doubts
from ssdlab.results.evidence import evidence_of, not_proven

if TYPE_CHECKING:
    from ssdlab.lab.lab import Lab
    from ssdlab.lab.method import RunData
    from ssdlab.lab.verbs.verb import Tables
    from ssdlab.results.drive_states import SteadyProof

_ROUNDS_S = 120.0
"""Seconds that writes after a pass may last despite a shorter limit, until enough rounds can be judged."""
Preparation = Literal["full", "one-pass", "analytic"]


class RandomSteadyParams(SteadyParams):
    """Parameters of random writing to steady state, or of its substitutes."""

    precondition: Preparation = param(
        "full",
        "full: as in the procedure; one-pass: purge, then one random pass; analytic: a simulated drive's "
        "map computed by theory. The last two extend a time limit too short for five rounds, to at most "
        "two minutes",
    )
    spare: Annotated[float, Field(ge=0, lt=0.9)] = param(
        0.0, "spare share of the flash, for one-pass; 0: from drive record or profile", unit="share"
    )
    cache: Bytes = param(
        0,
        "one-pass: minimum bytes between a block's first write and its rewrite, so that no cache absorbs "
        "it; 0: from drive record or profile",
        unit="B",
        ge=0,
    )


@contextmanager
def in_steady_state(lab: Lab, p: RandomSteadyParams, block_bytes: int) -> Iterator[None]:
    """Bring the drive into the steady state of random writes for the body of a `with` statement.

    Raises
    ------
    Refused, UsageError
        The drive cannot have the requested pass or placed state.
    """
    if p.precondition == "full":
        lab.fill()
        with lab.on_interruption("re-precondition"):
            write_to_steady_state(lab, p, "random", block_bytes)
            yield
        return
    laid = lay_out(
        lab.usable_bytes,
        block_bytes,
        lab.spare,
        whole=lab.whole,
        asked=p.spare if p.precondition == "one-pass" else 0.0,
        cache_bytes=p.cache,
        placed=p.precondition == "analytic",
    )
    with lab.on_interruption("from-purge"):
        lab.purge()
        if p.precondition == "one-pass":
            before = _write_pass(lab, p, laid)
        else:
            lab.do(Place(spare=laid.spare), label="placed steady state")
            before = []
        _write_after(lab, p, laid, before)
        yield


def _write_pass(lab: Lab, p: RandomSteadyParams, laid: Pass) -> list[float]:
    """Write the pass, and return the speeds of its pieces in MB/s; empty in a plan."""
    workload = laid.workload(p.precondition_depth)
    step = lab.prepare(
        workload, lambda w: OnePass.laid(w, spare=laid.spare, spare_from=laid.spare_from), label=PASS_LABEL
    )

    def speeds(tables: Tables) -> dict[str, JsonValue]:
        rows = tables.rows(step)
        return {"mb_s": list[JsonValue](laid.speeds(rows["end_ns"], rows["bytes"]))}

    found = lab.find(Finding("pass-speeds", {"piece": laid.piece}, speeds), label=SPEEDS_LABEL)
    listed = found.result.facts.get("mb_s", [])
    assert isinstance(listed, list)
    return [float(each) for each in listed if isinstance(each, int | float)]


def _write_after(lab: Lab, p: RandomSteadyParams, laid: Pass, before: list[float]) -> None:
    """Write at random until steady state is proven, or the full procedure would end."""
    after = AfterPass(laid, before, placed=p.precondition == "analytic")
    max_ns = round(p.most_seconds * NS_PER_S)
    # The full procedure's condition must not end the writing before the drive was overwritten enough.
    full, bounds = steady_until(p, lab.usable_bytes, MIN_CAPACITIES)
    workload = closed_loop(
        "random",
        "write",
        block_bytes=laid.block_bytes,
        in_flight=p.precondition_depth,
        seconds=max(p.most_seconds, _ROUNDS_S),
    ).model_copy(update={"interval_ns": laid.row_ns})
    bounds = {**bounds, "least_ns": 0, "full_ns": bounds["least_ns"], "round_bytes": laid.round_bytes}

    def ends(rows: Sequence[Any]) -> bool:
        # A short limit must leave time for the rounds to judge, whose length depends on the flash.
        return after.holds(rows) or full(rows) or (after.judged and rows[-1].end_ns >= max_ns)

    until = Until("steady-after-pass", dict(bounds), ends)
    lab.precondition(workload, label=LABEL, until=until)


def proof_of_state(data: RunData, p: SteadyParams) -> SteadyProof | None:
    """Return the proof of the drive's steady state; None if the drive was not prepared."""
    step = data.step(LABEL)
    if not isinstance(p, RandomSteadyParams) or p.precondition == "full" or step is None:
        return proof(data, p)
    before, laid = _pass_of(data, p)
    rows = data.rows(step)
    placed = p.precondition == "analytic"
    judged = judge(laid, before, rows["end_ns"], rows["bytes"], placed=placed)
    in_full = not judged.steady and (found := proof(data, p)) is not None and found.reached
    if in_full and found is not None:
        # The drive was overwritten as in the full procedure, so the rounds after the pass do not count.
        judged = Judged(found.rounds_mb_s, found.round_s, judged.spare_found, judged.agreed, steady=True)
    window = None
    if len(judged.rounds_mb_s) >= WINDOW:
        window = judge_window(judged.rounds_mb_s[-WINDOW:], len(judged.rounds_mb_s) - WINDOW)
    passed = None if placed else data.step(PASS_LABEL)
    passed_bytes = 0 if passed is None else passed.measured.written_bytes
    passed_s = 0.0 if passed is None else float(passed.measured.elapsed_s)
    shown, written = evidence_of(step), step.measured.written_bytes + passed_bytes
    since = written_by(data.steps, data.capacity_bytes, data.voided)[step.ordinal]
    host, failed = shown.not_the_drive(WINDOW * judged.round_s), not_proven(data.steps, step)
    doubted = doubts([step.ordinal], hot=shown.hot, host=host, failed=failed)
    facts: dict[str, Any] = {
        "ordinal": step.ordinal,
        "round_s": judged.round_s,
        "rounds_mb_s": judged.rounds_mb_s,
        "first": None if window is None else window.first,
        "mean_mb_s": None if window is None else window.mean,
        "range_share": None if window is None else window.range_share,
        "rise_share": None if window is None else window.rise_share,
        "slope_mb_s": None if window is None else window.slope,
        "written_bytes": written,
        "capacities": written / laid.data_bytes,
        "seconds": float(step.measured.elapsed_s) + passed_s,
        "since": since.since,
        "since_capacities": since.bytes / laid.data_bytes,
        "spare": laid.spare,
        "doubts": doubted,
        "reached": judged.steady and not doubted,
        "in_full": in_full or None,
    }
    if placed:
        return PlacedProof(**facts)
    return OnePassProof(
        **facts,
        pass_bytes=passed_bytes,
        spare_from=laid.spare_from,
        spare_found=judged.spare_found,
        agreed=judged.agreed,
    )


def _pass_of(data: RunData, p: RandomSteadyParams) -> tuple[list[float], Pass]:
    """Return the speeds of the pass in MB/s and its plan, as recorded by the steps."""
    step = next(step for step in data.steps if step.verb in (OnePass.verb, Place.verb))
    after = data.step(LABEL)
    assert after is not None  # the caller has it
    _, length = after.ran.streams[0].span_bytes(data.capacity_bytes, data.logical_block_bytes)
    block_bytes = after.ran.streams[0].block[0].bytes
    if step.verb == Place.verb:
        return [], Pass(length, step.asked(Place).spare, "profile", 0, block_bytes)
    asked = step.asked(OnePass)
    speeds = next(each for each in data.steps if each.label == SPEEDS_LABEL).result.facts["mb_s"]
    assert isinstance(speeds, list)
    laid = Pass(length, asked.spare, asked.spare_from, 0, block_bytes)
    return [float(each) for each in speeds if isinstance(each, int | float)], laid
