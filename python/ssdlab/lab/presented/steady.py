"""The state that a measurement was taken in, as a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, ROUND_SHARE, WINDOW
from ssdlab.model.units import fixed_share_text, significant
from ssdlab.results.claim import Amount, Bound, Claim, Evidence
from ssdlab.results.drive_states import FULL_CAPACITIES, PREPARED, OnePassProof, PlacedProof

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.results.drive_states import StateCheck, SteadyProof

TOO_LITTLE = "{written} were written over in {time}, in {rounds}"
"""Why nothing can be said of the state; the names are those of `lasted`."""


def steady_claim(steady: SteadyProof | None, of: str = "") -> Claim:
    """Return what the writing before a measurement showed; `of` begins the sentence, of several."""
    if steady is None:
        return Claim("Not brought into steady state before")
    shown = Evidence((steady.ordinal,))
    before = of.replace(": ", ", ")
    state = f"{before}steady state" if before else "Steady state"
    if not steady.judged or steady.range_share is None or steady.rise_share is None or steady.first is None:
        why = "{doubted}" if steady.doubts else TOO_LITTLE
        return Claim(
            f"{of}Steady state is not judged: {why}",
            evidence=shown,
            others=lasted(steady),
            columns={state: f"not judged: {why}"},
        )
    return Claim(
        f"{of}{_verdict(steady)}: range {{figure}} ({{bound}}) and fitted line {{moves}} "
        "({max_rise}) of the mean over rounds {first} to {last}, each {round}{size}",
        figure=Amount(100 * steady.range_share, "%"),
        bound=Bound("at most", Amount(100 * MAX_RANGE, "%")),
        evidence=Evidence((steady.ordinal,), (steady.first, steady.first + WINDOW - 1)),
        others={
            **lasted(steady),
            "moves": moves(steady.slope_mb_s, steady.rise_share),
            "max_rise": str(Bound("at most", Amount(100 * MAX_RISE, "%"))),
            "first": str(steady.first + 1),
            "last": str(steady.first + WINDOW),
            "round": Amount(steady.round_s, "s"),
            "size": f", {fixed_share_text(ROUND_SHARE)} of the flash" if _by_flash(steady) else "",
        },
        columns={
            state: f"{_state(steady)} after {{written}}, {{time}}",
            f"{before}range"
            if before
            else f"Range, {Bound('at most', Amount(100 * MAX_RANGE, '%'))}": "{figure}",
            f"{before}slope"
            if before
            else f"Slope, {Bound('at most', Amount(100 * MAX_RISE, '%'))}": "{moves}",
        },
    )


def state_claims(steady: SteadyProof | None, of: str = "") -> Iterator[Claim]:
    """Yield what the writing before a measurement showed, and what speaks against its state."""
    yield steady_claim(steady, of)
    if steady is None or not steady.judged:
        return
    if isinstance(steady, OnePassProof):
        yield one_pass_claim(steady)
    if not steady.fills_enough:
        yield Claim(
            "{of}the drive was overwritten less than twice before, so fresh blocks may have been left",
            figure=Amount(steady.capacities, "capacities"),
            bound=Bound("at least", Amount(FULL_CAPACITIES, "capacities")),
            evidence=Evidence((steady.ordinal,)),
            others={"of": of},
        )


def moves(slope: float | None, rise_share: float) -> str:
    """Say which way a fitted line goes, and by how much.

    >>> moves(-2.0, 0.0463), moves(0.0, 0.0), moves(None, 0.01)
    ('falling by 4.63 %', 'level', 'moving by 1.00 %')
    """
    rise = str(Amount(100 * abs(rise_share), "%"))
    if not any(digit in rise for digit in "123456789"):
        return "level"
    direction = "rising" if slope and slope > 0 else "falling" if slope else "moving"
    return f"{direction} by {rise}"


def _by_flash(steady: SteadyProof) -> bool:
    """Whether the rounds judged last are of a share of the flash, as after a pass, and not of a time."""
    if isinstance(steady, OnePassProof):
        return not steady.overwritten
    return isinstance(steady, PlacedProof) and not steady.in_full


def _state(steady: SteadyProof) -> str:
    """Return whether the writing brought the state about, and how."""
    reached = "reached" if steady.reached else "NOT reached"
    if isinstance(steady, PlacedProof):
        return f"{PREPARED}, {reached}"
    passed = isinstance(steady, OnePassProof) and not steady.overwritten
    return f"one random pass, {reached}" if passed else reached


def _verdict(steady: SteadyProof) -> str:
    if isinstance(steady, PlacedProof):
        held = "held the rule of it" if steady.reached else "did NOT hold the rule of it"
        rounds = len(steady.rounds_mb_s)
        which = "the five rounds" if rounds == WINDOW else f"the last five of {rounds} rounds"
        return (
            f"{PREPARED.capitalize()}: steady state was placed by theory, and {which} of "
            f"writes after that ({{time}}, {{written}}) {held}"
        )
    found = f"{'in' if steady.reached else 'NOT in'} steady state after {{time}} and {{written}} of writes"
    if not isinstance(steady, OnePassProof):
        return f"{found[0].upper()}{found[1:]}"
    if steady.overwritten:
        shown = "" if steady.agreed else " that did not show its spare"
        return f"Written over as in full after one random pass{shown}: {found}"
    return f"By one random pass, not SNIA's preconditioning: {found}"


def one_pass_claim(steady: OnePassProof) -> Claim:
    """Return in words what one pass in place of SNIA's preconditioning was made for, and what it showed."""
    others: dict[str, Amount | str] = {
        "asked": Amount(100 * steady.spare, "%"),
        "whose": steady.spare_from,
    }
    says = "prepared by one random pass, not SNIA's preconditioning, for a spare of {asked} ({whose})"
    shown = Evidence((steady.ordinal,))
    if steady.spare_found is None and steady.agreed:
        return Claim(
            f"{says}; with so much its speed need not fall, and did not",
            evidence=shown,
            others=others,
        )
    if steady.spare_found is None:
        return Claim(f"{says}; its speed shows no spare", evidence=shown, others=others)
    verdict = "the speed shows {figure}" + ("" if steady.agreed else ": another one")
    figure = Amount(100 * steady.spare_found, "%")
    return Claim(f"{says}; {verdict}", figure=figure, evidence=shown, others=others)


def lasted(steady: SteadyProof) -> dict[str, Amount | str]:
    """Return how long the writing took and how far it came, for a sentence."""
    rounds = len(steady.rounds_mb_s)
    return {
        "time": Amount(steady.seconds, "s"),
        "written": f"{significant(steady.capacities)} capacities",
        "rounds": f"{rounds} round{'s' if rounds != 1 else ''}",
        "doubted": steady.doubted,
    }


def check_claim(check: StateCheck) -> Claim:
    """Return in words what a check of the drive's state showed.

    One that came back proves nothing of the others: only a move is a conclusion, of the whole sweep.
    """
    others: dict[str, Amount | str] = {
        "what": check.what,
        "then": check.then,
        "after": Amount(check.after, check.unit),
        "fallen": check.fallen,
        "lowest": Amount(check.lowest, check.unit),
        "doubted": check.doubted,
    }
    heading = ""
    if check.kind == "repeated" and check.lowest is None:
        heading = "Taken first, and again"
        says = "{what} gave {figure}, and {after} when it was taken again afterwards"
    elif check.kind == "repeated":
        says = (
            "throughput fell from {figure} at {what} to {lowest} at {fallen}, and {what}, taken again "
            "afterwards, gave {after}"
        )
    elif check.kind == "throttled":
        says = (
            "{what} gave {figure} before the drive throttled itself for heat, and {then} {after} while it did"
        )
    else:
        heading = "The same work before, and here"
        says = "{what} ended at {figure}, and {then} gave {after} of the same work"
    if check.doubts:
        verdict = "not judged: {doubted}"
    else:
        verdict = "within a fifth of each other" if check.held else "the drive's state moved"
    return Claim(
        f"{says}: {verdict}",
        figure=Amount(check.before, check.unit),
        evidence=Evidence(check.ordinals),
        others=others,
        columns={heading: "{figure}, {after}: " + ("held" if check.held and not check.doubts else verdict)}
        if heading
        else {},
    )
