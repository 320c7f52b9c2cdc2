"""What shows the drive state that figures were taken in, as results keep it."""

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
"""Overwritten so often before, a drive has hardly any fresh blocks left."""

PREPARED = "prepared, not written"
"""What is said of a state that was placed into a simulated drive, wherever it is told."""


class Doubted(Stored):
    """A judgement of the drive's state, with what keeps it from being one."""

    doubts: tuple[Qualifier, ...] = Field(
        default=(),
        exclude_if=not_,
        description="heat, the host or failed I/O, in the steps judged or in those that prepared the drive",
    )

    @property
    def doubted(self) -> str:
        """Those doubts, each with its reason; empty: there is none."""
        return "; ".join(labelled(each.label, each.why) for each in self.doubts)


def doubts(
    steps: Iterable[int], *, hot: bool = False, host: str = "", failed: str = ""
) -> tuple[Qualifier, ...]:
    """Return what speaks against a judgement of steps: heat, why the host was the limit, what failed."""
    own = tuple(steps)
    heat = (Qualifier(code="throttled", steps=own),) if hot else ()
    whys = (("failed-io", failed), ("host-limited", host))
    return united((*heat, *(Qualifier(code=code, steps=own, why=why) for code, why in whys if why)))


class StateCheck(Doubted):
    """Two figures of one workload at two times, which one drive state would make alike.

    ``repeated``: the first point of a sweep that fell with rising depth, taken again after it. ``window``:
    the point of a sweep that does what the writing before it did, beside the window of that writing.
    ``throttled``: the last point of a sweep at which the drive was cool, and the reported one, at which it
    throttled itself for heat: these two are of two states whatever their throughput.
    """

    kind: Literal["repeated", "window", "throttled"]
    unit: Literal["IOPS", "MB/s"]
    what: str = Field(description="the point, or the writing, that came first")
    before: float = Field(description="its throughput")
    then: str = Field(description="the point that came later")
    after: float = Field(description="its throughput")
    fallen: str = Field(
        default="", description="of `repeated`: the point that throughput fell to; empty: none was lower"
    )
    lowest: float | None = Field(default=None, description="its throughput")
    held: bool = Field(
        description="whether both are within the fifth that SNIA's rule allows; of `throttled` never, nor "
        "where the host was the limit"
    )
    ordinals: tuple[int, ...]


class SteadyProof(Doubted):
    """How far the writing before a measurement brought the drive, judged by SNIA's rule over equal rounds."""

    reached: bool = Field(
        description="whether the window judged last was steady, after as much writing as shows anything"
    )
    ordinal: int = Field(description="the step that did the writing")
    round_s: float = Field(description="length of a round")
    rounds_mb_s: tuple[float, ...] = Field(description="mean throughput of each whole round, in order")
    first: int | None = Field(
        description="first round of the window judged last, from 0; None: too few rounds"
    )
    mean_mb_s: float | None = Field(description="of that window, as the three below")
    range_share: float | None = Field(description="largest minus smallest / mean; at most 0.20 is steady")
    rise_share: float | None = Field(
        description="rise or fall of the fitted line / mean; at most 0.10 is steady"
    )
    slope_mb_s: float | None = Field(description="of the fitted line, per round")
    written_bytes: int
    capacities: float = Field(description="bytes written / bytes of the span")
    seconds: float
    since: Literal["purge", "trim", "beginning"] = Field(
        default="beginning", description="from when on what was written before counts"
    )
    since_capacities: float | None = Field(
        default=None, description="bytes written since then / bytes of the span, this writing included"
    )
    in_full: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="whether writing as in full brought it about, where less was asked for; absent: no",
    )

    @property
    def how(self) -> str:
        """Code of the qualifier that tells of a state which SNIA's preconditioning did not bring about."""
        return ""

    @property
    def fills_enough(self) -> bool:
        """Whether so much was written that hardly any fresh blocks can be left."""
        return self.capacities >= FULL_CAPACITIES

    @property
    def judged(self) -> bool:
        """Whether rounds and writing were enough, and there is no doubt."""
        return self.first is not None and self.capacities >= MIN_CAPACITIES and not self.doubts


class OnePassProof(SteadyProof):
    """Of a drive that was prepared by one random pass, and not by SNIA's preconditioning.

    `written_bytes`, `capacities` and `seconds` are those of the pass and of the writes after it.
    """

    preparation: Literal["one-pass"] = "one-pass"
    pass_bytes: int
    spare: float = Field(description="share of the flash that the pass took for spare")
    spare_from: str = Field(description="who says so")
    spare_found: float | None = Field(description="share that the fall of the speed shows; None: no fall")
    agreed: bool = Field(
        description="whether the pass has left what it should: both are the same, or it was for so much that "
        "no fall need show"
    )

    @property
    def overwritten(self) -> bool:
        """Whether writing as in full brought the state about; without `in_full`, where the pass did not."""
        return self.reached and (self.in_full is True or not self.agreed)

    @property
    def how(self) -> str:
        """By one pass, or by more than that."""
        return "one-pass"

    @property
    def fills_enough(self) -> bool:
        """After a pass that left what it should nothing fresh is left; else as ever."""
        return self.agreed or super().fills_enough


class PlacedProof(SteadyProof):
    """Of a simulated drive whose steady state was placed into its map: prepared, not written."""

    preparation: Literal["analytic"] = "analytic"
    spare: float = Field(description="effective spare share, by the profile")

    @property
    def how(self) -> str:
        """By theory."""
        return "placed"

    @property
    def fills_enough(self) -> bool:
        """Nothing fresh was placed."""
        return True

    @property
    def judged(self) -> bool:
        """Whether there were rounds enough, of a drive that heat did not hold back, to tell."""
        return self.first is not None and "throttled" not in {each.code for each in self.doubts}


AnyProof = OnePassProof | PlacedProof | SteadyProof
"""A proof, as it is read back: by what stands in it."""


def proven(steady: SteadyProof | None) -> tuple[Qualifier, ...]:
    """Return what stands with figures that are named after steady state; none where writing showed it."""
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
    """Return what stands with the figures of a sweep, by the checks of its state; none where all held.

    A check in doubt shows no move; the state is not proven either.
    """
    found = [check for check in checks if not check.held]
    steps = tuple(dict.fromkeys(ordinal for check in found for ordinal in check.ordinals))
    if any(not check.doubts for check in found):
        return (Qualifier(code="state-moved", steps=steps),)
    why = labels(united(each for check in found for each in check.doubts))
    return (Qualifier(code="state-unproven", steps=steps, why=f"not judged: {why}"),) if found else ()
