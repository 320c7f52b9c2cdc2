"""The runs of one page: their order, labels, short names and columns."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from ssdlab.model.errors import LabError
from ssdlab.model.printable import unmirrored
from ssdlab.report.charts import RunStyle
from ssdlab.report.links import link_of
from ssdlab.report.looks import OURS, Palette, further_shapes, looks_of
from ssdlab.results.catalogue_row import size_of, software_of
from ssdlab.results.schema import ResultBase
from ssdlab.results.store import short_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ssdlab.drives.drive_record import DriveRecord
    from ssdlab.report.source import Run
    from ssdlab.results.schema import DriveInfo, Manifest

# Short names of compared runs: parts that all labels share are left out, parts that differ never are.
#
# A label starts with a drive. After commas and dots follow what makes it a variant (scale, spare, power), or
# what makes it another run (engine, date). Labels that differ have short forms that differ.

LONGEST = 26
"""Letters beyond which short names lose a common beginning: half the width of a phone."""
_ENDS = 6
"""Minimum letters after an ellipsis; fewer identify nothing."""
_MIN_WORDS = 2
"""Words of a name that stay although all names end with them."""
_PARTS = re.compile(r", | · ")
_WORDS = re.compile(r"[^\s\-_/]+")


def short_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Abbreviate labels to the parts that distinguish them; a single label stays as it is."""
    different = list(dict.fromkeys(labels))
    if len(different) < 2:
        return tuple(labels)
    parts = [_PARTS.split(label) for label in different]
    drives = [part[0] for part in parts]
    plain = any(len(part) == 1 for part in parts)
    names = dict(zip(drives, drives if plain and len(set(drives)) == 1 else _names(drives), strict=True))
    common = set.intersection(*(set(part[1:]) for part in parts))
    found = [
        " · ".join(filter(None, (names[drive], *(part for part in rest if part not in common))))
        for drive, *rest in parts
    ]
    counts = Counter(found)
    whole = [
        short if short and counts[short] == 1 else label
        for short, label in zip(found, different, strict=True)
    ]
    by_label = dict(zip(different, _cut(whole), strict=True))
    return tuple(by_label[label] for label in labels)


def _names(drives: Sequence[str]) -> list[str]:
    """Remove shared words at the end, and if names stay long, all shared words. Equal names become empty."""
    if len(set(drives)) == 1:
        return [""] * len(drives)
    trimmed = _without_shared_end(drives)
    if max(map(len, trimmed)) <= LONGEST:
        return trimmed
    common = set.intersection(*({word.lower() for word in _WORDS.findall(drive)} for drive in drives))
    return [_without(drive, common) or drive for drive in drives]


def _without_shared_end(drives: Sequence[str]) -> list[str]:
    """Return names without the words, such as a capacity, with which all of them end; two words stay."""
    words = [drive.split() for drive in drives]
    while min(map(len, words)) > _MIN_WORDS and len({each[-1].lower() for each in words}) == 1:
        words = [each[:-1] for each in words]
    return [" ".join(each) for each in words]


def _without(name: str, common: set[str]) -> str:
    """Return a name without these words; neighbouring words that stay keep their separator."""
    kept = ""
    gap = ""
    for match in re.finditer(r"([^\s\-_/]+)([\s\-_/]*)", name):
        word, behind = match.groups()
        if word.lower() in common:
            gap = " " if kept else ""
            continue
        kept += gap + word
        gap = behind
    return kept


def _cut(names: list[str]) -> list[str]:
    """Shorten long names that begin alike: an ellipsis replaces the common beginning."""
    if max(map(len, names)) <= LONGEST:
        return names
    shared = 0
    while len({name[: shared + 1] for name in names}) == 1 and all(len(name) > shared + 1 for name in names):
        shared += 1
    if min(map(len, names)) - shared < _ENDS and any(" " in name for name in names):
        return names
    shared = min(shared, min(map(len, names)) - _ENDS)
    return [f"…{name[shared:]}" for name in names] if shared > 2 else names


# Which runs form one column of a page, and the label of each column.
#
# The parts of one review on one drive form one column, whenever each part began. A run outside any review is
# a column of its own. Such runs of one drive in several methods still share a name and a look.

_RUN_ID = re.compile(r"(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})-(.+)-[0-9a-z]{6}")


@dataclass(frozen=True)
class Subject:
    """The drive that a run measured, and how it is named.

    Attributes
    ----------
    entry
        Key of a drive in one variant, which has one look throughout the page.
    drive
        Identifier of the drive.
    words
        Start of the run's label: the drive, and the I/O engine if engines differ.
    """

    entry: str
    drive: str
    words: tuple[str, ...]


@dataclass
class Column:
    """Runs that share a column.

    Attributes
    ----------
    review
        Run id of their review or suite; empty: none.
    repeat
        Number of earlier runs with the same method and drive in the review.
    runs
        Indices of the runs on the page.
    """

    review: str
    subject: Subject
    repeat: int
    runs: list[int]


def columns_of(runs: Sequence[Run], subjects: Sequence[Subject]) -> list[Column]:
    """Group runs into columns, in the order of their first runs."""
    found: dict[tuple[object, ...], Column] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for at, (run, subject) in enumerate(zip(runs, subjects, strict=True)):
        review, method = review_of(run), run.manifest.method.name
        repeat = seen[review, subject, method]
        seen[review, subject, method] += 1
        key = (review, subject, repeat, "" if review else method)
        found.setdefault(key, Column(review, subject, repeat, [])).runs.append(at)
    return list(found.values())


def review_of(run: Run) -> str:
    """Return the run id of the outermost review or suite of a run; empty if none."""
    return run.review or ("" if run.manifest.member is None else run.manifest.member.suite)


def labels_of(runs: Sequence[Run], columns: Sequence[Column]) -> list[str]:
    """Return a label for each column; to equal labels, add what distinguishes their drives or runs."""
    parts = [list(column.subject.words) for column in columns]
    firsts = [runs[column.runs[0]] for column in columns]
    methods = [{runs[at].manifest.method.name for at in column.runs} for column in columns]
    for number, more in enumerate(_FURTHER):
        alike: dict[tuple[str, ...], list[int]] = {}
        for at, words in enumerate(parts):
            alike.setdefault(tuple(words), []).append(at)
        for own in alike.values():
            counts = Counter(method for at in own for method in methods[at])
            # Different drives always need different labels; runs of one drive only if they share a method.
            clashing = [
                at for at in own if number < _OF_DRIVES or any(counts[method] > 1 for method in methods[at])
            ]
            extra = {at: more(columns[at], firsts[at]) for at in clashing}
            if len(set(extra.values())) > 1:
                for at, text in extra.items():
                    parts[at] += [text] if text else []
    return [" · ".join(words) for words in parts]


def _repeat(column: Column, first: Run) -> str:
    """Return the repeat that a column shows, or the part's name if a review has its method several times."""
    member = first.manifest.member
    if member is None or not column.review:
        return ""
    name, _, number = member.part.partition(" #")
    return f"repeat {number}" if number else name if column.repeat else ""


def _firmware(column: Column, first: Run) -> str:
    del column
    found = first.manifest.drive.identity.get("firmware")
    return f"firmware {found}" if found else ""


def _system(column: Column, first: Run, *, of: str) -> str:
    """Return the kernel that a run was measured under, or the operating system if `of` is empty."""
    del column
    parts = software_of(first.manifest).split(", ")
    known = ("ssdlab ", "Python ", "Linux ")
    return next((each for each in parts if (each.startswith(of) if of else not each.startswith(known))), "")


def _name(column: Column, first: Run) -> str:
    del first
    found = _RUN_ID.fullmatch(column.review)
    return found[6] if found else column.review


def _begun(column: Column, first: Run) -> tuple[str, str]:
    found = _RUN_ID.fullmatch(column.review)
    if found is None:
        return first.manifest.created[:10], first.manifest.created[11:16]
    return "-".join(found.groups()[:3]), f"{found[4]}:{found[5]}"


def _id(column: Column, first: Run) -> str:
    return column.review or first.manifest.run_id


_FURTHER: tuple[Callable[[Column, Run], str], ...] = (
    lambda _, first: f"at 1/{scale}" if (scale := size_of(first.manifest)[0]) > 1 else "in full size",
    lambda column, _: column.subject.drive,
    _repeat,
    _firmware,
    *(partial(_system, of=of) for of in ("Linux", "")),
    _name,
    lambda _, first: "quick" if first.manifest.quick else "",
    lambda column, first: _begun(column, first)[0],
    lambda column, first: _begun(column, first)[1],
    lambda column, first: short_id(_id(column, first)),
    _id,
)
"""Texts that distinguish columns, the most telling first; a text is used only if columns differ in it."""
_OF_DRIVES = 2
"""The first so many of these texts distinguish drives; the others distinguish runs."""


R = TypeVar("R", bound=ResultBase)
_SIMULATED = "simulated "
_SCALE = re.compile(r", 1/\d+ of its size")
NO_NAMES: Mapping[str, str] = MappingProxyType({})
_ENGINES = {"sync": "threads", "uring": "io_uring", "sim": "simulated"}


@dataclass(frozen=True)
class Shown:
    """A run with its index and its look on this page."""

    index: int
    run: Run
    style: RunStyle
    drive: DriveInfo
    """The drive to which the run is assigned; for parts of a suite in several sizes, the drive in full
    size."""

    @property
    def label(self) -> str:
        """The run's label on this page; runs of one column share it."""
        return self.style.label


def with_result(runs: Sequence[Shown], model: type[R]) -> list[tuple[Shown, R]]:
    """Return the runs whose Results are of one kind."""
    return [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, model)]


@dataclass(frozen=True)
class Entry:
    """Runs of one drive in one variant, which share a look."""

    style: RunStyle
    runs: tuple[Shown, ...]


def entries(runs: Sequence[Shown]) -> tuple[Entry, ...]:
    """Group runs into entries, in the order of their first runs."""
    found: dict[RunStyle, list[Shown]] = {}
    for one in runs:
        found.setdefault(one.style, []).append(one)
    return tuple(Entry(style, tuple(members)) for style, members in found.items())


def engine_words(engine: str) -> str:
    """Return how I/O was issued, for a label: `threads`, `io_uring` or `simulated`."""
    return _ENGINES.get(engine, engine)


def called(drive: DriveInfo, names: Mapping[str, str] = NO_NAMES) -> DriveInfo:
    """Return a drive with its name for the page, followed by its variant.

    The scale of simulated drives is left out, as the page states it once.

    Parameters
    ----------
    drive
        The drive as stored in its run.
    names
        The editor's names, by the drive's identifier or the text that the user gave. Other drives are named
        by their profile or drive record, or else by their run.
    """
    words = drive.variant.words if drive.variant is not None else ()
    name = drive.name
    if drive.capabilities.made_to_order:
        name, *own = _SCALE.sub("", name).removeprefix(_SIMULATED).split(", ")
        # The spare area changes the size that is made; the page shows the size that was requested.
        if drive.variant and drive.variant.made and set(drive.variant.asked) <= {"usable", "spare"}:
            words = (*words, *(each for each in own if not each.endswith(" spare")))
        else:
            words = tuple(own)
    else:
        record = record_of(drive)
        name = (record and record.name) or name.removesuffix("".join(f", {word}" for word in words))
    if drive.capabilities.on_file_system:
        name = f"File {name}"
    name = next((names[key] for key in (drive.id, drive.text) if key in names), name)
    return drive.model_copy(update={"name": unmirrored(", ".join((name, *words)))})


def record_of(drive: DriveInfo) -> DriveRecord | None:
    """Return the user's current drive record of a drive, or None."""
    from ssdlab.drives.drive_record import find_record

    model, serial = (drive.identity.get(key) for key in ("model", "serial"))
    if not isinstance(model, str):
        return None
    return find_record(model, serial if isinstance(serial, str) else None)


def shown(
    runs: Sequence[Run], names: Mapping[str, str] = NO_NAMES, palette: Palette = OURS
) -> tuple[Shown, ...]:
    """Return every run with its look, in the given order; for `names` see `called`.

    The first column of a drive in a method has filled markers. Further columns (another engine, day or
    review) are hollow and dotted.
    """
    drives = [called(drive, names) for drive in _drives([run.manifest for run in runs])]
    looks = looks_of(map(_entry, drives), palette)
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
    """Return the subject of each run; if engines differ, its name includes the engine."""
    several = len({run.manifest.engine for run in runs}) > 1
    return [
        Subject(
            _entry(drive),
            drive.id,
            (drive.name, *((engine_words(run.manifest.engine),) if several else ())),
        )
        for run, drive in zip(runs, drives, strict=True)
    ]


def _columns_before(runs: Sequence[Run], columns: Sequence[Column]) -> dict[int, int]:
    """Return for each column how many earlier columns show the same drive in the same methods."""
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for column in columns:
        own = {(column.subject.entry, runs[at].manifest.method.name) for at in column.runs}
        found[id(column)] = again = max(seen[each] for each in own)
        for each in own:
            seen[each] = again + 1
    return found


def _drives(manifests: Sequence[Manifest]) -> list[DriveInfo]:
    """Return the drive of each run; parts of a suite that use a drive in several sizes share one drive."""
    in_sizes: dict[tuple[str, str], list[DriveInfo]] = {}
    for manifest in manifests:
        in_sizes.setdefault(_of_any_size(manifest), []).append(manifest.drive)
    whole = {key: _in_full_size(drives) for key, drives in in_sizes.items()}
    return [whole[_of_any_size(manifest)] or manifest.drive for manifest in manifests]


def _of_any_size(manifest: Manifest) -> tuple[str, str]:
    """Return a key that parts of a suite share if they use one drive in one variant, in any size."""
    suite = manifest.run_id if manifest.member is None else manifest.member.suite
    if not manifest.drive.capabilities.made_to_order:
        return suite, manifest.drive.id
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        return suite, str(replace(SimulatedText.parse(manifest.drive.text), scale=1))
    except LabError:  # written by an ssdlab with another syntax for drives
        return suite, manifest.drive.id


def _in_full_size(drives: Sequence[DriveInfo]) -> DriveInfo | None:
    """Return the full-size simulated drive for several sizes of it; None for one size, or a real drive."""
    if len({drive.id for drive in drives}) == 1:
        return None
    from ssdlab.drives.simulated.drive import SimulatedText, identity_of

    try:
        text = replace(SimulatedText.parse(drives[0].text), scale=1)
        found = identity_of(text)
    except LabError:  # the profile is gone
        return None
    name = found.model or found.name
    return drives[0].model_copy(update={"id": found.consent_id, "name": name, "text": str(text)})


def _entry(drive: DriveInfo) -> str:
    """Return the key of a drive in one variant, which has one look throughout the page."""
    variant = drive.variant
    if variant is None or variant.made:  # a simulated drive made in a variant has an id of its own
        return drive.id
    return ", ".join((drive.id, *variant.words))
