"""The runs of one page: their order, their labels, and the look that each keeps in every chart."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ssdlab.model.errors import LabError
from ssdlab.report.charts import RunStyle, Shape
from ssdlab.report.links import link_of
from ssdlab.report.names import short_names
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.report.source import Run
    from ssdlab.results.schema import DriveInfo, Manifest


R = TypeVar("R", bound=ResultBase)
COLOURS = 8
"""Of the palette; any two of them are told apart by readers who do not see all colours (`page.css`)."""
_SHAPES: tuple[Shape, ...] = ("circle", "rect", "triangle", "diamond")
_SPARE = re.compile(r", \S+ of its medium spare")
_ENGINES = {"sync": "threads", "uring": "io_uring"}


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
    """How I/O was issued, as a label beside a drive: `threads` or `io_uring`."""
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

    The first run of a drive in a method is filled; a further one (another engine, another day) is hollow
    and dotted.
    """
    drives = _drives([run.manifest for run in runs])
    looks = _looks(drives)
    labels = _labels(runs, drives)
    shorts = short_names(labels)
    seen: Counter[tuple[str, str]] = Counter()
    result = []
    for index, run in enumerate(runs):
        drive = drives[index]
        key = (drive.id, run.manifest.method.name)
        variant = seen[key]
        seen[key] += 1
        colour, first = looks[drive.id]
        shape = _SHAPES[(first + variant // 2) % len(_SHAPES)]
        link = link_of(drive)
        style = RunStyle(
            labels[index], shorts[index], colour, shape, variant % 2 == 1, link.interface, link.mb_s
        )
        result.append(Shown(index, run, style, drive))
    return tuple(result)


def _drives(manifests: Sequence[Manifest]) -> list[DriveInfo]:
    """Return the drive of each run; parts of a suite that had it in several sizes are of one drive."""
    by_suite: dict[str, list[DriveInfo]] = {}
    for manifest in manifests:
        if manifest.member is not None:
            by_suite.setdefault(manifest.member.suite, []).append(manifest.drive)
    whole = {suite: found for suite, drives in by_suite.items() if (found := _in_full_size(drives))}
    return [
        whole.get("" if manifest.member is None else manifest.member.suite, manifest.drive)
        for manifest in manifests
    ]


def _in_full_size(drives: Sequence[DriveInfo]) -> DriveInfo | None:
    """Return the simulated drive whose sizes these are; None where they are of one size, or real."""
    if len({drive.id for drive in drives}) == 1 or not all(
        each.capabilities.made_to_order for each in drives
    ):
        return None
    from ssdlab.drives.simulated.drive import SimulatedText, identity_of

    try:
        (text, *others) = {replace(SimulatedText.parse(each.text), scale=1) for each in drives}
        if others:
            return None
        found = identity_of(text)
    except LabError:  # a profile that is not there any more
        return None
    return drives[0].model_copy(update={"id": found.consent_id, "name": found.model or found.name})


def _looks(drives: Sequence[DriveInfo]) -> dict[str, tuple[int, int]]:
    """Derive colour and marker of drives from their ids, each from bits of its own, the same on every page.

    Where a colour is taken, the next free one; where all are, the next free pair: 32 drives have looks that
    differ by colour or by marker.
    """
    taken: dict[str, tuple[int, int]] = {}
    for drive_id in sorted({drive.id for drive in drives}):
        drawn = zlib.crc32(drive_id.encode())
        colour, shape = drawn % COLOURS, (drawn >> 8) % len(_SHAPES)
        used = Counter(colour for colour, _ in taken.values())
        while used[colour] > min(used[each] for each in range(COLOURS)):
            colour = (colour + 1) % COLOURS
        while (colour, shape) in taken.values() and used[colour] < len(_SHAPES):
            shape = (shape + 1) % len(_SHAPES)
        taken[drive_id] = colour, shape
    return taken


def _labels(runs: Sequence[Run], drives: Sequence[DriveInfo]) -> list[str]:
    """Name drives, and add what tells two runs of one method apart: engine, drive id, date, run id."""
    parts = [[drive_name(drive)] for drive in drives]
    if len({run.manifest.engine for run in runs}) > 1:
        for part, run in zip(parts, runs, strict=True):
            part.append(engine_words(run.manifest.engine))
    further: tuple[Callable[[Run], str], ...] = (
        lambda run: run.manifest.drive.id,
        lambda run: run.manifest.created[:10],
        lambda run: run.manifest.created[11:16],
        lambda run: run.manifest.run_id.rpartition("-")[2],
        lambda run: run.manifest.run_id,
    )
    for more in further:
        keys = [(run.manifest.method.name, *part) for part, run in zip(parts, runs, strict=True)]
        counts = Counter(keys)
        clashing = [at for at, key in enumerate(keys) if counts[key] > 1]
        extra = {at: more(runs[at]) for at in clashing}
        if len(set(extra.values())) > 1:
            for at, text in extra.items():
                parts[at].append(text)
    return [" · ".join(part) for part in parts]
