"""The state that a measurement was taken in, as a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, WINDOW
from ssdlab.model.units import significant
from ssdlab.results.claim import Amount, Bound, Claim, Evidence

if TYPE_CHECKING:
    from ssdlab.results.schema import SteadyProof


def steady_claim(steady: SteadyProof | None, of: str = "") -> Claim:
    """Return what the writing before a measurement showed; `of` begins the sentence, of several."""
    if steady is None:
        return Claim("Not brought into steady state before", judged=False)
    verdict = (
        f"{of}Steady state {'' if steady.reached else 'NOT '}reached after {{time}} and {{written}} of writes"
    )
    others: dict[str, Amount | str] = {
        "time": Amount(steady.seconds, "s"),
        "written": f"{significant(steady.capacities)} capacities",
    }
    if steady.range_share is None or steady.rise_share is None or steady.first is None:
        too_few = Evidence((steady.ordinal,))
        return Claim(f"{verdict}: fewer than {WINDOW} rounds", evidence=too_few, judged=False, others=others)
    return Claim(
        f"{verdict}: range {{figure}} ({{bound}}), rise {{rise}} ({{max_rise}}) of the mean",
        figure=Amount(100 * steady.range_share, "%"),
        bound=Bound("at most", Amount(100 * MAX_RANGE, "%")),
        evidence=Evidence((steady.ordinal,), (steady.first, steady.first + WINDOW - 1)),
        others={
            **others,
            "rise": Amount(100 * steady.rise_share, "%"),
            "max_rise": str(Bound("at most", Amount(100 * MAX_RISE, "%"))),
        },
    )
