"""Whether TRIM restores a drive's clean speed.

The drive is judged by the lower of two shares of its clean speed: over the first minutes, and over the whole
pass. In ten minutes a small drive is written many times over and cleans itself, so its first minutes prove
little. If random writes hardly slowed the drive, there is no contrast. TRIM then has nothing to restore, and
there is no verdict.

A verdict also needs passes that are long enough, were not limited by the host, and give a share further from
the limit than its uncertainty. The uncertainty comes from the passes themselves: each tenth of the positions
gives a share, and Student's t times the standard error bounds their mean. A pass too short for ten parts has
no known uncertainty. Effects at the same position in both passes, such as the end of a cache, cancel out.

Source: AnandTech, review of the Samsung XP941 (2014), "TRIM Validation": after TRIM about as fast as clean.
The limit of 95 % is ours. Student's interval of a mean is textbook statistics.
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
"""Student's t for 95 % and the nine degrees of freedom of ten tenths."""
MIN_PASS_S = 10.0
"""Minimum real time of a pass; in a shorter one, other load on the host dominates."""

_OVER_ALL = "over all blocks"

Verdict = Literal["works", "fails", "no contrast", "not judged"]


class Pass(Protocol):
    """One pass of writes over the drive, speeds in MB/s."""

    @property
    def name(self) -> str:
        """State of the drive, such as clean."""

    @property
    def sustained_mb_s(self) -> float:
        """Mean speed of the first minutes."""

    @property
    def mean_mb_s(self) -> float:
        """Mean speed from the first block to the last."""

    @property
    def parts_mb_s(self) -> Sequence[float]:
        """Speed of each part of equal bytes, from the first block to the last."""

    @property
    def real_s(self) -> float | None:
        """Duration in real time; None in virtual time, which other work cannot disturb."""

    @property
    def limited(self) -> str:
        """Why the host limited the pass; empty if it did not."""

    @property
    def throttled(self) -> bool: ...

    @property
    def failed(self) -> str | None:
        """Which I/O failed; None if none did."""


@dataclass(frozen=True)
class TrimVerdict:
    """Result of the three passes.

    Attributes
    ----------
    recovered
        Speed after TRIM as a share of the clean speed.
    uncertainty
        Half the width of the 95 % interval of `recovered`; None if a pass has too few parts.
    regained
        Share of the lost speed over all blocks that TRIM brought back; None without a contrast.
    why
        Why TRIM is not judged; empty if it is.
    """

    recovered: float
    uncertainty: float | None
    regained: float | None
    verdict: Verdict
    why: str = ""


def judge_trim(clean: Pass, before: Pass, after: Pass, scale: int = 1) -> TrimVerdict:
    """Compare the writes after TRIM with those on the clean drive and those without TRIM.

    A simulated drive may be `scale` times smaller than the real one. An effect of some seconds then takes
    `scale` times more of a pass. If such a drive is clean again in the second half of the pass, it is not
    judged to fail.
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
    """Return half the width of the 95 % interval of a pass's share of the clean speed, from their tenths.

    None if either pass has fewer parts than tenths, since a part used twice is no second sample.
    """
    if min(len(clean.parts_mb_s), len(other.parts_mb_s)) < TENTHS:
        return None
    shares = [theirs / ours for ours, theirs in zip(tenths(clean), tenths(other), strict=True)]
    return STUDENT_T * stdev(shares) / sqrt(len(shares))


def too_few_parts(passes: Sequence[Pass]) -> str:
    """Return a phrase that says why there is no interval: a pass has fewer parts than tenths."""
    fewest = min(len(each.parts_mb_s) for each in passes)
    return f"the shortest pass has {counted(fewest, 'part')}, and a 95 % interval needs {TENTHS}"


def tenths(one: Pass) -> list[float]:
    """Return the speed of each tenth of the positions; with fewer than ten parts some parts occur twice."""
    parts = list(one.parts_mb_s)
    edges = [round(at * len(parts) / TENTHS) for at in range(TENTHS + 1)]
    return [
        mean_speed(parts[low:high] if high > low else parts[min(low, len(parts) - 1) :][:1])
        for low, high in pairwise(edges)
    ]


def _second_half(one: Pass) -> float:
    return mean_speed(tenths(one)[TENTHS // 2 :])


def _disturbed(passes: Sequence[Pass]) -> Iterator[str]:
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
