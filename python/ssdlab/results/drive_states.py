"""Evidence of the drive state in which figures were measured, as stored in results."""

from __future__ import annotations

from operator import not_
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ssdlab.analysis.steady_state import MIN_CAPACITIES
from ssdlab.model.frozen import Stored, absent
from ssdlab.results.metric import Qualifier, labelled, labels, united

if TYPE_CHECKING:
    from collections.abc import Iterable

FULL_CAPACITIES = 2
"""Number of drive writes after which hardly any fresh blocks are left."""

PREPARED = "prepared, not written"
"""Words for a state that was placed into a simulated drive, not written."""


class Doubted(Stored):
    """A judgement of the drive's state, with doubts about it."""

    doubts: tuple[Qualifier, ...] = Field(
        default=(),
        exclude_if=not_,
        description="heat, the host or failed I/O, in the judged or the preparing steps",
    )

    @property
    def doubted(self) -> str:
        """The doubts in words, each with its reason; empty: none."""
        return "; ".join(labelled(each.label, each.why) for each in self.doubts)


def doubts(
    steps: Iterable[int], *, hot: bool = False, host: str = "", failed: str = ""
) -> tuple[Qualifier, ...]:
    """Return the doubts about a judgement of these steps: heat, a limiting host, failed I/O.

    `host` and `failed` are the reasons in words; empty: no such doubt.
    """
    own = tuple(steps)
    heat = (Qualifier(code="throttled", steps=own),) if hot else ()
    whys = (("failed-io", failed), ("host-limited", host))
    return united((*heat, *(Qualifier(code=code, steps=own, why=why) for code, why in whys if why)))


class StateCheck(Doubted):
    """A check that the drive's state held: two figures of one workload at two times.

    ``repeated``: throughput dropped as the depth rose, so the sweep's first point was repeated afterwards.
    ``window``: a point of the sweep is compared with the last window of the writing before it, which had the
    same load. ``throttled``: the sweep's last cool point is compared with the reported point, which was
    thermally throttled. These are two states, whatever their throughput.
    """

    kind: Literal["repeated", "window", "throttled"]
    unit: Literal["IOPS", "MB/s"]
    what: str = Field(description="the point, or the writing, that came first")
    before: float = Field(description="its throughput")
    then: str = Field(description="the point that came later")
    after: float = Field(description="its throughput")
    fallen: str = Field(
        default="", description="for `repeated`: the point with the drop; empty: none was lower"
    )
    lowest: float | None = Field(default=None, description="its throughput")
    held: bool = Field(
        description="whether both are within the 20 % of SNIA's rule; never for `throttled`, nor if the "
        "host was the limit"
    )
    ordinals: tuple[int, ...]


class SteadyProof(Doubted):
    """Whether the writing before a measurement reached steady state, by SNIA's rule over equal rounds."""

    reached: bool = Field(description="whether the last window was steady, after enough writing")
    ordinal: int = Field(description="the step that did the writing")
    round_s: float = Field(description="length of a round")
    rounds_mb_s: tuple[float, ...] = Field(description="mean throughput of each whole round, in order")
    first: int | None = Field(description="first round of the last window, from 0; None: too few rounds")
    mean_mb_s: float | None = Field(description="mean of that window, as for the next three")
    range_share: float | None = Field(description="largest minus smallest / mean; at most 0.20 is steady")
    rise_share: float | None = Field(
        description="rise or fall of the fitted line / mean; at most 0.10 is steady"
    )
    slope_mb_s: float | None = Field(description="of the fitted line, per round")
    written_bytes: int
    capacities: float = Field(description="bytes written / bytes of the span")
    seconds: float
    since: Literal["purge", "trim", "beginning"] = Field(
        default="beginning", description="start of the counted earlier writing"
    )
    since_capacities: float | None = Field(
        default=None, description="bytes written since then / bytes of the span, including this writing"
    )
    in_full: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="whether full preconditioning was needed although less was requested; absent: no",
    )

    @property
    def how(self) -> str:
        """Code of the qualifier for a state that SNIA's preconditioning did not reach; empty: it did."""
        return ""

    @property
    def fills_enough(self) -> bool:
        """Whether enough was written that hardly any fresh blocks are left."""
        return self.capacities >= FULL_CAPACITIES

    @property
    def judged(self) -> bool:
        """Whether rounds and writing sufficed for a judgement, without doubts."""
        return self.first is not None and self.capacities >= MIN_CAPACITIES and not self.doubts


class OnePassProof(SteadyProof):
    """The proof for a drive that was prepared by one random pass, not by SNIA's preconditioning.

    `written_bytes`, `capacities` and `seconds` cover the pass and the writes after it.
    """

    preparation: Literal["one-pass"] = "one-pass"
    pass_bytes: int
    spare: float = Field(description="spare share that the pass assumed")
    spare_from: str = Field(description="who says so")
    spare_found: float | None = Field(description="share that the drop in speed shows; None: no drop")
    agreed: bool = Field(
        description="whether the pass worked: both agree, or the share is so large that no drop is expected"
    )

    @property
    def overwritten(self) -> bool:
        """Whether full preconditioning reached the state.

        It follows a pass that did not work, or is needed in any case (`in_full`).
        """
        return self.reached and (self.in_full is True or not self.agreed)

    @property
    def how(self) -> str:
        return "" if self.overwritten else "one-pass"

    @property
    def fills_enough(self) -> bool:
        """True after a pass that worked; otherwise by the bytes written."""
        return self.agreed or super().fills_enough


class PlacedProof(SteadyProof):
    """The proof for a simulated drive whose steady state was placed into its map, not written."""

    preparation: Literal["analytic"] = "analytic"
    spare: float = Field(description="effective spare share of the profile")

    @property
    def how(self) -> str:
        return "" if self.in_full else "placed"

    @property
    def fills_enough(self) -> bool:
        """True: a placed state has no fresh blocks."""
        return True

    @property
    def judged(self) -> bool:
        """Whether there were enough rounds without thermal throttling."""
        return self.first is not None and "throttled" not in {each.code for each in self.doubts}


AnyProof = OnePassProof | PlacedProof | SteadyProof
"""Any proof; the fields of a stored one tell which it is."""


def proven(steady: SteadyProof | None) -> tuple[Qualifier, ...]:
    """Return the qualifier of steady-state figures; none if preconditioning proved the state."""
    if steady is None:
        return (Qualifier(code="state-unproven", why="the drive was not preconditioned to steady state"),)
    steps = (steady.ordinal,)
    if not steady.reached:
        return (Qualifier(code="state-unproven", steps=steps, why=_why_unproven(steady)),)
    return (Qualifier(code=steady.how, steps=steps),) if steady.how else ()


def _why_unproven(steady: SteadyProof) -> str:
    if steady.judged:
        return "steady state was not reached"
    return f"steady state not assessed: {labels(steady.doubts) or 'too little was written'}"


def moved(checks: Iterable[StateCheck]) -> tuple[Qualifier, ...]:
    """Return the qualifier of a sweep's figures from its state checks; none if the state held.

    A failed check with doubts does not show a change, but the state is not proven either.
    """
    found = [check for check in checks if not check.held]
    steps = tuple(dict.fromkeys(ordinal for check in found for ordinal in check.ordinals))
    if any(not check.doubts for check in found):
        return (Qualifier(code="state-moved", steps=steps),)
    why = labels(united(each for check in found for each in check.doubts))
    return (Qualifier(code="state-unproven", steps=steps, why=f"not judged: {why}"),) if found else ()
