"""The runs of one page: their order, their labels, and the look that each keeps in every chart."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ssdlab.model.errors import LabError
from ssdlab.report.charts import RunStyle
from ssdlab.report.columns import Column, Subject, columns_of, labels_of
from ssdlab.report.links import link_of
from ssdlab.report.looks import further_shapes, looks_of
from ssdlab.report.names import short_names
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.source import Run
    from ssdlab.results.schema import DriveInfo, Manifest


R = TypeVar("R", bound=ResultBase)
_SPARE = re.compile(r", \S+ (?:% spare|of its medium spare)")
"""In the name of a simulated drive; earlier versions named the share of the medium."""
_ENGINES = {"sync": "threads", "uring": "io_uring", "sim": "simulated"}


@dataclass(frozen=True)
class Shown:
    """A run with its place and its appearance on this page."""

    index: int
    run: Run
    style: RunStyle
    drive: DriveInfo
    """The drive that it counts as: of a part of a suite that of all its parts, whatever size each had."""

    @property
    def label(self) -> str:
        """What the reader knows it by on this page; differs from that of every other run."""
        return self.style.label


def with_result(runs: Sequence[Shown], model: type[R]) -> list[tuple[Shown, R]]:
    """Return runs with their Results, of one kind: only such are handed to its section."""
    return [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, model)]


@dataclass(frozen=True)
class Entry:
    """Runs that look alike because they are of one drive in one variant: its runs of different methods."""

    style: RunStyle
    runs: tuple[Shown, ...]


def entries(runs: Sequence[Shown]) -> tuple[Entry, ...]:
    """Gather runs into entries, in the order of their first runs."""
    found: dict[RunStyle, list[Shown]] = {}
    for one in runs:
        found.setdefault(one.style, []).append(one)
    return tuple(Entry(style, tuple(members)) for style, members in found.items())


def engine_words(engine: str) -> str:
    """How I/O was issued, as a label beside a drive: `threads`, `io_uring` or `simulated`."""
    return _ENGINES.get(engine, engine)


def drive_name(drive: DriveInfo) -> str:
    """Return what a reader calls the drive; a file on a file system is called so."""
    if drive.capabilities.on_file_system:
        return f"File {drive.name}"
    # A simulated drive is made in another size by its spare area: the page has the size that was asked for.
    variant = drive.variant
    if variant is None or not variant.made or set(variant.asked) - {"usable", "spare"}:
        return drive.name
    return _SPARE.sub("".join(f", {word}" for word in variant.words), drive.name)


def shown(runs: Sequence[Run]) -> tuple[Shown, ...]:
    """Give every run its look, in the order they were asked for.

    The first column of a drive in a method is filled; a further one (another engine, another day, another
    review) is hollow and dotted.
    """
    drives = _drives([run.manifest for run in runs])
    looks = looks_of(map(_entry, drives))
    columns = columns_of(runs, _subjects(runs, drives))
    named = dict(zip(map(id, columns), labels_of(runs, columns), strict=True))
    of_run = {at: column for column in columns for at in column.runs}
    labels = [named[id(of_run[index])] for index in range(len(runs))]
    shorts = short_names(labels)
    before = _columns_before(runs, columns)
    result = []
    for index in range(len(runs)):
        drive, run = drives[index], runs[index]
        again = before[id(of_run[index])]
        colour, _ = looks[_entry(drive)]
        shapes = further_shapes(_entry(drive), looks)
        shape = shapes[again // 2 % len(shapes)]
        link = link_of(drive)
        style = RunStyle(
            labels[index], shorts[index], colour, shape, again % 2 == 1, link.interface, link.mb_s
        )
        result.append(Shown(index, run, style, drive))
    return tuple(result)


def _subjects(runs: Sequence[Run], drives: Sequence[DriveInfo]) -> list[Subject]:
    """Return what each run is of; how I/O was issued is said where that differs."""
    several = len({run.manifest.engine for run in runs}) > 1
    return [
        Subject(
            _entry(drive),
            drive.id,
            (drive_name(drive), *((engine_words(run.manifest.engine),) if several else ())),
        )
        for run, drive in zip(runs, drives, strict=True)
    ]


def _columns_before(runs: Sequence[Run], columns: Sequence[Column]) -> dict[int, int]:
    """Return how many columns of the same drive in the same methods stand before each."""
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for column in columns:
        own = {(column.subject.entry, runs[at].manifest.method.name) for at in column.runs}
        found[id(column)] = again = max(seen[each] for each in own)
        for each in own:
            seen[each] = again + 1
    return found


def _drives(manifests: Sequence[Manifest]) -> list[DriveInfo]:
    """Return the drive of each run; parts of a suite that had it in several sizes are of one drive."""
    in_sizes: dict[tuple[str, str], list[DriveInfo]] = {}
    for manifest in manifests:
        in_sizes.setdefault(_of_any_size(manifest), []).append(manifest.drive)
    whole = {key: _in_full_size(drives) for key, drives in in_sizes.items()}
    return [whole[_of_any_size(manifest)] or manifest.drive for manifest in manifests]


def _of_any_size(manifest: Manifest) -> tuple[str, str]:
    """Return what parts of a suite share that had one drive, in one variant, in whatever size."""
    suite = manifest.run_id if manifest.member is None else manifest.member.suite
    if not manifest.drive.capabilities.made_to_order:
        return suite, manifest.drive.id
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        return suite, str(replace(SimulatedText.parse(manifest.drive.text), scale=1))
    except LabError:  # of an ssdlab whose drives say something else
        return suite, manifest.drive.id


def _in_full_size(drives: Sequence[DriveInfo]) -> DriveInfo | None:
    """Return the simulated drive whose sizes these are; None where they are of one size, or real."""
    if len({drive.id for drive in drives}) == 1:
        return None
    from ssdlab.drives.simulated.drive import SimulatedText, identity_of

    try:
        text = replace(SimulatedText.parse(drives[0].text), scale=1)
        found = identity_of(text)
    except LabError:  # a profile that is not there any more
        return None
    name = found.model or found.name
    return drives[0].model_copy(update={"id": found.consent_id, "name": name, "text": str(text)})


def _entry(drive: DriveInfo) -> str:
    """Return what has one look through the page: a drive in one variant."""
    variant = drive.variant
    if variant is None or variant.made:  # a simulated drive that was made so has an id of its own
        return drive.id
    return ", ".join((drive.id, *variant.words))
