"""Findings on the drive's state before and during a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, ROUND_SHARE, WINDOW
from ssdlab.model.units import fixed_share_text, share_text, significant
from ssdlab.results.claim import Amount, Bound, Claim, Evidence
from ssdlab.results.drive_states import FULL_CAPACITIES, PREPARED, OnePassProof, PlacedProof

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.results.drive_states import StateCheck, SteadyProof

TOO_LITTLE = "{share} of the drive overwritten in {rounds}"
"""Why the state cannot be assessed; `lasted` fills the placeholders."""


def steady_claim(steady: SteadyProof | None, of: str = "") -> Claim:
    """Return the finding on the writing before a measurement.

    `of` names that writing if there are several, and starts the sentence.
    """
    if steady is None:
        return Claim("Not preconditioned to steady state")
    shown = Evidence((steady.ordinal,))
    before = of.replace(": ", ", ")
    state = f"{before}steady state" if before else "Steady state"
    if not steady.judged or steady.range_share is None or steady.rise_share is None or steady.first is None:
        why = "{doubted}" if steady.doubts else TOO_LITTLE
        return Claim(
            f"{of}Steady state not assessed: {why}",
            evidence=shown,
            others=lasted(steady),
            columns={state: f"not assessed: {why}"},
        )
    return Claim(
        f"{of}{_verdict(steady)}: range {{figure}} ({{bound}}) and slope {{slope}} ({{max_rise}}) of the "
        "mean over rounds {first} to {last}, each {round}{size}",
        figure=Amount(100 * steady.range_share, "%"),
        bound=Bound("at most", Amount(100 * MAX_RANGE, "%")),
        evidence=Evidence((steady.ordinal,), (steady.first, steady.first + WINDOW - 1)),
        others={
            **lasted(steady),
            "slope": slope_text(steady.slope_mb_s, steady.rise_share),
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
            else f"Slope, {Bound('at most', Amount(100 * MAX_RISE, '%'))}": "{slope}",
        },
    )


def state_claims(steady: SteadyProof | None, of: str = "") -> Iterator[Claim]:
    """Yield the findings on the writing before a measurement, and any doubts about the drive's state.

    `of` names that writing if there are several.
    """
    yield steady_claim(steady, of)
    if steady is None or not steady.judged:
        return
    if isinstance(steady, OnePassProof):
        yield one_pass_claim(steady)
    if not steady.fills_enough:
        yield Claim(
            "{of}fresh blocks may be left, as the drive was overwritten less than twice",
            figure=Amount(steady.capacities, "drive writes"),
            bound=Bound("at least", Amount(FULL_CAPACITIES, "drive writes")),
            evidence=Evidence((steady.ordinal,)),
            others={"of": of},
        )


def slope_text(slope: float | None, rise_share: float) -> str:
    """Return the rise or fall of a fitted line over its window, as a signed percentage.

    >>> slope_text(-2.0, 0.0463), slope_text(0.0, 0.0), slope_text(None, 0.01)
    ('-4.63 %', '0 %', '±1.00 %')
    """
    rise = str(Amount(100 * abs(rise_share), "%"))
    if not any(digit in rise for digit in "123456789"):
        return "0 %"
    return f"{'+' if slope and slope > 0 else '-' if slope else '±'}{rise}"


def _by_flash(steady: SteadyProof) -> bool:
    """Return whether rounds are a share of the flash, as after one pass, instead of a time."""
    if isinstance(steady, OnePassProof):
        return not steady.overwritten
    return isinstance(steady, PlacedProof) and not steady.in_full


def _state(steady: SteadyProof) -> str:
    reached = "reached" if steady.reached else "NOT reached"
    if isinstance(steady, PlacedProof) and not steady.in_full:
        return f"{PREPARED}, {reached}"
    passed = isinstance(steady, OnePassProof) and not steady.overwritten
    return f"one random pass, {reached}" if passed else reached


def _verdict(steady: SteadyProof) -> str:
    if isinstance(steady, PlacedProof) and not steady.in_full:
        met = "meets" if steady.reached else "does NOT meet"
        return (
            f"{PREPARED.capitalize()}: steady state was computed by theory and {met} SNIA's criterion in "
            "{rounds} of writes after that ({time}, {written})"
        )
    found = f"{'in' if steady.reached else 'NOT in'} steady state after {{time}} and {{written}}"
    if isinstance(steady, PlacedProof):
        return f"Overwritten as in full preconditioning after a state computed by theory: {found}"
    if not isinstance(steady, OnePassProof):
        return f"{found[0].upper()}{found[1:]}"
    if steady.overwritten:
        shown = "" if steady.agreed else " that did not confirm its spare"
        return f"Overwritten as in full preconditioning after one random pass{shown}: {found}"
    return f"By one random pass, not SNIA's preconditioning: {found}"


def one_pass_claim(steady: OnePassProof) -> Claim:
    """Return the finding on the spare share: what one pass assumed, and what its speed implies."""
    others: dict[str, Amount | str] = {
        "asked": Amount(100 * steady.spare, "%"),
        "whose": steady.spare_from,
    }
    says = "prepared by one random pass, not SNIA's preconditioning, for a spare of {asked} ({whose})"
    if steady.overwritten:
        says = "the random pass before that assumed a spare of {asked} ({whose})"
    shown = Evidence((steady.ordinal,))
    if steady.spare_found is None and steady.agreed:
        return Claim(
            f"{says}; with that much, its speed need not drop, and did not",
            evidence=shown,
            others=others,
        )
    if steady.spare_found is None:
        return Claim(f"{says}; its speed shows no spare", evidence=shown, others=others)
    verdict = "its speed shows {figure}" + ("" if steady.agreed else ", which differs")
    figure = Amount(100 * steady.spare_found, "%")
    return Claim(f"{says}; {verdict}", figure=figure, evidence=shown, others=others)


def lasted(steady: SteadyProof) -> dict[str, Amount | str]:
    """Return how long and how much was written, as the parts of a sentence."""
    rounds = len(steady.rounds_mb_s)
    return {
        "time": Amount(steady.seconds, "s"),
        "written": f"{significant(steady.capacities)} drive writes",
        "share": share_text(steady.capacities),
        "rounds": f"{rounds} round{'s' if rounds != 1 else ''}",
        "doubted": steady.doubted,
    }


def check_claim(check: StateCheck) -> Claim:
    """Return the finding on a check of the drive's state.

    Only a change is conclusive: a reproduced point proves nothing about the others.
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
        heading = "First, and repeated"
        says = "{what} gave {figure}, and {after} when repeated"
    elif check.kind == "repeated":
        says = (
            "throughput fell from {figure} at {what} to {lowest} at {fallen}; repeated, {what} gave {after}"
        )
    elif check.kind == "throttled":
        says = "{what} gave {figure} before the drive throttled, and {then} gave {after} while it did"
    else:
        heading = "Same load before, and here"
        says = "{what} ended at {figure}; with the same load, {then} gave {after}"
    if check.doubts:
        verdict = "not judged: {doubted}"
    else:
        verdict = "within 20 %" if check.held else "the drive's state moved"
    return Claim(
        f"{says}: {verdict}",
        figure=Amount(check.before, check.unit),
        evidence=Evidence(check.ordinals),
        others=others,
        columns={heading: "{figure}, {after}: " + ("held" if check.held and not check.doubts else verdict)}
        if heading
        else {},
    )
