"""Suites: a review's methods, the drive state in which each starts, and drives that were not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from ssdlab.lab.found import find_method
from ssdlab.lab.method import Method, Params
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError
from ssdlab.results.schema import MethodInfo

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ssdlab.host.documents import Document

State = Literal["any", "written", "fresh", "random-steady", "sequential-steady"]
"""Drive states at the start of a part.

``written``: every block was written in order, and since then only read. ``fresh``: purged, by the method
itself. ``random-steady`` and ``sequential-steady``: filled, then overwritten until SNIA's rule holds.
``any``: the method brings about its own state."""

SHARED_BY_FORK: frozenset[State] = frozenset({"random-steady", "sequential-steady"})
"""Costly states, which are made once and forked on a simulated drive. A real drive would rest between runs,
which the methods forbid, so there each run prepares its own state."""


@dataclass(frozen=True)
class Part:
    """One method within a suite.

    Attributes
    ----------
    method
        Name of the method.
    state
        Drive state at its start.
    settings
        Parameters that the suite changes, as `--set` does.
    absolute
        Whether its workloads have a fixed size, such as 8 GB. A simulated drive is then not scaled down,
        except with quick presets.
    name
        Name within the suite; by default the method's.
    chapter
        Heading of its chapter on the page; empty: its own.
    variant
        The drive's variant, as options of `run`; empty: none.
    like
        For a variant: the part that it repeats, with the same parameters.
    inferred
        Parameters that the published text does not give.
    """

    method: str
    state: State = "any"
    settings: Mapping[str, str] = field(default_factory=dict)
    absolute: bool = False
    name: str = ""
    chapter: str = ""
    variant: Mapping[str, str] = field(default_factory=dict)
    like: str = ""
    inferred: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.name or self.method


EVERY_DRIVE = "*"


def repeated(label: str, entry: str) -> str:
    return f"{label}-{entry}"


@dataclass(frozen=True)
class Entry:
    """A variant of a drive, for which some or all parts are repeated."""

    name: str
    variant: Mapping[str, str]
    parts: tuple[str, ...] = ()
    """Labels of the parts to repeat; empty: all parts."""
    drives: tuple[str | int, ...] = (1,)
    """Drives that have the variant: by position from 1, by profile or name; ``*``: all."""

    def is_of(self, position: int, names: Collection[str]) -> bool:
        return EVERY_DRIVE in self.drives or any(each == position or each in names for each in self.drives)


@dataclass(frozen=True)
class Suite:
    """The methods of a review.

    Attributes
    ----------
    name, version, title
        See `Method`.
    prose
        Description, with the headings of a method's prose.
    parts
        The parts, in the order for a real drive.
    quick
        Whether the parts always use their quick presets.
    span_bytes, quick_span_bytes
        Largest part of the drive to use, in general and with quick presets; None: all.
    scaled_times
        Whether a simulated drive at 1/S of its size gets 1/S of the methods' times. It then gets as many
        drive writes as at full size.
    entries
        Variants of drives; by default of the first drive, which is under review.
    page
        The page part of its declaration, as JSON; kept in a run's manifest.
    practice
        Title if none of the review's own drives is run; empty: `title`.
    own
        Whether a user declared it. Impossible variants are then refused; ssdlab's suites leave them out.
    """

    name: str
    version: int
    title: str
    prose: str
    parts: tuple[Part, ...]
    quick: bool = False
    span_bytes: int | None = None
    quick_span_bytes: int | None = None
    scaled_times: bool = False
    entries: tuple[Entry, ...] = ()
    page: Mapping[str, JsonValue] = field(default_factory=dict)
    practice: str = ""
    own: bool = False

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """All parts for any drive: the suite's own, then those of the variants."""
        return (*self.parts, *self.again(self.entries))

    def parts_of(self, position: int, names: Collection[str] = ()) -> tuple[Part, ...]:
        """Return the parts for a drive: the suite's own, and those of the drive's variants.

        Parameters
        ----------
        position
            Position of the drive in the command, from 1; the first is under review.
        names
            Names of the drive in a declaration.
        """
        return (*self.parts, *self.again(each for each in self.entries if each.is_of(position, names)))

    def again(self, entries: Iterable[Entry]) -> Iterator[Part]:
        """Return the parts that the given variants repeat."""
        return (
            Part(
                method=part.method,
                state=part.state,
                settings=part.settings,
                absolute=part.absolute,
                name=repeated(part.label, entry.name),
                chapter=part.chapter,
                variant=entry.variant,
                like=part.label,
            )
            for entry in entries
            for part in self.parts
            if not entry.parts or part.label in entry.parts
        )

    def used_bytes(self, *, quick: bool) -> int | None:
        """Return how much of the drive may be used, in bytes; None: all of it."""
        spans = (self.span_bytes, self.quick_span_bytes if quick else None)
        return min(filter(None, spans), default=None)

    def method(self, part: Part) -> Method:
        return find_method(part.method)

    def info(self, params: Mapping[str, Params] | None = None) -> MethodInfo:
        """Return the suite's entry in a manifest; `params` are the run's parameters, by part."""
        made = params or {part.label: self.method(part).params() for part in self.parts}
        conditions: dict[str, str] = {}
        for part in self.parts:
            conditions |= self.method(part).conditions
        return MethodInfo(
            name=self.name,
            version=self.version,
            title=self.title,
            prose=self.prose,
            destructive=any(
                self.method(part).writes(made[part.label]) for part in self.parts if part.label in made
            ),
            needs=tuple(f"{part.label}: {part.state}" for part in self.parts),
            conditions=conditions,
        )


def titled(suite: Suite, texts: Iterable[str]) -> Suite:
    """Return the suite with its title for these drives: `practice` if none is a drive of its review.

    A real drive has no declared name, so a run on real drives only has the title `practice`.

    Parameters
    ----------
    texts
        Drives to run it on, as the user named them.
    """
    review: Document = dict(suite.page)
    declared = {each.get("profile") for each in review.get("drives", ())}
    if not suite.practice or declared & set(_profiles(texts)):
        return suite
    return replace(suite, title=suite.practice)


def absent_drives(review: Document, texts: Iterable[str]) -> tuple[str, ...]:
    """Return each declared drive that was not run, with the review's reason if it gives one.

    A real drive cannot be matched with a declared drive. If one was run, the text says only that the profile
    of the declared drive was not run.

    Parameters
    ----------
    review
        Page part of the declaration; empty: it declares no drives.
    texts
        The drives that were run, as the user named them.
    """
    had = list(texts)
    profiles = set(_profiles(had))
    simulated = all(text.startswith(SIMULATED_PREFIX) for text in had)
    not_run = "not run" if simulated else "not run as its profile"
    return tuple(
        f"{each['name']}, {each.get('absent', not_run)}"
        for each in review.get("drives", ())
        if each.get("profile") not in profiles
    )


def _profiles(texts: Iterable[str]) -> Iterator[str]:
    from ssdlab.drives.simulated.text import SimulatedText

    for text in texts:
        if text.startswith(SIMULATED_PREFIX):
            try:
                yield from SimulatedText.parse(text).profile_names
            except LabError:  # written by another version of ssdlab
                continue
