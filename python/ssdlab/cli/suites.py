"""Turns the arguments of a command into orders for suites and several drives, and shows their progress."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ssdlab.cli.ordering import order, settings
from ssdlab.cli.output import say
from ssdlab.cli.progress import Place, RunProgress, display, live_lines
from ssdlab.model import units
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import UsageError, of_drive, unknown
from ssdlab.model.printable import plain_drive
from ssdlab.model.units import and_listed

if TYPE_CHECKING:
    from ssdlab.cli.progress import Display
    from ssdlab.lab.suites.suite import Suite
    from ssdlab.results.progress import Observer, Progress
    from ssdlab.results.schema import Child, DriveInfo
    from ssdlab.runs.suites.ordering import SuiteOrder


def suite_order(
    name: str,
    drive: str,
    words: Sequence[str],
    *,
    quick: bool,
    repeat: int = 1,
    only: Sequence[str] = (),
    as_suite: bool = False,
    **options: Any,  # noqa: ANN401 - those of `order`
) -> SuiteOrder | None:
    """Return a suite, or a repeated method, to run; None for a single run.

    With `as_suite`, a single run becomes a suite of one part, which several drives need.

    Raises
    ------
    UsageError
        A parameter that no part has, an invalid value, or an unknown part.
    """
    from ssdlab.lab.found import find_method
    from ssdlab.lab.suites import find_suite
    from ssdlab.lab.suites.suite import titled
    from ssdlab.runs.conditions.variant import parted, with_own
    from ssdlab.runs.suites.ordering import SuiteOrder, check_repeat, repeated, suite_params

    check_repeat(repeat)
    drive, own = parted(drive)
    options["variant"] = with_own(options.get("variant"), own, drive)
    suite = find_suite(name)
    given = settings(words)
    if suite is not None:
        suite = suite if as_suite else titled(suite, [drive])
        params = suite_params(suite, given, quick=quick, drive=drive)
    elif only:
        find_method(name)
        raise UsageError(f"{name} is a method, and has no parts for --only to choose", "leave out --only")
    elif repeat > 1 or as_suite:
        method = find_method(name)
        suite, params = repeated(method, method.params.build(given, quick=quick), repeat)
    else:
        return None
    like = order(suite.parts[0].method, drive, (), quick=quick or suite.quick, **options)
    made = SuiteOrder(suite, params, like, repeat, only=parts_named(suite, only))
    if made.drive != like.drive:
        say(f"{suite.name} sets size or write cache of the simulated drive itself: it runs on {made.drive}")
    if not as_suite:
        _say_unused([made])
    return made


def _say_unused(made: Sequence[SuiteOrder]) -> None:
    """Print which variants match none of the drives: a name may be misspelt."""
    for entry in made[0].suite.entries:
        if not any(entry.is_of(each.position, each.names) for each in made):
            drives = and_listed(list(map(str, entry.drives)))
            say(f"variant {entry.name} is left out: no drive matches {drives}")


def parts_named(suite: Suite, given: Sequence[str]) -> frozenset[str]:
    """Return the parts that `--only` names, singly or separated by commas.

    Raises
    ------
    UsageError
        The suite has no such part, or no part is named.
    """
    known = [part.label for part in suite.all_parts]
    names = [name.strip() for word in given for name in word.split(",")]
    for name in names:
        if name not in known:
            raise unknown("part", name, known)
    return frozenset(names)


class SuiteProgress:
    """Shows a suite: starts and ends of runs, the progress of running ones, and the time left.

    Use it as a context manager.
    """

    def __init__(self) -> None:
        self._display: Display = display()
        self._began: dict[str, float] = {}
        self._took: dict[int, list[float]] = {}
        self._places: dict[str, Place] = {}
        self._drive, self._drives_left, self._total, self._last = "", 0, 0, 0

    def began(self, child: Child, number: int, total: int) -> Sequence[Observer]:
        """Print that a run starts, or a drive's suite; return the observer of a run in this process."""
        self._began[child.part] = time.monotonic()
        if child.suite:
            self._drive, self._drives_left, self._last = plain_drive(child.title), total - number, 0
            self._display.say(f"drive {number} of {total}: {self._drive} begins")
        else:
            place = Place(self._drive, number, total, child.part)
            self._places[child.part], self._total = place, total
            self._last = max(self._last, number)
            self._display.say(f"{place.words} begins")
        return [RunProgress(self._display, keep=True, lines=lambda own: self._lines({child.part: own}))]

    def look(self, running: Mapping[str, Progress]) -> None:
        """Show the progress of runs in other processes."""
        self._display.update(self._lines(running))

    def ended(self, child: Child, number: int, total: int, *, already_finished: bool) -> None:
        name = f"drive {number} of {total}: {plain_drive(child.title)}"
        if not child.suite:
            name = Place(self._drive, number, total, child.part).words
            self._last = max(self._last, number)
        if already_finished:
            self._display.say(f"{name}: finished before")
            return
        took_s = time.monotonic() - self._began[child.part]
        if not child.suite:
            self._took.setdefault(number, []).append(took_s)
        self._display.say(f"{name}: finished in {units.span_text(round(took_s))}")

    def _lines(self, running: Mapping[str, Progress]) -> tuple[str, ...]:
        """Return the live lines; waiting drives are assumed to have as many parts as this drive."""
        waiting = [*range(self._last + 1, self._total + 1)]
        waiting += [*range(1, self._total + 1)] * self._drives_left
        return live_lines({self._places[part]: own for part, own in running.items()}, waiting, self._took)

    def __enter__(self) -> SuiteProgress:
        return self

    def __exit__(self, *exception: object) -> None:
        self._display.close()


def in_library(drive: str, library: Path, size: object) -> DriveInfo | None:
    """Return the drive that is named by its identifier in the library; None if it is named by a path.

    An NVMe drive's identifier contains a slash, between serial number and namespace number.
    """
    if drive.startswith((SIMULATED_PREFIX, "/", ".", "~")) or size is not None or Path(drive).exists():
        return None
    from ssdlab.runs.conditions.variant import parted
    from ssdlab.runs.suites.standing import drive_in_library

    return drive_in_library(library, parted(drive)[0])


def orders(
    name: str,
    drives: Sequence[str],
    words: Sequence[str],
    library: Path,
    *,
    quick: bool,
    repeat: int,
    destroy: Sequence[str] = (),
    **options: Any,  # noqa: ANN401 - those of `order`
) -> list[SuiteOrder]:
    """Return an order of a suite for each drive; a single method becomes a suite of one part.

    Raises
    ------
    UsageError
        A value is invalid, or consent names none of the drives.
    """
    from ssdlab.lab.suites.suite import titled
    from ssdlab.runs.conditions.variant import parted, with_own

    names, asked = zip(*map(parted, drives), strict=True)
    consents = _consents(names, destroy)
    found = []
    for number, (drive, apart) in enumerate(zip(names, asked, strict=True), start=1):
        variant = with_own(options.get("variant"), apart, drive)
        own = {**options, "destroy": consents.get(drive), "variant": variant}
        known = in_library(drive, library, options.get("size_bytes"))
        text = drive if known is None else known.text
        attached = None if known is None else _attached(known)
        if attached is not None:
            text = attached
        with of_drive(drive, names):
            made = suite_order(name, text, words, quick=quick, repeat=repeat, as_suite=True, **own)
            assert made is not None  # `as_suite`
            called = frozenset({drive} if known is None else {drive, known.id})
            made = replace(made, position=number, called=called)
            found.append(made if known is None else _standing(made, known, library, attached is not None))
    _say_unused(found)
    texts = [made.like.drive for made in found]
    return [replace(made, suite=titled(made.suite, texts)) for made in found]


def _standing(order: SuiteOrder, known: DriveInfo, library: Path, attached: bool) -> SuiteOrder:
    """Return an order that reuses the parts in the library for its drive, and print what is missing."""
    from ssdlab.runs.suites.standing import more_points, standing_parts

    standing = standing_parts(
        library,
        known,
        order.suite,
        order.parts,
        order.params,
        quick=order.like.quick,
        variant=order.like.variant,
    )
    parts = {part.label: part for part in order.parts if order.asks_for(part)}
    asked = list(parts)
    found = {label: run for label, run in standing.items() if label in asked}
    missing = [label for label in asked if label not in found]
    for label, run in found.items():
        for each in more_points(run.manifest, order.params_of(parts[label])) or ():
            had = ", ".join(map(str, cast("Any", run.manifest.params[each.name])))
            unlike = "; figures chosen among them, or over all, are not ranked with the others'"
            say(
                f"{known.name}: {label} in the library has more {each.name}: "
                f"{had}{unlike * (each.points == 'all')}"
            )
    if missing:
        what = "is run now" if attached else "is left out: the drive is not attached"
        stand = f"{len(found)} of {len(asked)} parts are already in the library"
        say(f"{known.name}: {stand}; {', '.join(missing)} {what}")
    if not found and not attached:
        raise UsageError(
            f"the library has no part of {order.suite.name} for {known.id}, and the drive is not attached",
            "attach it and give its path, or leave it out",
            drive=known.id,
        )
    return replace(order, standing=found, known=None if attached and missing else known)


def _attached(known: DriveInfo) -> str | None:
    """Return the path at which a drive is attached; None if it is not."""
    from ssdlab.drives.opening import list_drives

    if known.capabilities.made_to_order:
        return known.text
    if known.capabilities.on_file_system:
        return known.id if Path(known.id).exists() else None
    for found in list_drives():
        if found.identity is not None and found.identity.consent_id == known.id:
            return found.identity.path
    return None


def _consents(drives: Sequence[str], given: Sequence[str]) -> Mapping[str, str]:
    """Return for each drive the consent that names it.

    Raises
    ------
    UsageError
        A consent names none of the drives.
    """
    if not given:
        return {}
    drives = list(dict.fromkeys(drives))
    if len(drives) == len(given) == 1:
        return {drives[0]: given[0]}
    from ssdlab.drives import look

    names: dict[str, str] = {}
    for drive in drives:
        with of_drive(drive, drives):
            identity = look(drive).identity
        names[drive if identity is None else identity.consent_id] = drive
        names.setdefault(drive, drive)
    found = {}
    for consent in given:
        if consent not in names:
            raise UsageError(
                f"--destroy {consent} matches none of the given drives",
                "give the identifier of each drive that may be overwritten: see ssdlab drives",
            )
        found[names[consent]] = consent
    return found


def one_drive(drives: Sequence[str]) -> str:
    """Return the first drive that was named.

    Raises
    ------
    UsageError
        No drive was named.
    """
    if not drives:
        raise UsageError("no drive is named", "name one, such as /dev/nvme0n1: see ssdlab drives")
    return drives[0]


def one_consent(given: Sequence[str]) -> str | None:
    """Return the consent to losing the data of one drive.

    Raises
    ------
    UsageError
        Several consents are given.
    """
    if len(given) > 1:
        raise UsageError("--destroy is given twice, but there is one drive", "give only its identifier")
    return given[0] if given else None
