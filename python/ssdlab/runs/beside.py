"""Alternates repeats of a method with repeats of an earlier run, to compare drives under equal conditions.

Two series measured one after the other also differ by temperature, host load and wear. Alternating (ABAB)
lets these affect both drives equally.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.drives.simulated.text import SimulatedText
from ssdlab.library.comparing import side_of
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused
from ssdlab.results import catalogue
from ssdlab.results.kin import Incomparable
from ssdlab.results.remarks import span_of
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.tags import change_tags
from ssdlab.runs.resume_checks import resumable_method
from ssdlab.runs.session import start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ssdlab.results.progress import Observer
    from ssdlab.results.schema import Manifest
    from ssdlab.runs.order import Order
    from ssdlab.runs.session import RunEnvironment


@dataclass(frozen=True)
class InTurn:
    """The two orders to alternate (`base` repeats the earlier run), and the tag for the runs of each."""

    base: Order
    new: Order
    repeats: int
    base_tag: str
    new_tag: str


def in_turn(text: str, library: Path, new: Order, repeats: int) -> InTurn:
    """Return the runs to alternate with an earlier run, without touching a drive.

    Parameters
    ----------
    text
            The earlier run, a suite of repeats of one method, or `tag:WORD`. It gives the base's method,
            parameters and drive.
        library
            Library that holds the earlier run and receives the new runs.
        new
            Order to alternate with the base. Its consent, rig and meter apply to both.
        repeats
            Number of runs of each order.

    Raises
    ------
    UsageError
        There is no such run or tag.
    Refused
            `text` covers several methods, drives or parameters, or needs another version of the method. Or a
            drive variant is involved, or the new runs would not be comparable.
    """
    manifests = [RunFolder(library / name).manifest for name in side_of(text, library).runs]
    first = manifests[0]
    if len({(one.method.name, one.method.version, str(one.params), one.drive.id) for one in manifests}) > 1:
        raise Refused(
            f"{text} covers several methods, drives or parameters", "name one run with --beside", given=text
        )
    if first.drive.variant is not None or new.variant.destroys:
        raise Refused(
            "a drive variant cannot alternate with another: each run would recreate it",
            "run each with --repeat, then compare them",
        )
    if unlike := _unlike(first, new):
        raise Refused(
            f"runs beside {text} would not be comparable with it: {unlike}",
            "run the same method with the same parameters on a drive of the same kind",
            given=text,
        )
    method, params = resumable_method(first)
    base = replace(
        new,
        method=method,
        params=params,
        drive=first.drive.text,
        quick=first.quick,
        size_bytes=None,
        seed=None,
    )
    word = secrets.token_hex(3)
    return InTurn(base, replace(new, seed=None), repeats, f"beside-{word}.base", f"beside-{word}.new")


def _unlike(first: Manifest, new: Order) -> str:
    """Return in words what is known to make the runs incomparable; empty if nothing is known."""
    simulated = new.drive.startswith(SIMULATED_PREFIX)
    asked = SimulatedText.parse(new.drive) if simulated else None
    then = SimulatedText.parse(first.drive.text) if first.drive.text.startswith(SIMULATED_PREFIX) else None
    if (asked is None) is not (then is None):
        return "a simulated drive, not a real one" if simulated else "a real drive, not a simulated one"
    pairs: dict[str, tuple[object, object]] = {"method": (new.method.name, first.method.name)}
    if new.method.name == first.method.name:
        pairs["settings"] = (new.params.model_dump(mode="json"), first.params)
    pairs["quick"] = (new.quick, first.quick)
    pairs["span"] = (None, span_of(first))
    if asked is not None and then is not None:
        pairs["scale"] = (asked.scale, then.scale)
    return "; ".join(_difference(name, *pair) for name, pair in pairs.items() if pair[0] != pair[1])


def _difference(name: str, ours: object, theirs: object) -> str:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        own = {key: value for key, value in ours.items() if theirs.get(key) != value}
        listed = ", ".join(f"{key}={value}, not {theirs.get(key)}" for key, value in own.items())
        return f"parameters {listed}"
    return Incomparable(name, ours, theirs).words


def run_in_turn(
    asked: InTurn,
    library: Path,
    begins: Callable[[str, int], Sequence[Observer]],
    environment: RunEnvironment | None = None,
) -> None:
    """Run both orders alternately, base first; tag each finished run and add it to the catalogue.

    Parameters
    ----------
    asked
        The two orders and their tags.
    library
        Library for the new runs.
    begins
        Called before each run with `base` or `new` and its number, from 1. Returns the run's observers.
    environment
        See `runs.session.start`.

    Raises
    ------
    LabError
        The error of the run that stopped. Earlier runs are kept with their tags.
    """
    sides = (("base", asked.base, asked.base_tag), ("new", asked.new, asked.new_tag))
    for number in range(1, asked.repeats + 1):
        for side, order, tag in sides:
            folder = start(order, library, begins(side, number), environment)
            change_tags(folder, [tag])
            catalogue.enter(folder)
