"""The result of the search for the highest rate within a latency bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from ssdlab.plugin import (
    SHARE_DONE,
    Amount,
    Bound,
    Claim,
    Evidence,
    Latencies,
    Metric,
    Qualifier,
    ResultBase,
    Stored,
    Table,
    absent,
    cells,
    clause,
    count_text,
    counted,
    counted_were,
    evidence_of,
    latency_text,
    searched,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.plugin import Step


_SHOWN = ("mean", "p50", "p90", "p99", "p99.9", "p99.99", "max")


class OfferedLoad(Stored):
    """One rate that was tried in an open loop."""

    rate: int = Field(description="arrivals a second")
    ordinal: int
    iops: float | None = None
    dropped: int = 0
    response_ns: Latencies = Field(default={}, description="of the slower direction")
    mean_w: float | None = None
    held: bool = Field(description="whether the rate was done and the percentile stayed under the bound")
    why: str = Field(default="", description="why it did not hold")
    disturbed: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="whether that is failed I/O or a pause of ssdlab, not the drive; absent: no",
    )

    @classmethod
    def of(cls, step: Step, percentile: str, bound_ns: float, maximum: int) -> Self:
        """Judge the step that ran one rate.

        A plan has no results: it assumes the longest search, in which only the highest rate (`maximum`)
        fails.
        """
        summary = step.summary
        assert step.tried is not None  # every step of the search has it
        rate = step.tried.value
        if summary is None:
            return cls(rate=rate, ordinal=step.ordinal, held=rate < maximum, why="not measured")
        sides = summary.transfers
        worst = {key: summary.slower(key) for key in _SHOWN}
        # Too few I/Os for the percentile: use the maximum, which is an upper bound of it.
        ios = sum(side.ios for side in sides)
        latency_ns, what = worst[percentile], f"{percentile} was"
        if latency_ns is None:
            latency_ns, what = worst["max"], f"the longest of {counted(ios, 'I/O')} took"
        requested, dropped = sum(side.requested for side in sides), sum(side.dropped for side in sides)
        done = ios / requested if requested else None
        disturbed = evidence_of(step).disturbed
        failed = disturbed or failure_of(
            done, dropped, Amount(latency_ns, "ns"), what, bound_ns, Evidence((step.ordinal,))
        )
        return cls(
            rate=rate,
            ordinal=step.ordinal,
            iops=summary.iops,
            dropped=dropped,
            response_ns=worst,
            mean_w=summary.mean_w,
            held=failed is None,
            why="" if failed is None else clause(failed),
            disturbed=disturbed is not None or None,
        )

    @property
    def unmeasured(self) -> bool:
        """Whether the step shows nothing about the drive: it was disturbed, or had no response times."""
        return not self.held and (bool(self.disturbed) or not any(self.response_ns.values()))

    def by_longest(self, percentile: str) -> bool:
        """Return whether the longest I/O was compared with the bound, for lack of the percentile."""
        return self.response_ns.get(percentile) is None and self.response_ns.get("max") is not None


class RateLimitResult(ResultBase):
    """The highest rate of arrivals within a latency bound."""

    kind: Literal["rate-limit"] = "rate-limit"
    read_pct: int
    block_bytes: int
    percentile: str
    bound_ns: float
    highest_held: int | None
    lowest_failed: int | None
    tries: tuple[OfferedLoad, ...] = Field(description="by rising rate")

    @classmethod
    def of(
        cls,
        tries: Iterable[OfferedLoad],
        **facts: Any,  # noqa: ANN401 - of the fields' own types, which the model checks
    ) -> Self:
        """Return the result of the rates tried; `facts` are the parameters of the run."""
        rates = tuple(sorted(tries, key=lambda each: each.rate))
        failed = min((each.rate for each in rates if not each.held), default=None)
        held = [each.rate for each in rates if each.held and (failed is None or each.rate < failed)]
        result = cls(tries=rates, highest_held=max(held, default=None), lowest_failed=failed, **facts)
        bound, name = f"{result.bound_ns / 1e6:g}", result.percentile
        scalar = Metric.more(
            f"rate_under_{bound}_ms_{name}", f"rate with {name} under {bound} ms", result.highest_held, "IOPS"
        )
        between = {result.highest_held, failed}
        tried = tuple(each.ordinal for each in rates)
        steps = tuple(each.ordinal for each in rates if each.rate in between) or tried
        among = tried if result.highest_held is None else ()
        found = searched(scalar, steps, failed, chosen_among=among).qualified(result._unjudged())
        return result.model_copy(update={"scalars": (found,)})

    @property
    def unjudged(self) -> OfferedLoad | None:
        """Lowest rate that shows nothing about the drive, disturbed ones first; None if a rate passed."""
        if self.highest_held is not None:
            return None
        found = [each for each in self.tries if each.unmeasured]
        return next((each for each in found if each.disturbed), next(iter(found), None))

    def _unjudged(self) -> tuple[Qualifier, ...]:
        rate = self.unjudged
        return () if rate is None else (Qualifier(code="not-judged", steps=(rate.ordinal,), why=rate.why),)


def failure_of(
    share: float | None, dropped: int, latency: Amount, what: str, bound_ns: float, shown: Evidence
) -> Claim | None:
    """Return why a rate failed; None if it passed.

    `what` begins the reason, such as `p99 was`.
    """
    if dropped:
        return Claim("{dropped} dropped", evidence=shown, others={"dropped": counted_were(dropped, "I/O")})
    if share is None:
        return Claim("no I/O arrived: the measurement was too short", evidence=shown)
    if share < SHARE_DONE:
        return Claim(
            "only {figure} of the I/Os that arrived were done",
            figure=Amount(100 * share, "%"),
            bound=Bound("at least", Amount(100 * SHARE_DONE, "%")),
            evidence=shown,
        )
    if latency.value is None:
        return Claim("no I/O was done", evidence=shown)
    if latency.value >= bound_ns:
        return Claim(
            "{what} {time} ms",
            figure=latency,
            bound=Bound("under", Amount(bound_ns, "ns")),
            evidence=shown,
            others={"what": what, "time": f"{latency.value / 1e6:.3g}"},
        )
    return None


def findings(result: RateLimitResult) -> Iterator[Claim]:
    """Yield the highest rate within the bound; the claim's figure is the percentile at that rate."""
    bound = Bound("under", Amount(result.bound_ns, "ns"))
    tried = Evidence(tuple(each.ordinal for each in result.tries))
    others: dict[str, Amount | str] = {"percentile": result.percentile}
    if (rate := result.unjudged) is not None:
        yield Claim(
            "Highest rate with {percentile} {bound} not judged: at {rate} {why}",
            bound=bound,
            evidence=tried,
            others={**others, "rate": Amount(rate.rate, "IOPS"), "why": rate.why},
        )
        return
    if result.highest_held is None:
        yield Claim("No rate had {percentile} {bound}", bound=bound, evidence=tried, others=others)
        return
    yield from _by_longest(result)
    others["rate"] = Amount(result.highest_held, "IOPS")
    held = next(each for each in result.tries if each.rate == result.highest_held)
    reached_ns = held.response_ns.get("max" if held.by_longest(result.percentile) else result.percentile)
    reached = Amount(reached_ns, "ns")
    says = "{rate} with {percentile} {bound}"
    if result.lowest_failed is None:
        yield Claim(
            f"At least {says}; no rate failed",
            figure=reached,
            bound=bound,
            evidence=tried,
            others=others,
        )
        return
    failed = next(each for each in result.tries if each.rate == result.lowest_failed)
    others |= {"failed": Amount(failed.rate, "IOPS"), "why": failed.why}
    yield Claim(f"{says}; at {{failed}} {{why}}", figure=reached, bound=bound, evidence=tried, others=others)


def _by_longest(result: RateLimitResult) -> Iterator[Claim]:
    """Yield the rates that passed with too few I/Os for the percentile."""
    short = [each for each in result.tries if each.held and each.by_longest(result.percentile)]
    if short:
        yield Claim(
            "Too few I/Os for {percentile} at {rates}: the longest I/O was compared with the bound instead",
            evidence=Evidence(tuple(each.ordinal for each in short)),
            others={
                "percentile": result.percentile,
                "rates": ", ".join(f"{count_text(each.rate)} IOPS" for each in short),
            },
        )


def rates(result: RateLimitResult) -> Table:
    head = ("Offered", "Done", "Mean", "p99", "p99.9", "Dropped", "Held", "W")
    rows = tuple(
        (
            cells.iops(each.rate),
            cells.iops(each.iops),
            *(cells.latency(each.response_ns.get(key)) for key in ("mean", "p99", "p99.9")),
            cells.count(each.dropped),
            cells.words(_held(each, result.percentile)),
            cells.plain(each.mean_w),
        )
        for each in result.tries
    )
    marked = next((at for at, each in enumerate(result.tries) if each.rate == result.highest_held), None)
    return Table("Every rate tried", head, rows, marked=marked)


def _held(load: OfferedLoad, percentile: str) -> str:
    if not load.held:
        return f"no: {load.why}"
    longest_ns = load.response_ns.get("max")
    if longest_ns is not None and load.by_longest(percentile):
        return f"yes: the longest took {latency_text(longest_ns)}"
    return "yes"


def tables(result: RateLimitResult) -> tuple[Table, ...]:
    return (rates(result),)
