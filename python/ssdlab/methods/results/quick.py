"""The caveat of quick presets: what of a run is less than the method asks for, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.results.claim import Amount, Bound, Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUGH_TAILS = ", so tails are rough"


@dataclass(frozen=True)
class Cut:
    """What a run took of something, and what it takes without `--quick`, both in `unit`."""

    taken: float
    full: float
    unit: str
    of: str = ""
    """What it is of, as `at each depth`."""

    def __str__(self) -> str:
        """Return both: `1.5 s at each depth instead of 60 s`."""
        of = f" {self.of}" if self.of else ""
        # A word is not repeated behind the second value; `s` is part of both.
        unit = f" {self.unit}" if len(self.unit) == 1 else ""
        return f"{self.taken:g} {self.unit}{of} instead of {self.full:g}{unit}"


def quick_claims(quick: bool, so: str, *cuts: Cut) -> Iterator[Claim]:
    """Yield the caveat of a quick run, of those of `cuts` that took less; none where none did.

    `so` is what comes of it, from its comma on.
    """
    shorter = [each for each in cuts if each.taken < each.full]
    if quick and shorter:
        yield Claim(
            f"quick: {{shorter}}{so}; a run without --quick takes the time",
            figure=Amount(shorter[0].taken, shorter[0].unit),
            bound=Bound("at least", Amount(shorter[0].full, shorter[0].unit)),
            judged=False,
            others={"shorter": " and ".join(map(str, shorter))},
        )
