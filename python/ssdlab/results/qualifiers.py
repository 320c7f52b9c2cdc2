"""The catalogue of qualifiers: faults and caveats of figures.

A warning concerns a step while it runs, a departure the method and its source. A qualifier concerns a figure,
and is stored with it (`metric.Qualifier`). Every output shows its label, and omits the uses that it forbids.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Use = Literal["ranking", "ratings", "claims"]
"""Uses of a figure: in a ranking or a shift, as a share of a rating, against the bound of a claim."""
ALL_USES: frozenset[Use] = frozenset(get_args(Use))
_NONE: frozenset[Use] = frozenset()


class Kind(NamedTuple):
    """An entry of the catalogue.

    Attributes
    ----------
    label
        Words shown with the figure, at most three.
    sentence
        What the qualifier means.
    advice
        What to do; empty: nothing.
    forbids
        Uses of the figure that are forbidden.
    """

    label: str
    sentence: str
    advice: str = ""
    forbids: frozenset[Use] = ALL_USES


CATALOGUE: dict[str, Kind] = {
    "failed-io": Kind(
        "failed I/O",
        "I/O failed during the measurement, or the drive or its link reported errors.",
        "check the kernel log and the drive's health; ssdlab show names the steps",
    ),
    "state-moved": Kind(
        "state moved",
        "The drive's state changed during the measurement, so its points are not comparable.",
        "precondition for longer: without --quick, or, on a simulated drive, with --precondition analytic",
    ),
    "state-unproven": Kind(
        "state unproven",
        "The run does not prove the drive state in the figure's name.",
        "precondition for longer: without --quick, with a cool drive and an idle host",
    ),
    "not-judged": Kind(
        "not judged",
        "The run was too short for a verdict, or did not apply the method's load.",
        "run the full method, without --quick",
    ),
    "within-cache": Kind(
        "within cache",
        "The writes may have stayed within the drive's cache.",
        "measure a larger span, without --quick",
    ),
    "search-ceiling": Kind(
        "search ceiling",
        "No load tried failed the figure's own test, so the true limit may be higher.",
        "raise the upper limit of the search, if the search reached it",
    ),
    "throttled": Kind(
        "throttled",
        "The drive throttled itself because of heat.",
        "cool the drive and measure again",
    ),
    "paused": Kind(
        "paused",
        "The ssdlab process was stopped or frozen during the measurement.",
        "measure again without stopping ssdlab, on a host that stays awake",
    ),
    "host-limited": Kind(
        "host-limited",
        "The host, not the drive, was the limit.",
        "use fewer threads, or a host with less other load",
    ),
    "buffered": Kind(
        "buffered",
        "The writes went through the host's page cache, not directly to the drive.",
        "measure without --buffered to test the drive alone",
    ),
    "few-samples": Kind(
        "few samples",
        "Too few I/Os were measured for this percentile.",
        "measure for longer",
    ),
    "imported": Kind(
        "imported, state unproven",
        "Another program measured it, in an unproven drive state; it is ranked only among imports.",
        "measure it with ssdlab: ssdlab methods",
        frozenset({"ratings", "claims"}),
    ),
    "not-fresh": Kind(
        "not fresh",
        "The drive was not purged first, so it may not be fresh.",
        "purge it first",
        frozenset({"ratings"}),
    ),
    "written-once": Kind(
        "written once",
        "The drive was written once, not preconditioned to steady state.",
        forbids=_NONE,
    ),
    "one-pass": Kind(
        "one random pass",
        "One random pass prepared the drive, instead of SNIA's preconditioning.",
        forbids=_NONE,
    ),
    "placed": Kind(
        "prepared, not written",
        "The simulated drive's state was computed by theory, not written.",
        forbids=_NONE,
    ),
    "modelled": Kind(
        "modelled",
        "The tail follows the profile's assumptions; it is no evidence about a real drive.",
        forbids=_NONE,
    ),
    "example": Kind(
        "made-up load",
        "The load is a made-up example.",
        "use a trace of your own: --set file=PATH",
        _NONE,
    ),
}
"""Kinds by code, the gravest first, which is the display order."""
ORDER = {code: at for at, code in enumerate(CATALOGUE)}
UNKNOWN = "state-unproven"
"""Code that any unknown code counts as, so that none is ignored."""


def kind_of(code: str) -> Kind:
    """Return the entry of a code; an unknown code counts as an unproven state."""
    return CATALOGUE.get(code, CATALOGUE[UNKNOWN])
