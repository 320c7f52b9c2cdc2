"""The verdicts of ACT: every slice by the limits of both rules, and by what was done of the load. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ssdlab.analysis import act_verdict
from ssdlab.formats.act.config import READS_1X, WRITES_1X
from ssdlab.methods.act.slicing import part_of
from ssdlab.methods.results.act import RULES, ActSlice, ActVerdict, Rule

if TYPE_CHECKING:
    from ssdlab.analysis.act_backlog import GivenUp
    from ssdlab.methods.act.params import LoadParams
    from ssdlab.methods.steps import Tables
    from ssdlab.results.run_folder import Step

VERSION = "6.6"
"""Of ACT, whose definition of the load this is."""


def verdict_of(
    data: Tables, step: Step, p: LoadParams, rule: Rule, slices: Sequence[ActSlice], stopped: GivenUp | None
) -> ActVerdict:
    """Judge all slices by one rule: each has to pass, and to have been given the load."""
    shares = [getattr(each, RULES[rule]) for each in slices] or [part_of(data, step, p, rule)]
    worst = {str(ms): max(one[str(ms)] for one in shares) for ms in act_verdict.THRESHOLDS_MS}
    why = stopped.why if stopped is not None else next(_failures(rule, slices), "")
    if not why and not slices:
        why = "the test is shorter than one slice"
    if not why and not sum(each.ios[rule] for each in slices):
        why = "the load has no reads, and the limits are theirs"
    return ActVerdict(rule=rule, passed=not why, worst=worst, why=why)


def times_of(reads: int, writes: int) -> int:
    """Return N of Nx: of rates in another ratio there is none, and it is 0."""
    number, rest = divmod(reads, READS_1X)
    return number if not rest and writes == number * WRITES_1X else 0


def _failures(rule: Rule, slices: Sequence[ActSlice]) -> Iterator[str]:
    for each in slices:
        for name in sorted(each.short, key=lambda name: each.given[name]):
            yield f"slice {each.number}: {name} did only {each.given[name]:.1%} of what was due"
        for ms, limit in act_verdict.LIMITS.items():
            share = getattr(each, RULES[rule])[str(ms)]
            if share >= limit:
                yield (
                    f"slice {each.number}: {share:.2%} of the reads took {ms} ms or longer, "
                    f"not under {limit:.1%}"
                )
