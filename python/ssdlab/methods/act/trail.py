"""The tries of a search, each judged, with the state of the drive before it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ssdlab.methods.act.ending import given_up, ran_s
from ssdlab.methods.act.judging import verdict_of
from ssdlab.methods.act.slicing import done_shares, slices_of
from ssdlab.methods.points import mean_w_of
from ssdlab.methods.results.act import ActTry

if TYPE_CHECKING:
    from ssdlab.methods.act.search import ActSearchParams
    from ssdlab.methods.method import RunData
    from ssdlab.methods.steps import Tables
    from ssdlab.results.run_folder import Step


def load_of(load: int) -> str:
    """Return the label of a try."""
    return f"load {load}x"


def tries_of(data: RunData, p: ActSearchParams) -> tuple[ActTry, ...]:
    """Return every try of a run, in order, with the state that the drive was in before it."""
    tries: list[ActTry] = []
    written, state = 0, "as it was found"
    for step in data.steps:
        summary = cast("dict[str, Any]", step.result.measurement or {})
        if step.label.startswith("load "):
            tries.append(try_of(data, step, p, state, written))
            state = f"after {tries[-1].load}x"
        elif step.verb == "precondition":
            state = "prepared"
        elif step.verb == "idle":
            state += f", rested {float(str(step.args['seconds'])):g} s"
        written += int((summary.get("write") or {}).get("bytes", 0))
    return tuple(tries)


def try_of(data: Tables, step: Step, p: ActSearchParams, state: str = "", written: int = 0) -> ActTry:
    """Judge one load by the rule that its name goes by."""
    stopped = given_up(data, step, p, p.trend_seconds)
    verdict = verdict_of(data, step, p, p.rule, slices_of(data, step, p), stopped)
    return ActTry(
        load=int(step.label.removeprefix("load ").removesuffix("x")),
        ordinal=step.ordinal,
        ran_s=ran_s(step, p),
        completed=stopped is None,
        abandoned=stopped is not None and stopped.forecast,
        passed=verdict.passed,
        why=verdict.why,
        worst=verdict.worst,
        done=done_shares(data, step, p),
        drive_state=state,
        written_before_bytes=written,
        mean_w=mean_w_of(cast("dict[str, Any]", step.result.measurement)),
    )
