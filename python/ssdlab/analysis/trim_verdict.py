"""Whether TRIM gave a drive its clean speed back.

Of two shares of the clean speed the lesser counts, that of the first minutes and that of the whole pass: in
ten minutes a small drive is written many times over and cleans itself. Without a contrast, a drive that the
random writes hardly slowed, there is nothing that TRIM could give back, and no verdict.

Source: AnandTech, review of the Samsung XP941 (2014), "TRIM Validation": after TRIM about as fast as clean;
that 95 % is about the same is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

PASSES_FROM = 0.95


class Speeds(Protocol):
    """Speeds of one pass of writes, in MB/s."""

    @property
    def sustained_mb_s(self) -> float:
        """Of its first minutes."""

    @property
    def mean_mb_s(self) -> float:
        """From the first block to the last."""


@dataclass(frozen=True)
class TrimVerdict:
    """What three passes of writes say.

    Attributes
    ----------
    recovered
        Speed after TRIM as a share of clean.
    regained
        Of the speed over all blocks that was lost, the share that came back; None without a contrast.
    verdict
        Whether TRIM works.
    """

    recovered: float
    regained: float | None
    verdict: Literal["works", "fails", "no contrast"]


def judge_trim(clean: Speeds, before: Speeds, after: Speeds) -> TrimVerdict:
    """Compare the writes after TRIM with those of the clean drive, and with those without TRIM."""
    recovered = min(after.sustained_mb_s / clean.sustained_mb_s, after.mean_mb_s / clean.mean_mb_s)
    if before.mean_mb_s >= PASSES_FROM * clean.mean_mb_s:
        return TrimVerdict(recovered, None, "no contrast")
    regained = (after.mean_mb_s - before.mean_mb_s) / (clean.mean_mb_s - before.mean_mb_s)
    return TrimVerdict(recovered, regained, "works" if recovered >= PASSES_FROM else "fails")
