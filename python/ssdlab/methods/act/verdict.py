"""The verdicts of ACT: every slice is checked against both rules' limits, and for delivery of its load.

These functions are pure: they make slices from the tables of a run, and the result from its slices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from pydantic import BaseModel

from ssdlab.analysis.act import LIMITS, MIN_DONE, THRESHOLDS_MS, GivenUp, Slice, min_done, slices
from ssdlab.formats.act import derived, option_text, options, thousandths, times_of
from ssdlab.plugin import (
    NS_PER_S,
    Amount,
    Bound,
    Claim,
    Departure,
    Evidence,
    Facts,
    Idle,
    Metric,
    Qualifier,
    Remarks,
    RunData,
    RunFacts,
    and_listed,
    clause,
    evidence_of,
    fixed_share_text,
    unprepared,
)

from .load import burst_ios
from .result import (
    DAY_S,
    RULES,
    UNJUDGED,
    ActDelivery,
    ActResult,
    ActSearchResult,
    ActSlice,
    ActTry,
    ActVerdict,
    Rule,
    changed_text,
)
from .trial import given_up, ran_s, undone, workload_of

if TYPE_CHECKING:
    from ssdlab.plugin import Columns, Step, Tables, Workload

    from .params import LoadParams


VERSION = "6.6"
"""Version of ACT that defines the load."""
HOUR_S = 3600
TEST = "test"
STRESS = "stress, twice the load"
DAY_VERDICT = "verdict of the first day"
_THREADS = "service_threads"
VERDICT = "act-verdict"
"""Name of the finding that says whether a load passed; its argument is the ordinal of the load's step."""


class Judged(BaseModel):
    """Argument of a verdict: ordinal of the step that it judges."""

    of: int


class Passed(Facts):
    passed: bool
    load: int | None = None
    """Load of a try in a search; None for the first day of a certificate."""


def verdict_of(
    data: Tables,
    step: Step,
    p: LoadParams,
    rule: Rule,
    slices: Sequence[ActSlice],
    stopped: GivenUp | None,
    failed: str = "",
) -> ActVerdict:
    """Judge a test by one of ACT's rules: each slice must pass, and the test must reach its end.

    There is no verdict without a whole slice or without reads. There is none if I/O failed, as ACT does not
    count failed I/O, or if the test was paused. `failed` describes I/O that failed in earlier steps.
    """
    shares = [getattr(each, RULES[rule]) for each in slices] or [part_of(data, step, p, rule)]
    worst = {str(ms): max(one[str(ms)] for one in shares) for ms in THRESHOLDS_MS}
    why = stopped.why if stopped is not None else next(map(clause, failures(rule, slices)), "")
    passed: bool | None = not why
    if passed and not slices:
        passed, why = None, "the test is shorter than one slice"
    elif passed and not sum(each.ios[rule] for each in slices):
        passed, why = None, "the load has no reads, which the limits are for"
    shown = evidence_of(step)
    if passed and (faulty := shown.why_faulty or failed):
        passed, why = None, f"I/O failed: {faulty}"
    elif passed is not None and shown.paused_s:  # the pause may have caused either verdict
        passed, why = None, shown.disturbance
    return ActVerdict(rule=rule, passed=passed, worst=worst, why=why)


def failures(rule: Rule, slices: Sequence[ActSlice]) -> Iterator[Claim]:
    """Yield each slice and threshold at which a rule is broken, in order."""
    for each in slices:
        for ms, limit in LIMITS.items():
            share = getattr(each, RULES[rule])[str(ms)]
            if share >= limit:
                yield Claim(
                    f"slice {{slice}}: {{figure}} of reads took {ms} ms or longer, not under "
                    f"{fixed_share_text(limit)}",
                    figure=Amount(100 * share, "%"),
                    bound=Bound("under", Amount(100 * limit, "%")),
                    evidence=Evidence(rows=(each.number - 1, each.number - 1)),
                    others={"slice": str(each.number)},
                )


def shortfalls(slices: Sequence[ActSlice]) -> Iterator[Claim]:
    """Yield each stream that completed too little of its load in a slice, by ssdlab's own test."""
    for each in slices:
        for name in sorted(each.short, key=lambda name: each.given[name]):
            yield Claim(
                "slice {slice}: {stream} did only {figure} of what was due",
                figure=Amount(100 * each.given[name], "%"),
                bound=Bound("at least", Amount(100 * MIN_DONE, "%")),
                evidence=Evidence(rows=(each.number - 1, each.number - 1)),
                others={"slice": str(each.number), "stream": name},
            )


def delivery_of(slices: Sequence[ActSlice]) -> ActDelivery:
    """Judge whether every slice delivered its load; unknown (None) without a whole slice."""
    if not slices:
        return ActDelivery(delivered=None, why="the test is shorter than one slice")
    why = next(map(clause, shortfalls(slices)), "")
    return ActDelivery(delivered=not why, why=why)


def slices_of(data: Tables, step: Step, p: LoadParams) -> tuple[ActSlice, ...]:
    """Return the whole slices of a test, with the verdicts of both rules and the load delivered in each."""
    rows, buckets, load = data.rows(step), data.row_buckets(step), workload_of(step)
    ended = rows["end_ns"] <= p.test_duration_sec * NS_PER_S
    whole = rows["row"][ended & ~rows["partial"]]
    count = int(whole.max()) + 1 if whole.size else 0
    found = {rule: _judged(buckets, p, rule, count) for rule in RULES}
    done = _done(rows, p)
    return tuple(
        _slice({rule: slices[at] for rule, slices in found.items()}, _given(load, done, at + 1, p))
        for at in range(len(found["6.x"]))
    )


def _slice(by_rule: Mapping[Rule, Slice], given: dict[str, Any]) -> ActSlice:
    return ActSlice(
        number=by_rule["6.x"].number,
        ios={rule: each.ios for rule, each in by_rule.items()},
        rates={rule: each.rate for rule, each in by_rule.items()},
        response=_by_threshold(by_rule["2019"].over),
        service=_by_threshold(by_rule["6.x"].over),
        passed={rule: each.passes for rule, each in by_rule.items()},
        **given,
    )


def part_of(data: Tables, step: Step, p: LoadParams, rule: Rule) -> dict[str, float]:
    """Return the shares of slow reads over the whole run, for a run without a whole slice."""
    (part,) = _judged(data.row_buckets(step), p, rule, None)
    return _by_threshold(part.over)


def done_shares(data: Tables, step: Step, p: LoadParams) -> dict[str, float]:
    """Return, for each stream, the share of its due I/Os that the test completed."""
    rows, seconds = data.rows(step), ran_s(step, p)
    ended = rows["end_ns"] <= p.test_duration_sec * NS_PER_S
    counted = np.where(ended, rows["ios"] + rows["failed"], 0)
    return {
        each.name: float(counted[rows["stream"] == each.name].sum()) / (float(each.requested_iops) * seconds)
        for each in workload_of(step).streams
        if each.requested_iops
    }


def _judged(buckets: Columns, p: LoadParams, rule: Rule, rows: int | None) -> list[Slice]:
    """Cut the reads that a rule counts in the first `rows` rows into whole slices; None: one slice of all."""
    counted = np.isin(buckets["stream"], p.judged[rule])
    mine = (buckets["direction"] == "read") & counted & (buckets["clock"] == RULES[rule])
    row, parts = buckets["row"][mine], p.slice_sec // p.interval_s
    if rows is None:
        row, rows, parts = np.zeros_like(row), 1, 1
    edges = (buckets["low_ns"][mine], buckets["high_ns"][mine], buckets["count"][mine])
    return slices(row, edges, rows, parts, p.slice_sec)


def _done(rows: Columns, p: LoadParams) -> dict[tuple[str, int], int]:
    """Return the I/Os done or failed, by stream and by slice number (from 1)."""
    done: dict[tuple[str, int], int] = {}
    counted = rows["ios"] + rows["failed"]
    for name, row, ios in zip(rows["stream"], rows["row"], counted, strict=True):
        at = (str(name), int(row) // (p.slice_sec // p.interval_s) + 1)
        done[at] = done.get(at, 0) + int(ios)
    return done


def _given(load: Workload, done: Mapping[tuple[str, int], int], number: int, p: LoadParams) -> dict[str, Any]:
    """Return the share of due I/Os that each stream did in a slice, and the streams that did too little."""
    given: dict[str, float] = {}
    short: list[str] = []
    for stream in load.streams:
        if stream.requested_iops is None:
            continue
        rate, ios = float(stream.requested_iops), done.get((stream.name, number), 0)
        given[stream.name] = ios / (rate * p.slice_sec)
        burst = burst_ios(stream)
        if ios < min_done(rate, p.slice_sec, stream.workers, burst, MIN_DONE):
            short.append(stream.name)
    return {"given": given, "short": tuple(short)}


def _by_threshold(over: Mapping[int, float]) -> dict[str, float]:
    return {str(ms): share for ms, share in over.items()}


def act_result(
    data: RunData, p: LoadParams, step: Step | None = None, tries: tuple[ActTry, ...] = ()
) -> ActResult:
    """Judge every slice of the test (or of `step`), and whether a stress test reached its end.

    `tries` are those of the search that chose the load.
    """
    step = step or data.step(TEST)
    assert step is not None  # the procedure always runs it
    stopped, slices, config = given_up(data, step, p), slices_of(data, step, p), p.act_config()
    unready = unprepared(data.steps, step.ordinal)
    verdicts = tuple(verdict_of(data, step, p, rule, slices, stopped, unready) for rule in RULES)
    delivery = delivery_of(slices)
    passed = _passed(verdicts, p) and delivery.delivered is not False
    load = times_of(config.read_reqs_per_sec, config.write_reqs_per_sec)
    stress = data.step(STRESS)
    overrun = None if stress is None else given_up(data, stress, p)
    asked_for = stress is not None or any(each.label == DAY_VERDICT for each in data.steps)
    streams = workload_of(step).streams
    if stress is not None and overrun is None and (disturbed := evidence_of(stress).disturbance):
        overrun = GivenUp(ran_s(stress, p), disturbed)
    completed = None if stress is None else overrun is None
    result = ActResult(
        quick=data.quick,
        program=cast("Literal['act_storage', 'act_index']", config.program),
        act_version=VERSION,
        load=load,
        arrivals=p.arrivals,
        service_threads=p.threads,
        config={**options(config), "service_threads": p.threads},
        changed=p.changed(),
        derived=derived(config),
        asked={each.name: float(each.requested_iops) for each in streams if each.requested_iops},
        ordinal=step.ordinal,
        asked_s=float(p.test_duration_sec),
        ran_s=ran_s(step, p),
        completed=stopped is None,
        stopped="" if stopped is None else f"{stopped.why}, after {stopped.after_s:.0f} s",
        undone=undone(data, step, p),
        slice_s=float(p.slice_sec),
        slices=slices,
        verdicts=verdicts,
        delivery=delivery,
        rule=p.rule,
        mean_w=step.measured.mean_w,
        stress_completed=completed,
        stress_stopped="" if overrun is None else f"{overrun.why}, after {overrun.after_s:.0f} s",
        certified=passed and bool(completed) and _certifies(p, load) if asked_for else None,
        tries=tries,
    )
    figure = _scalar(result, load if passed and load else None, p)
    unjudged = "" if result.judged else UNJUDGED
    certified = result.certified and not result.trial
    return result.model_copy(update={"scalars": (figure,), "unjudged": unjudged, "certified": certified})


def day_passed(data: Tables, step: Step, p: LoadParams) -> bool:
    stopped, slices = given_up(data, step, p), slices_of(data, step, p)
    verdict = verdict_of(data, step, p, p.rule, slices, stopped)
    return verdict.passed is True and delivery_of(slices).delivered is True


def _passed(verdicts: tuple[ActVerdict, ...], p: LoadParams) -> bool:
    return any(each.passed is True for each in verdicts if each.rule == p.rule)


def _scalar(result: ActResult, load: float | None, p: LoadParams) -> Metric:
    did = "passed in a trial by" if result.trial else "passed by"
    did = did if result.judged else "within the limits of"
    return Metric.more(
        "act_index_load_passed" if result.program == "act_index" else "act_load_passed",
        f"ACT load {did} {delivered_by(p)}",
        None if load is None else float(load),
        "x",
        steps=(result.ordinal,),
        chosen_among=tuple(_bounding(result.tries, result.ordinal)),
        qualifiers=not_judged(result, (result.ordinal,)),
    )


def _bounding(tries: Sequence[ActTry], own: int) -> Iterator[int]:
    """Yield the ordinals of other tries that bound the score: highest that passed, lowest that failed."""
    failed = min((each.load for each in tries if not each.held), default=math.inf)
    held = max((each.load for each in tries if each.held and each.load < failed), default=failed)
    return (each.ordinal for each in tries if each.load in (held, failed) and each.ordinal != own)


def not_judged(result: ActResult | ActSearchResult, steps: tuple[int, ...]) -> tuple[Qualifier, ...]:
    """Return the qualifier for figures of a run too short for ACT's judgement; none if it was long enough."""
    why = result.why_unjudged
    return (Qualifier(code="not-judged", steps=steps, why=why),) if why else ()


def delivered_by(p: LoadParams, words: str = ", delivered") -> str:
    """Return what an ACT figure is based on: its rule, and the options that differ from ACT's own."""
    changed = p.changed()
    return f"the {p.rule} rule{words}{f'; {changed_text(changed)}' if changed else ''}"


def _instead(p: LoadParams, name: str, value: object) -> str:
    default = type(p).model_fields[name].default
    own = "act6 or act2019" if name == "arrivals" else option_text(name, default).rpartition(" ")[2]
    return f"{option_text(name, value)} instead of {own}"


_OWN_THREADS = "act-threads"


def act_remarks(facts: RunFacts, p: LoadParams) -> Remarks:
    """Return the options that differ from ACT's own, and why the test is not a certificate."""
    del facts
    return Remarks(tuple(_departures(p)))


def _certifies(p: LoadParams, load: float) -> bool:
    """Return whether a test with these parameters can certify: ACT's own load, for at least a day."""
    departed = {each.code for each in _departures(p)} - {_OWN_THREADS}
    return bool(load) and p.test_duration_sec >= DAY_S and not departed


def _departures(p: LoadParams) -> Iterator[Departure]:
    changed = {name: value for name, value in p.changed().items() if not name.endswith("reqs_per_sec")}
    threads = changed.pop(_THREADS, None)
    if changed:
        own = and_listed([_instead(p, *each) for each in changed.items()])
        yield Departure(
            code="act-load", what=own, why="it differs from ACT's own load, so it is not comparable with it"
        )
    if threads is not None:
        why = "this bounds the I/Os in flight, and how many arrive in one tick"
        yield Departure(code=_OWN_THREADS, what=_instead(p, _THREADS, threads), why=why)
    if p.slice_sec != HOUR_S:
        yield Departure(code="act-slices", what=f"slices of {p.slice_sec} s", why="ACT judges hours")
    if p.test_duration_sec > p.slice_sec and (rest_s := p.test_duration_sec % p.slice_sec):
        why = "the rules count whole slices only"
        yield Departure(code="act-rest", what=f"the last {rest_s} s do not count", why=why)
    if not p.prepare:
        yield Departure(code="act-unprepared", what="the drive was not prepared as by act_prep")
    if not times_of(p.read_reqs_per_sec, p.write_reqs_per_sec):
        what = "the ratio of reads to writes is not one of ACT's"
        yield Departure(code="act-ratio", what=what, why="the load is not a multiple of 1x")


def load_of(load: float) -> str:
    return f"load {load}x"


def loads_tried(steps: Sequence[Step]) -> dict[int, int]:
    """Return the load of each judged try of a search, by the ordinal of its step."""
    found = (step for step in steps if step.verb == "find" and step.args.get("name") == VERDICT)
    loads = ((step.asked(Judged).of, step.found(Passed).load) for step in found)
    return {of: load for of, load in loads if load is not None}


def tries_of(data: RunData, p: LoadParams) -> tuple[ActTry, ...]:
    """Return every try of a run in order, with the drive's state before it."""
    tries: list[ActTry] = []
    loads = loads_tried(data.steps)
    state = "as it was found"
    for step in data.steps:
        if (number := loads.get(step.ordinal)) is not None:
            load = thousandths(number * p.unit_load)
            unready = unprepared(data.steps, step.ordinal)
            tries.append(try_of(data, step, load, p, state, data.written_before(step), unready))
            state = f"after {tries[-1].load}x"
        elif step.verb == "precondition":
            state = "prepared"
        elif step.verb == "idle":
            state += f", rested {step.asked(Idle).seconds:g} s"
    return tuple(tries)


def try_of(
    data: Tables,
    step: Step,
    load: int | float,
    p: LoadParams,
    state: str = "",
    written: int = 0,
    unready: str = "",
) -> ActTry:
    """Judge one load by its rule, and whether it was delivered."""
    stopped, slices = given_up(data, step, p, early=True), slices_of(data, step, p)
    verdict, delivery = verdict_of(data, step, p, p.rule, slices, stopped, unready), delivery_of(slices)
    return ActTry(
        load=load,
        ordinal=step.ordinal,
        ran_s=ran_s(step, p),
        completed=stopped is None,
        abandoned=stopped is not None and stopped.certain,
        passed=verdict.passed,
        why=verdict.why,
        delivery=delivery,
        worst=verdict.worst,
        done=done_shares(data, step, p),
        drive_state=state,
        written_before_bytes=written,
        mean_w=step.measured.mean_w,
    )
