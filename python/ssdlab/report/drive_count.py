"""How many drives a page is of: a drive that stands on it in several states is counted once.

A state is what makes a drive another entry: a variant (spare, power, write cache), or the size of a simulated
drive. Its words stand behind the drive's name, parted by commas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.drives.prefix import SIMULATED_PREFIX
from ssdlab.model.errors import LabError
from ssdlab.model.units import counted
from ssdlab.report.runs import drive_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.results.schema import DriveInfo

_SIZE = " of its size"
_IN_TITLE = 2
"""Drives whose names are the title; more are counted."""


def drive_of(drive: DriveInfo) -> str:
    """Return what two entries share that are of one drive."""
    if not drive.text.startswith(SIMULATED_PREFIX):
        return drive.id
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        text = SimulatedText.parse(drive.text)
    except LabError:  # of an ssdlab whose drives say something else
        return drive.id
    return str(SimulatedText(text.profile, serial=text.serial, firmware=text.firmware, seed=text.seed))


def among(drives: Iterable[DriveInfo]) -> str:
    """Say of how many drives entries are: ``2 drives``; empty where each entry is a drive of its own."""
    states = _states(drives)
    names = sum(len(own) for own in states.values())
    return "" if names == len(states) else counted(len(states), "drive")


def compared(drives: Iterable[DriveInfo]) -> str:
    """Return the title of a page of these drives: their names, or how many, with their further states."""
    states = _states(drives)
    if len(states) <= _IN_TITLE:
        return " and ".join(f"{own[0]}{_brackets(_further(own))}" for own in states.values())
    several = [own for own in states.values() if len(own) > 1]
    title = f"{len(states)} drives compared"
    if len(several) > 1:
        return f"{title}, {len(several)} of them in several states"
    return f"{title}, one {_further(several[0])}" if several else title


def _states(drives: Iterable[DriveInfo]) -> dict[str, list[str]]:
    """Return of each drive what it is called, once for each state, in the order of the page."""
    found: dict[str, dict[str, None]] = {}
    for drive in drives:
        found.setdefault(drive_of(drive), {})[drive_name(drive)] = None
    return {drive: list(names) for drive, names in found.items()}


def _further(names: Sequence[str]) -> str:
    """Say in what further states a drive stands there: ``also at 10 W and with 25 % spare``."""
    first, *others = [name.split(", ")[1:] for name in names]
    phrases = dict.fromkeys(_state(words, first) for words in others)
    return f"also {' and '.join(phrases)}" if phrases else ""


def _state(words: Sequence[str], first: Sequence[str]) -> str:
    """Name a state by what the first does not have."""
    own = [word for word in words if word not in first]
    if own:
        return ", ".join(map(_describe, own))
    return "in full size" if any(word.endswith(_SIZE) for word in first) else "as it is"


def _describe(word: str) -> str:
    if word.startswith("at most "):
        return word
    return f"at {word}" if word.endswith((" W", _SIZE)) else f"with {word}"


def _brackets(text: str) -> str:
    return f" ({text})" if text else ""
