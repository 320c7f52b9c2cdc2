"""Findings and tables of ACT tests and of the ACT search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.analysis.act import LIMITS, MIN_DONE, THRESHOLDS_MS
from ssdlab.plugin import Amount, Claim, Evidence, Table, cells, of_unit, span_text

from .result import RULES, UNJUDGED, changed_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .result import ActDelivery, ActResult, ActSearchResult, ActTry, Rule

CLOCKS = {"2019": "a read counts from when it was due", "6.x": "a read counts from when a thread issued it"}
_NOT_AN_HOUR = f": not judged, since {UNJUDGED}"


def findings(result: ActResult) -> Iterator[Claim]:
    """Yield the verdict by each rule, the load delivery, the stress test, and the certificate."""
    load = result.load_text
    shown = Evidence((result.ordinal,))
    for each in result.verdicts:
        why = " ({why})" if each.why else ""
        of = "by the rule of {rule}" if result.judged else "the limits of {rule} in {ran}"
        short = ": a trial, for {trial}" if result.judged and result.trial else ""
        yield Claim(
            f"{{load}} {{did}} {of}, {CLOCKS[each.rule]}{why}{short if result.judged else _NOT_AN_HOUR}",
            evidence=shown,
            others={
                "load": load,
                "did": verdict_word(each.passed, judged=result.judged),
                "rule": each.rule,
                "why": each.why,
                "ran": Amount(result.covered_s, "s"),
                "trial": result.trial,
            },
        )
    if result.delivery is not None:
        yield delivered(result.delivery)
    if result.stress_completed is not None:
        why = " ({why})" if result.stress_stopped else ""
        ran = "completed" if result.stress_completed else f"was not completed{why}"
        yield Claim(f"Twice the load {ran}", others={"why": result.stress_stopped})
    if result.certified:
        yield Claim(
            "Certified at {load} by the rule of {rule}",
            evidence=shown,
            others={"load": load, "rule": result.rule},
        )


def verdict_word(passed: bool | None, *, judged: bool) -> str:
    """Return a verdict in words; limits are `kept`, not `passed`, in a run too short for ACT to judge."""
    if passed is None:
        return "was not judged" if judged else "was not compared with"
    if judged:
        return "passed" if passed else "FAILED"
    return "kept" if passed else "did NOT keep"


def delivered(delivery: ActDelivery) -> Claim:
    """Return the finding of the delivery test, which is ssdlab's own and not a rule of ACT."""
    if delivery.delivered is None:
        return Claim("Load delivery not judged ({why})", others={"why": delivery.why})
    share = Amount(100 * MIN_DONE, "%")
    if delivery.delivered:
        return Claim(
            "Load delivered: at least {share} in every slice, with a margin at its ends (ssdlab's own test)",
            others={"share": share},
        )
    return Claim(
        "Load NOT delivered: {why} (ssdlab's own test; ACT has no such limit)",
        others={"why": delivery.why},
    )


def slices(result: ActResult, rule: Rule) -> Table:
    """Return a table of the share of slow reads in each slice, with the verdicts of one rule."""
    head = (
        "Slice",
        *(f"≥ {ms} ms" for ms in THRESHOLDS_MS),
        "Reads/s",
        "Load done, slowest stream",
        "Verdict" if result.judged else "Limits, not judged",
    )
    rows = [
        (
            cells.count(each.number),
            *_shares(getattr(each, RULES[rule])),
            cells.iops(each.rates[rule]),
            cells.share(each.done_share),
            cells.words(verdict_word(each.passed[rule], judged=result.judged)),
        )
        for each in result.slices
    ]
    verdict = next(each for each in result.verdicts if each.rule == rule)
    word = "not judged" if verdict.passed is None else verdict_word(verdict.passed, judged=result.judged)
    blank = cells.words("")
    rows.append((cells.words("worst"), *_shares(verdict.worst), blank, blank, cells.words(word)))
    return Table(f"% of reads by the rule of {rule}; {CLOCKS[rule]}", head, tuple(rows))


def _shares(over: Mapping[str, float]) -> tuple[cells.Cell, ...]:
    return tuple(cells.Cell(f"{100 * over[str(ms)]:.2f}", repr(over[str(ms)])) for ms in THRESHOLDS_MS)


def load(result: ActResult) -> Table:
    fields = [
        ("load", result.load_text),
        *result.derived.items(),
        *((f"{name}, requested per second", f"{rate:g}") for name, rate in result.asked.items()),
        ("ran", f"{span_text(result.ran_s)} of {span_text(result.asked_s)}"),
        ("ended early", result.stopped or "no"),
        (
            "not done one second after the end",
            str(result.undone) if result.completed else cells.NOTHING,
        ),
        ("mean power", of_unit(result.mean_w, "W") if result.mean_w is not None else cells.NOTHING),
    ]
    rows = tuple((cells.words(name), cells.words(text)) for name, text in fields)
    return Table(f"{result.program} {result.act_version}", ("What", ""), rows)


def tables(result: ActResult) -> tuple[Table, ...]:
    searched = (tries(result, result.load),) if result.tries else ()
    return (load(result), *(slices(result, rule) for rule in RULES), *searched)


def search_findings(result: ActSearchResult) -> Iterator[Claim]:
    """Yield the score, or that no load passed; also whether a load passed above one that failed."""
    tried = Evidence(tuple(each.ordinal for each in result.tries))
    rule = f"the rule of {result.rule}, arrivals {result.arrivals}"
    if result.score is None:
        by_rule = result.score_by_rule
        alone = "" if by_rule is None else " was delivered (ssdlab's own test); by the rule alone {alone}"
        says = "No load passed by {rule}" + alone + ("" if result.judged else _NOT_AN_HOUR)
        named: dict[str, Amount | str] = {"rule": rule, "alone": result.by_rule_text}
        if (unjudged := next((each for each in result.tries if each.passed is None), None)) is not None:
            says += "; {unjudged}"
            named["unjudged"] = f"{unjudged.load}x was not judged: {unjudged.why}"
        yield Claim(says, evidence=tried, others=named)
        return
    others: dict[str, Amount | str] = {"rule": rule}
    changed = ""
    if result.changed:
        changed, others["changed"] = " with {changed}", changed_text(result.changed)
    bound = "At least " if result.lowest_failed is None else ""
    says = f"{bound}{{figure}}{changed} by {{rule}}, and delivered (ssdlab's own test)"
    columns = {"Score, delivered": f"{bound.lower()}{{figure}}{changed}", "Latency rule alone": "{alone}"}
    others["alone"] = result.by_rule_text
    says += "" if result.judged else _NOT_AN_HOUR
    if result.score_by_rule != result.score:
        says += "; by the rule alone {alone}"
    if (ended_by := result.ended_by) is not None:
        says += "; stopped by {failed}"
        others["failed"] = _stopped(ended_by)
        columns["Stopped by"] = "{failed}"
    if result.score_per_w is not None:
        says += "; {per_w}"
        others["per_w"] = Amount(result.score_per_w, "x/W")
        columns["Efficiency"] = "{per_w}"
    yield Claim(
        says,
        figure=Amount(result.score, "x"),
        evidence=tried,
        others=others,
        columns=columns,
    )
    held = max((each.load for each in result.tries if each.held), default=0)
    failed_at = [each.load for each in result.tries if each.passed is not None and not each.held]
    if failed_at and held >= min(failed_at):
        yield Claim(
            "{held} held in one try, but {failed} failed in another: "
            "the outcome depends on more than the load",
            evidence=tried,
            others={"held": f"{held}x", "failed": f"{min(failed_at)}x"},
        )


def _stopped(tried: ActTry) -> str:
    """Return which load failed and why: by ACT's rule, or by ssdlab's delivery test."""
    if tried.passed is None:
        return f"{tried.load}x, not judged: {tried.why}"
    return f"{tried.load}x, {tried.why if not tried.passed or tried.delivery is None else tried.delivery.why}"


def score(result: ActSearchResult) -> Table:
    head = (
        "Score, delivered",
        "Rule",
        "Latency rule alone",
        "Arrivals",
        "Resolution",
        "x/W",
        "W",
    )
    bound = "at least " if result.lowest_failed is None else ""
    row = (
        cells.words("none" if result.score is None else f"{bound}{result.score_text}"),
        cells.words(result.rule),
        cells.words(result.by_rule_text),
        cells.words(result.arrivals),
        cells.words(cells.NOTHING if result.resolution is None else f"{result.resolution}x"),
        cells.plain(result.score_per_w),
        cells.plain(result.score_w),
    )
    return Table("Scores", head, (row,))


def tries(result: ActResult | ActSearchResult, score: float | None) -> Table:
    """Return a table of every load tried; the row of the score's load is marked."""
    tried, judged = result.tries, result.judged
    limits = tuple(f"≥ {ms} ms" for ms in LIMITS)
    head = ("Load", "Drive before", "Written before", "Ran", *limits, "Done", "W", "Rule", "Delivered")
    rows = tuple(
        (
            cells.words(f"{each.load}x"),
            cells.words(each.drive_state),
            cells.Cell(f"{each.written_before_bytes / 1e9:.3g} GB", str(each.written_before_bytes)),
            cells.seconds(each.ran_s),
            *(_worst(each, ms, result.slice_s) for ms in LIMITS),
            cells.share(each.min_done),
            cells.plain(each.mean_w),
            cells.words(verdict_word(True, judged=judged) if each.passed else each.why),
            cells.words(_delivered(each)),
        )
        for each in tried
    )
    marked = max((at for at, each in enumerate(tried) if each.load == score), default=None)
    caption = (
        "every load tried, in the order of the search; % of reads, ≥ where a load ended in its first slice"
    )
    return Table(caption, head, rows, marked=marked)


def _worst(tried: ActTry, ms: int, slice_s: float) -> cells.Cell:
    share = tried.share_over(ms, slice_s)
    found = cells.plain(100 * share)
    return replace(found, text=f"≥ {found.text}") if share and tried.is_bound(slice_s) else found


def _delivered(each: ActTry) -> str:
    if each.delivery is None or each.delivery.delivered is None:
        return cells.NOTHING
    return "yes" if each.delivery.delivered else each.delivery.why


def search_tables(result: ActSearchResult) -> tuple[Table, ...]:
    return (score(result), tries(result, result.score))
