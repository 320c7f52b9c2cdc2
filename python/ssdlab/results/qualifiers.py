"""What may be the matter with a figure: the one catalogue of it.

A warning is about a step while it runs, a departure about the method against its source; a qualifier is about
a figure (`metric.Qualifier`), is stored with it, and every surface tells it by its label; what it forbids, no
surface does.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Use = Literal["ranking", "ratings", "claims"]
"""What a figure is used for: a place among drives or a shift, a share of a rating, a bound."""
ALL_USES: frozenset[Use] = frozenset(get_args(Use))
_NONE: frozenset[Use] = frozenset()


class Kind(NamedTuple):
    """An entry of the catalogue.

    Attributes
    ----------
    label
        What is shown with the figure, at most three words.
    sentence
        What it means.
    advice
        What to do; empty: nothing is amiss.
    forbids
        What such a figure is not used for.
    """

    label: str
    sentence: str
    advice: str = ""
    forbids: frozenset[Use] = ALL_USES


CATALOGUE: dict[str, Kind] = {
    "failed-io": Kind(
        "failed I/O",
        "I/O failed while it was measured, or the drive or its link reported errors.",
        "look at the kernel log and the drive's health: ssdlab show names the steps",
    ),
    "state-moved": Kind(
        "state moved",
        "The drive's state changed during the measurement, so its points are not of one state.",
        "write for longer before, or place the state of a simulated drive: --precondition analytic",
    ),
    "state-unproven": Kind(
        "state unproven",
        "Nothing shows that the drive was in the state that the figure is named after.",
        "write for longer first: without --quick, with the drive cool and the host idle",
    ),
    "not-judged": Kind(
        "not judged",
        "The run was too short for a verdict, or its load was not the method's.",
        "run the method in full: without --quick",
    ),
    "within-cache": Kind(
        "within cache",
        "The writes may have stayed within the drive's cache.",
        "measure over a larger span: without --quick",
    ),
    "search-ceiling": Kind(
        "search ceiling",
        "No load failed, so the drive may do more than the search tried.",
        "search higher",
    ),
    "throttled": Kind(
        "throttled",
        "The drive slowed itself down for heat.",
        "measure with the drive cooled",
    ),
    "paused": Kind(
        "paused",
        "The ssdlab process was stopped or frozen during the measurement.",
        "measure again without a stop, on a host that stays awake",
    ),
    "host-limited": Kind(
        "host-limited",
        "The host, not the drive, was the limit.",
        "measure with fewer threads, or on a host that does less beside it",
    ),
    "buffered": Kind(
        "buffered",
        "The writes went through the host's page cache, not straight to the drive.",
        "for the drive alone, write directly: without --buffered",
    ),
    "few-samples": Kind(
        "few samples",
        "Too few I/Os were measured for this percentile.",
        "measure for longer",
    ),
    "imported": Kind(
        "imported, state unproven",
        "Another program measured it: nothing shows the drive's state, and it is ranked only among imports.",
        "measure it with ssdlab: ssdlab methods",
        frozenset({"ratings", "claims"}),
    ),
    "not-fresh": Kind(
        "not fresh",
        "The drive was not purged before, so it is not known to be fresh.",
        "purge it before",
        frozenset({"ratings"}),
    ),
    "written-once": Kind(
        "written once",
        "The writes went to a drive that was written once, and not brought into steady state.",
        forbids=_NONE,
    ),
    "one-pass": Kind(
        "one random pass",
        "One random pass brought the state about, not SNIA's preconditioning.",
        forbids=_NONE,
    ),
    "placed": Kind(
        "prepared, not written",
        "The state was placed into the simulated drive by theory, and not written.",
        forbids=_NONE,
    ),
    "modelled": Kind(
        "modelled",
        "The tail comes from the profile's assumptions; it is no evidence about any real drive.",
        forbids=_NONE,
    ),
    "example": Kind(
        "made-up load",
        "The load is an example that was made up.",
        "give a trace of your own: --set file=PATH",
        _NONE,
    ),
}
"""By code, the gravest first: that is the order in which surfaces tell them."""
ORDER = {code: at for at, code in enumerate(CATALOGUE)}
UNKNOWN = "state-unproven"
"""What an unknown code is read as: never as good."""


def kind_of(code: str) -> Kind:
    """Return the entry of a code; of a later ssdlab that of a state that was not proven."""
    return CATALOGUE.get(code, CATALOGUE[UNKNOWN])
