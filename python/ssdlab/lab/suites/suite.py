"""What a suite is: methods that make a review together, the state each begins in, and absent drives."""

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
"""Drive states that a part can begin in.

``written``: every block was written, in order, and only read since. ``fresh``: purged, by the method itself.
``random-steady`` and ``sequential-steady``: filled, then overwritten until SNIA's rule holds. ``any``: the
method brings about what it needs by itself.
"""

SHARED_BY_FORK: frozenset[State] = frozenset({"random-steady", "sequential-steady"})
"""States dear enough to be made once and forked, where the drive is simulated. A real drive would rest
between two runs, which the methods do not allow: there each brings its state about anew."""


@dataclass(frozen=True)
class Part:
    """One method within a suite.

    Attributes
    ----------
    method
        Its name.
    state
        The drive state that it begins in.
    settings
        What the suite sets otherwise than the method does, as `--set` would.
    absolute
        Whether its stimuli have a size of their own, such as 8 GB: a simulated drive is then not scaled down,
        unless it is quick, whose sizes fit a small drive too.
    name
        Within the suite; by default the method's.
    chapter
        Heading of the page that it stands under; empty: that of its own.
    variant
        What makes the drive another entry, as the options of `run` say it; empty: as it is asked for.
    like
        Of a part of a variant: the part that it repeats, whose parameters it has.
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
        """Name within the suite."""
        return self.name or self.method


EVERY_DRIVE = "*"


def repeated(label: str, entry: str) -> str:
    """Return what a part is called that is done again for an entry."""
    return f"{label}-{entry}"


@dataclass(frozen=True)
class Entry:
    """One more entry of a drive: a variant, in which all parts, or some, are done again."""

    name: str
    variant: Mapping[str, str]
    parts: tuple[str, ...] = ()
    """Labels; none: all parts."""
    drives: tuple[str | int, ...] = (1,)
    """Which are done in it: by position from 1, by profile or name, or ``*``, all."""

    def is_of(self, position: int, names: Collection[str]) -> bool:
        """Whether a drive is done in it."""
        return EVERY_DRIVE in self.drives or any(each == position or each in names for each in self.drives)


@dataclass(frozen=True)
class Suite:
    """Methods that make a review together.

    Attributes
    ----------
    name, version, title
        As of a method.
    prose
        What it is, in the headings of a method.
    parts
        In the order in which a real drive goes through them.
    quick
        Whether the parts take their quick presets even where that is not asked for.
    span_bytes, quick_span_bytes
        No more of the drive is used than this, in any case and with quick presets; None: all of it.
    scaled_times
        Whether a simulated drive that was made S times smaller gets times S times shorter than the methods
        have: as many of its capacities are then written as of the drive in its full size.
    entries
        Variants of drives; by default of the one under review, which is the first that is named.
    page
        What its declaration says of the page, as JSON holds it; kept in the manifest of a run.
    practice
        Its title where none of the drives of its review is run; empty: it has one title.
    own
        Whether it is a user's: what a drive cannot be is then refused, where of ours it is left out.
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
        """What is done on any drive: parts, and behind them those of all variants."""
        return (*self.parts, *self.again(self.entries))

    def parts_of(self, position: int, names: Collection[str] = ()) -> tuple[Part, ...]:
        """Return what is done on a drive: all parts, and those of its variants.

        Parameters
        ----------
        position
            Of the drive, from 1, as the command names them; the first is the one under review.
        names
            What a declaration may call it.
        """
        return (*self.parts, *self.again(each for each in self.entries if each.is_of(position, names)))

    def again(self, entries: Iterable[Entry]) -> Iterator[Part]:
        """Return the parts that are done again for variants."""
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
        """Return how much of the drive is used at most; None: all of it."""
        spans = (self.span_bytes, self.quick_span_bytes if quick else None)
        return min(filter(None, spans), default=None)

    def method(self, part: Part) -> Method:
        """Return the method of a part."""
        return find_method(part.method)

    def info(self, params: Mapping[str, Params] | None = None) -> MethodInfo:
        """Return the suite as a manifest keeps a method; with parameters by part, of just that run."""
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
    """Return a suite as it is headed on these drives: by its practice where none is a drive of its review.

    A real drive is not known by its declared name, so that a review of real drives alone has its practice's.

    Parameters
    ----------
    suite
        As it was declared.
    texts
        Of all drives that it is run on, as the user named them.
    """
    review: Document = dict(suite.page)
    declared = {each.get("profile") for each in review.get("drives", ())}
    if not suite.practice or declared & set(_profiles(texts)):
        return suite
    return replace(suite, title=suite.practice)


def absent_drives(review: Document, texts: Iterable[str]) -> tuple[str, ...]:
    """Name each declared drive that was not run, with the reason where the review gives one.

    A real drive is not known by its declared name: beside one, only what stands in is told, a profile.

    Parameters
    ----------
    review
        What a declaration says of the page; empty: it declares no drives.
    texts
        Of the drives that were run, as the user named them.
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
                yield SimulatedText.parse(text).profile
            except LabError:  # of an ssdlab whose drives say something else
                continue
