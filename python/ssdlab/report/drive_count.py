"""How many drives a page shows: a drive in several states counts once.

A state makes a drive another entry: a variant (spare, power, write cache), or the size of a simulated drive.
Its words follow the drive's name after commas.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.drives.simulated.text import SimulatedText
    from ssdlab.results.schema import DriveInfo

    _State = tuple[tuple[str, str], ...]

_PHRASES = dict.fromkeys(("scale", "power_limit", "power"), "at {}")
"""What is said of a state, by what it is; `power` is that of a simulated drive."""
_OTHERS = "with {}"
_VARIANTS = ("usable", "spare", "power_limit", "write_cache", "lba_format")
"""In the order in which a variant has its words."""
_IN_TITLE = 2
"""Drives whose names are the title; more are counted."""


def drive_of(drive: DriveInfo) -> str:
    """Return what two entries of one drive have in common."""
    text = _simulated(drive)
    if text is None:
        return drive.id
    from ssdlab.drives.simulated.text import SimulatedText

    return str(SimulatedText(text.profile, serial=text.serial, firmware=text.firmware, seed=text.seed))


def _simulated(drive: DriveInfo) -> SimulatedText | None:
    """Return what a simulated drive is; None of others, and of an ssdlab whose drives say something else."""
    if not drive.text.startswith(SIMULATED_PREFIX):
        return None
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        return SimulatedText.parse(drive.text)
    except LabError:
        return None


def _states_of(drive: DriveInfo) -> _State:
    """Return the words of a drive's state as its name has them, each with what it is; empty: not known."""
    if drive.text.startswith(SIMULATED_PREFIX):
        if (text := _simulated(drive)) is None:
            return ()
        words = (*((f"1/{text.scale} of its size",) if text.scale > 1 else ()), *drive.name.split(", ")[1:])
        kinds = text.states()
    elif drive.variant is not None:
        words, kinds = drive.variant.words, tuple(each for each in _VARIANTS if each in drive.variant.asked)
    else:
        return ()
    return tuple(zip_longest(words, kinds[: len(words)], fillvalue=""))


def compared(drives: Iterable[DriveInfo]) -> str:
    """Return the title of a page: the drives' names, or their number, with their further states."""
    states = _states(drives)
    if len(states) <= _IN_TITLE:
        return " and ".join(f"{own[0][0]}{_brackets(_further(own))}" for own in states.values())
    several = [own for own in states.values() if len(own) > 1]
    title = f"{len(states)} drives compared"
    if len(several) > 1:
        return f"{title}, {len(several)} of them in several states"
    return f"{title}, one {_further(several[0])}" if several else title


def _states(drives: Iterable[DriveInfo]) -> dict[str, list[tuple[str, _State]]]:
    """Return of each drive what it is called in each of its states, and these, in the order of the page."""
    found: dict[str, list[tuple[str, _State]]] = {}
    for drive in drives:
        own, state = found.setdefault(drive_of(drive), []), (drive.name, _states_of(drive))
        if state not in own:
            own.append(state)
    return found


def _further(states: Sequence[tuple[str, _State]]) -> str:
    """Say in what further states a drive stands there: ``also at 10 W and with 25 % spare``."""
    (_, first), *others = states
    phrases = dict.fromkeys(_state(state, first) for _, state in others)
    return f"also {' and '.join(phrases)}" if phrases else ""


def _state(state: _State, first: _State) -> str:
    """Name a state by what the first does not have."""
    own = [(word, kind) for word, kind in state if word not in [other for other, _ in first]]
    if own:
        return ", ".join(_PHRASES.get(kind, _OTHERS).format(word) for word, kind in own)
    return "in full size" if any(kind == "scale" for _, kind in first) else "as it is"


def _brackets(text: str) -> str:
    return f" ({text})" if text else ""
