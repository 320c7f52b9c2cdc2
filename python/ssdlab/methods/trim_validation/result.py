"""The result of TRIM validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from ssdlab.analysis.over_position import speed_until, speeds_over
from ssdlab.analysis.ratios import Efficiency, efficiency
from ssdlab.analysis.trim_verdict import PASSES_FROM, Verdict, judge_trim, too_few_parts
from ssdlab.plugin import (
    Amount,
    Bound,
    Cell,
    Claim,
    Evidence,
    Metric,
    Qualifier,
    ResultBase,
    Stored,
    Table,
    TrimFacts,
    Variation,
    absent,
    and_listed,
    cells,
    evidence_of,
    fixed_share_text,
    power_scalars,
    share_text,
    span_text,
    why_faulty,
    words,
)

if TYPE_CHECKING:
    from ssdlab.plugin import Columns, Step


VERDICTS: dict[Verdict, str] = {
    "works": "works",
    "fails": "does not work",
    "no contrast": "cannot be judged",
    "not judged": "is not judged",
}

FULL_TORTURE_S = 3600.0
FULL_SUSTAINED_S = 600.0
"""Durations in the review, which a verdict requires: of the random writes, and of the compared sequential
writes.
"""
OWN_CPU_SHARE = 0.5
"""CPU share of a thread with one synchronous I/O, from which the host is the limit. If the drive is the
limit, the thread mostly waits.
"""


class LbaPlot(Stored):
    """Write speed over the position on the drive, in one of its states."""

    name: str = Field(description="clean, after TRIM, or before TRIM")
    ordinal: int
    part_bytes: float
    parts_mb_s: tuple[float, ...]
    mean_mb_s: float = Field(description="from the first block to the last")
    sustained_mb_s: float = Field(description="over the first `sustained_s` seconds of the writing")
    mean_w: float | None = Field(default=None, description="mean power over the plot; None: no meter")
    real_s: float | None = Field(default=None, description="time of the pass; None: virtual time")
    limited: str = Field(default="", description="why the host was the limit; empty: it was not")
    throttled: bool = Field(default=False, description="whether the drive throttled itself for heat")
    failed: str | None = Field(
        default=None, exclude_if=absent, description="I/Os that failed in it; absent: none"
    )

    @classmethod
    def of(
        cls,
        name: str,
        passes: Sequence[tuple[Step, Columns]],
        sustained_s: float,
        max_parts: int,
        unprepared: str = "",
    ) -> Self:
        """Return the plot of a pass over all blocks, and of the writes that continued it.

        `passes` holds their steps with their rows. `unprepared` says what failed in the writes that prepared
        the drive's state.
        """
        step, rows = passes[0]
        speeds, part_bytes = speeds_over(rows, max_parts)
        summary = step.measured
        return cls(
            name=name,
            ordinal=step.ordinal,
            part_bytes=part_bytes,
            parts_mb_s=tuple(speeds),
            mean_mb_s=summary.mb_s,
            mean_w=summary.mean_w,
            sustained_mb_s=speed_until([rows for _, rows in passes], sustained_s),
            real_s=None if summary.engine == "sim" else float(summary.elapsed_s),
            limited="; ".join(_limits_of(step)),
            throttled=any(evidence_of(each).hot for each, _ in passes),
            failed=why_faulty(each for each, _ in passes) or unprepared or None,
        )

    def ends_within(self, seconds: float) -> bool:
        """Return whether the pass took less than `seconds`, so that blocks were then written again."""
        return len(self.parts_mb_s) * self.part_bytes < 1e6 * self.mean_mb_s * seconds

    @property
    def efficiency(self) -> Efficiency | None:
        """MB/s per watt, from the first block to the last; None without a meter."""
        return efficiency("sequential", 0.0, self.mean_mb_s, self.mean_w)


class TrimEffect(Stored):
    """What is known of a discard: whether it reached the device, and what trimmed blocks return."""

    reached_device: bool | None = Field(description="None where nothing shows it")
    evidence: str | None = Field(description="evidence: tracepoint, counters, simulated")
    reads: str | None = Field(description="content of trimmed blocks: zeroes, unchanged, ...")
    seconds: float | None

    @classmethod
    def of(cls, step: Step) -> Self:
        trim = step.found(TrimFacts).trim
        if trim is None:
            return cls(reached_device=None, evidence=None, reads=None, seconds=None)
        return cls(
            reached_device=trim.reached_device,
            evidence=trim.evidence,
            reads=trim.reads,
            seconds=trim.seconds,
        )


class TrimResult(ResultBase):
    """Whether TRIM restores the clean speed of a drive after random writes."""

    kind: Literal["trim"] = "trim"
    block_bytes: int
    torture_s: float = Field(description="of random writes before")
    sustained_s: float
    clean: LbaPlot
    after: LbaPlot
    before: LbaPlot | None = Field(description="the contrast")
    recovered: float = Field(
        description="speed after TRIM / clean: of sustained and whole pass the lesser share"
    )
    regained: float | None = Field(
        description="of the speed over all blocks that was lost, the share that came back; None: hardly any"
    )
    passes_from: float = Field(description="`recovered` from which TRIM is said to work: 0.95")
    verdict: Verdict
    uncertainty: float | None = Field(
        default=None, description="half the width of the 95 % interval of `recovered`; None: not known"
    )
    why: str = Field(default="", description="why it is not judged")
    trim: TrimEffect
    purged: bool

    @classmethod
    def of(
        cls,
        clean: LbaPlot,
        before: LbaPlot,
        after: LbaPlot,
        effect: TrimEffect,
        scale: int,
        **facts: Any,  # noqa: ANN401 - of the fields' own types, which the model checks
    ) -> Self:
        """Judge the three plots; `facts` are the other fields of the result.

        `scale` is how many times smaller a simulated drive is than the real drive.
        """
        cut = quick_reason(facts["torture_s"], facts["sustained_s"]) if facts["quick"] else ""
        found = judge_trim(clean, before, after, 1 if cut else scale)
        if cut and found.verdict in ("works", "fails"):
            found = replace(found, verdict="not judged", why=cut)
        result = cls(
            clean=clean,
            after=after,
            before=before,
            recovered=found.recovered,
            regained=found.regained,
            passes_from=PASSES_FROM,
            verdict=found.verdict,
            uncertainty=found.uncertainty,
            why=found.why,
            trim=effect,
            **facts,
        )
        of_power = power_scalars("trim_clean", "clean,", clean.efficiency, clean.mean_w)
        figures = (
            result._recovered(),
            *(each.resting(steps=(clean.ordinal,)) for each in of_power),
        )
        return result.model_copy(update={"scalars": figures})

    def _recovered(self) -> Metric:
        steps = (self.clean.ordinal, self.after.ordinal)
        sure = None if self.uncertainty is None else Variation(amount=100 * self.uncertainty, of="interval")
        unjudged = (
            [] if self.passed is not None else [Qualifier(code="not-judged", steps=steps, why=self.why)]
        )
        label = "speed after TRIM, share of clean"
        found = Metric.more("trim_recovered", label, 100 * self.recovered, "%", steps=steps, varies=sure)
        return found.qualified(unjudged)

    @property
    def passed(self) -> bool | None:
        """Whether TRIM works; None if that could not be judged, as in a quick run."""
        return self.verdict == "works" if self.verdict in ("works", "fails") else None


def going_on(name: str) -> str:
    """Return the label of the step that repeats a pass after its end."""
    return f"{name}, going on"


def quick_reason(torture_s: float, sustained_s: float) -> str:
    """Return why a quick run cannot judge; empty if it took the full times."""
    if round(torture_s) < FULL_TORTURE_S:
        return f"quick: a verdict takes an hour of random writes, not {span_text(torture_s)}"
    if sustained_s < FULL_SUSTAINED_S:
        return f"quick: a verdict takes ten minutes of sequential writes, not {span_text(sustained_s)}"
    return ""


def _limits_of(step: Step) -> Iterator[str]:
    """Yield why the host was the limit in a step with one thread; nothing if it was not."""
    if limited := evidence_of(step).not_the_drive():
        yield limited
    own_s, took_s = (step.result.host.own_cpu_s if step.result.host else None), float(step.measured.elapsed_s)
    if own_s and took_s and own_s / took_s >= OWN_CPU_SHARE:
        share = share_text(own_s / took_s)
        yield f"its one thread was on a CPU for {share} of the time: the host was the limit"


HARDLY_ANY = 0.01
ALIKE = 1e-6
"""Half an interval below this is only rounding of floating-point numbers: a simulated drive's tenths can all
be equal.
"""
_REACHED = {
    True: "the discard reached the device",
    False: "the discard did not reach the device",
    None: "unknown whether the discard reached the device",
}


def plots(result: TrimResult) -> list[LbaPlot]:
    """Return the plots of the clean drive, before TRIM and after TRIM, as far as they exist."""
    return [plot for plot in (result.clean, result.before, result.after) if plot is not None]


def findings(result: TrimResult) -> Iterator[Claim]:
    steps = tuple(plot.ordinal for plot in plots(result))
    regained = _regained(result.regained)
    why = f" ({result.why})".replace("{", "{{").replace("}", "}}") if result.why else ""
    share = f"{{figure}}{_sure(result.uncertainty)} of the clean speed{_where(result)}{regained}"
    yield Claim(
        f"TRIM {VERDICTS[result.verdict]}{why}: {share}",
        figure=Amount(100 * result.recovered, "%"),
        bound=Bound("at least", Amount(100 * result.passes_from, "%")),
        evidence=Evidence(steps),
        others={
            "regained": Amount(None if result.regained is None else 100 * result.regained, "%"),
            "sure": Amount(None if result.uncertainty is None else 100 * result.uncertainty, "%"),
        },
        columns={
            "TRIM": f"{VERDICTS[result.verdict]}{why}",
            "Of the clean speed": f"{{figure}}{_sure(result.uncertainty)}{_where(result)}",
            **_regained_column(result.regained),
        },
    )
    if result.uncertainty is None and (why := too_few_parts(plots(result))) != result.why:
        yield Claim("Uncertainty of that share unknown: {why}", others={"why": why})
    if result.verdict == "no contrast" and result.before is not None:
        yield _no_contrast(result, result.before)
    known = result.trim.reached_device
    yield Claim(_REACHED[known], evidence=Evidence(steps[-1:]))


def _no_contrast(result: TrimResult, before: LbaPlot) -> Claim:
    """Return the claim that random writes left the drive too fast for TRIM to restore anything."""
    first = before.sustained_mb_s / result.clean.sustained_mb_s
    says = "The random writes left the drive {figure} of its clean speed over all blocks"
    if first < result.passes_from:
        says += " ({first} in the first {span})"
    return Claim(
        f"{says}: TRIM has almost nothing to restore",
        figure=Amount(100 * before.mean_mb_s / result.clean.mean_mb_s, "%"),
        bound=Bound("under", Amount(100 * result.passes_from, "%")),
        evidence=Evidence((result.clean.ordinal, before.ordinal)),
        others={"first": Amount(100 * first, "%"), "span": span_text(result.sustained_s)},
    )


def _sure(uncertainty: float | None) -> str:
    """Return the uncertainty of the recovered share, for a sentence."""
    if uncertainty is None:
        return ""
    return " (the same in every tenth of the blocks)" if uncertainty < ALIKE else " ± {sure}"


def _regained(share: float | None) -> str:
    """Return how much of the lost speed came back; a share below the noise between passes has no digits."""
    if share is None:
        return ""
    if share < HARDLY_ANY:
        return f"; under {fixed_share_text(HARDLY_ANY)} of the loss over all blocks recovered"
    return "; {regained} of the loss over all blocks recovered"


def _regained_column(share: float | None) -> dict[str, str]:
    if share is None:
        return {}
    text = f"under {fixed_share_text(HARDLY_ANY)}" if share < HARDLY_ANY else "{regained}"
    return {"Loss recovered": text}


def _regained_cell(share: float | None) -> Cell:
    if share is None or share >= HARDLY_ANY:
        return cells.share(share)
    return Cell(f"under {fixed_share_text(HARDLY_ANY)}", repr(share))


def _where(result: TrimResult) -> str:
    """Return in words which of the two shares is the verdict's figure: the lower one."""
    whole = result.after.mean_mb_s / result.clean.mean_mb_s
    return (
        " over all blocks" if whole <= result.recovered else f" in the first {span_text(result.sustained_s)}"
    )


def speeds(result: TrimResult) -> Table:
    first = f"First {span_text(result.sustained_s)}, MB/s"
    head = ("State", first, "Of clean", "Over all blocks, MB/s", "Slowest part", "Fastest part")
    rows = tuple(
        (
            words(plot.name),
            cells.throughput(plot.sustained_mb_s),
            cells.share(plot.sustained_mb_s / result.clean.sustained_mb_s),
            cells.throughput(plot.mean_mb_s),
            cells.throughput(min(plot.parts_mb_s)),
            cells.throughput(max(plot.parts_mb_s)),
        )
        for plot in plots(result)
    )
    return Table(f"Sequential writes in each state{_again(result)}", head, rows)


def _again(result: TrimResult) -> str:
    """Return a note on passes that ended before the compared time; empty if none did."""
    short = [plot.name for plot in plots(result) if plot.ends_within(result.sustained_s)]
    if not short:
        return ""
    of = f" ({and_listed(short)})" if len(short) < len(plots(result)) else ""
    first = f"the first {span_text(result.sustained_s)}{of}"
    return f"; {first} includes blocks written twice, and may lie outside all parts"


def verdict(result: TrimResult) -> Table:
    head = ("TRIM", "Recovered", "95 % interval, ±", "Loss recovered", "Works from", "Purged before")
    row = (
        words(VERDICTS[result.verdict]),
        cells.share(result.recovered),
        cells.share(result.uncertainty),
        _regained_cell(result.regained),
        cells.share(result.passes_from),
        words("yes" if result.purged else "no"),
    )
    return Table("Verdict", head, (row,))


def tables(result: TrimResult) -> tuple[Table, ...]:
    return (verdict(result), speeds(result))
