"""Whether TRIM gave a drive its clean speed back.

Of two shares of the clean speed the lesser counts, that of the first minutes and that of the whole pass: in
ten minutes a small drive is written many times over and cleans itself. Without a contrast, a drive that the
random writes hardly slowed, there is nothing that TRIM could give back, and no verdict.

A verdict is given only where the passes tell it: each was long enough, the host was not its limit, and the
share lies further from the limit than its uncertainty. That comes from the passes themselves: each tenth of
the positions gives a share of its own, and their mean is known to within Student's t times its standard
error; where a pass was too short for ten parts that is not known. What is slow at the same place in both
passes, such as the end of a cache, cancels.

Source: AnandTech, review of the Samsung XP941 (2014), "TRIM Validation": after TRIM about as fast as clean;
that 95 % is about the same is ours. Student's interval of a mean is textbook statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import stdev
from typing import Literal, Protocol

from ssdlab.analysis.over_position import mean_speed
from ssdlab.model.units import and_listed, counted, fixed_share_text, share_text

PASSES_FROM = 0.95
TENTHS = 10
STUDENT_T = 2.262
"""Of 95 %, for the nine degrees of freedom of ten tenths."""
MIN_PASS_S = 10.0
"""Of a pass in real time: a second of other work on the host is then less than what the limit allows."""

_OVER_ALL = "over all blocks"
"""Where a share of the clean speed is of the whole pass."""

Verdict = Literal["works", "fails", "no contrast", "not judged"]


class Pass(Protocol):
    """One pass of writes over the drive, speeds in MB/s."""

    @property
    def name(self) -> str:
        """In which state."""

    @property
    def sustained_mb_s(self) -> float:
        """Of its first minutes."""

    @property
    def mean_mb_s(self) -> float:
        """From the first block to the last."""

    @property
    def parts_mb_s(self) -> Sequence[float]:
        """Of parts of equal bytes, from the first block to the last."""

    @property
    def real_s(self) -> float | None:
        """How long it took; None in virtual time, which nothing disturbs."""

    @property
    def limited(self) -> str:
        """Why the host was its limit; empty if it was not."""

    @property
    def throttled(self) -> bool:
        """Whether the drive's own heat slowed it."""

    @property
    def failed(self) -> str | None:
        """What of its I/O failed; None: nothing."""


@dataclass(frozen=True)
class TrimVerdict:
    """What three passes of writes say.

    Attributes
    ----------
    recovered
        Speed after TRIM as a share of clean.
    uncertainty
        Half the width of its 95 % interval; None where a pass has too few parts to tell.
    regained
        Of the speed over all blocks that was lost, the share that came back; None without a contrast.
    verdict
        Whether TRIM works.
    why
        Why it is not judged.
    """

    recovered: float
    uncertainty: float | None
    regained: float | None
    verdict: Verdict
    why: str = ""


def judge_trim(clean: Pass, before: Pass, after: Pass, scale: int = 1) -> TrimVerdict:
    """Compare the writes after TRIM with those of the clean drive, and with those without TRIM.

    Of a simulated drive that is `scale` times smaller than the real one, what lasts some seconds in either
    takes so much more of a pass; a drive that is clean again by half of it has not been shown to fail.
    """
    first, whole = after.sustained_mb_s / clean.sustained_mb_s, after.mean_mb_s / clean.mean_mb_s
    recovered = min(first, whole)
    sure = uncertainty(clean, after)
    if reasons := list(_disturbed((clean, before, after))):
        return TrimVerdict(recovered, sure, None, "not judged", "; ".join(reasons))
    contrast, contrast_sure = before.mean_mb_s / clean.mean_mb_s, uncertainty(clean, before)
    if contrast >= PASSES_FROM:
        return TrimVerdict(recovered, sure, None, "no contrast")
    if sure is None or contrast_sure is None:
        return TrimVerdict(recovered, sure, None, "not judged", too_few_parts((clean, before, after)))
    if contrast + contrast_sure >= PASSES_FROM:
        why = _too_wide("before TRIM", contrast, contrast_sure, _OVER_ALL)
        return TrimVerdict(recovered, sure, None, "not judged", why)
    regained = (after.mean_mb_s - before.mean_mb_s) / (clean.mean_mb_s - before.mean_mb_s)
    if abs(recovered - PASSES_FROM) < sure:
        why = _too_wide("after TRIM", recovered, sure, _OVER_ALL if whole <= first else "at first")
        return TrimVerdict(recovered, sure, regained, "not judged", why)
    if recovered >= PASSES_FROM:
        return TrimVerdict(recovered, sure, regained, "works")
    if scale > 1 and (late := _second_half(after) / _second_half(clean)) >= PASSES_FROM:
        return TrimVerdict(recovered, sure, regained, "not judged", _too_small(scale, late))
    return TrimVerdict(recovered, sure, regained, "fails")


def uncertainty(clean: Pass, other: Pass) -> float | None:
    """Return half the width of the 95 % interval of a pass's share of the clean one, from their tenths.

    None where either has fewer parts than tenths: the same part twice is no second sample.
    """
    if min(len(clean.parts_mb_s), len(other.parts_mb_s)) < TENTHS:
        return None
    shares = [theirs / ours for ours, theirs in zip(tenths(clean), tenths(other), strict=True)]
    return STUDENT_T * stdev(shares) / sqrt(len(shares))


def too_few_parts(passes: Sequence[Pass]) -> str:
    """Return in words that no interval can be given, of passes of which one has fewer parts than tenths."""
    fewest = min(len(each.parts_mb_s) for each in passes)
    return f"the shortest pass has {counted(fewest, 'part')}, and a 95 % interval needs {TENTHS}"


def tenths(one: Pass) -> list[float]:
    """Return the speed over each tenth of the positions, of parts of equal bytes; of fewer parts those."""
    parts = list(one.parts_mb_s)
    edges = [round(at * len(parts) / TENTHS) for at in range(TENTHS + 1)]
    return [
        mean_speed(parts[low:high] if high > low else parts[min(low, len(parts) - 1) :][:1])
        for low, high in pairwise(edges)
    ]


def _second_half(one: Pass) -> float:
    return mean_speed(tenths(one)[TENTHS // 2 :])


def _disturbed(passes: Sequence[Pass]) -> Iterator[str]:
    """Yield why passes cannot be compared."""
    for each in passes:
        if each.limited:
            yield f"the host, not the drive, limited the pass {each.name!r}: {each.limited}"
        if each.failed:
            yield f"I/O failed: {each.failed}"
    if hot := [repr(each.name) for each in passes if each.throttled]:
        several = "es" if len(hot) > 1 else ""
        yield f"the drive throttled in the pass{several} {and_listed(hot)}"
    short = [each.real_s for each in passes if each.real_s is not None and each.real_s < MIN_PASS_S]
    if short:
        yield f"a pass took {min(short):.3g} s; under {MIN_PASS_S:g} s other load on the host dominates"


def _too_wide(state: str, share: float, sure: float, where: str) -> str:
    return (
        f"{state} the drive wrote {where} at {share_text(share)} ± {share_text(sure)} of the clean speed, "
        f"which does not decide whether it reaches {fixed_share_text(PASSES_FROM)}"
    )


def _too_small(scale: int, late: float) -> str:
    return (
        f"over the second half of the blocks the drive wrote at {share_text(late)} of the clean speed after "
        f"TRIM; on a drive {scale} times as large the slow beginning is a negligible part of a pass"
    )
