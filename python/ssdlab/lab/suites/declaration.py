"""Reviews declared in TOML: methods, drive states, variants and the order of the page.

ssdlab's suites are such files. Users can copy one, change it, and run it by its path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, StringConstraints, model_validator

from ssdlab.host.documents import parse_toml
from ssdlab.lab.folders import figures_of, is_figure
from ssdlab.lab.suites.suite import Entry, Part, State, Suite, repeated
from ssdlab.model.errors import UsageError, unknown
from ssdlab.model.frozen import Bytes, Frozen
from ssdlab.model.units import and_listed

SCHEMA = "ssdlab.review/1"
QUICK_SPAN_BYTES = 64 * 10**9
"""Largest span with quick presets, which takes two minutes to fill at SATA speed; terabytes would take hours.

`low-depths` uses as much.
"""
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]
"""A name for use in run folders and in `--set`."""
Line = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Setting = str | int | float | bool | list[str | int | float]


class PartText(Frozen):
    """One `[[part]]`."""

    noun: ClassVar[str] = "key of a part"

    method: str = Field(description="name of a method: see `ssdlab methods`")
    name: Name | None = Field(None, description="within the review; by default the method's")
    begins: State = Field("any", description="drive state that its method first brings about")
    settings: dict[str, Setting] = Field({}, alias="set", description="parameters, as --set gives them")
    full_size: bool = Field(
        False,
        description="simulate the drive at full size, ignoring scale=; not with --quick",
    )
    inferred: tuple[str, ...] = Field(
        (), description="parameters missing in the published text; the page names them"
    )
    chapter: Line | None = Field(None, description="heading of its chapter on the page")

    @property
    def label(self) -> str:
        return self.name or self.method


class VariantText(Frozen):
    """One `[[variant]]`: the reviewed drive or other drives, repeated with other settings."""

    noun: ClassVar[str] = "key of a variant"

    name: Name = Field(description="suffix of its parts' names")
    parts: tuple[str, ...] = Field((), description="parts to repeat; none: all")
    drives: tuple[Annotated[int, Field(ge=1)] | Line, ...] = Field(
        (),
        description='drives to repeat: "*" for all, positions from 1, profiles, or names as in the command; '
        "none: the drive under review",
    )
    usable: str | None = Field(None, description="as --usable, at the drive's full size")
    spare: str | None = Field(None, description='as --spare, in quotes: "25%"')
    power_limit: str | None = Field(None, description="as --power-limit")
    write_cache: Literal["on", "off"] | None = Field(None, description="as --write-cache")

    @property
    def asked(self) -> dict[str, str]:
        """The variant, as options of `run`."""
        given = self.model_dump(exclude={"name", "parts", "drives"}, exclude_none=True)
        return {name: str(value) for name, value in given.items()}


class DriveText(Frozen):
    """One `[[drive]]`: a drive of the review; the drive under review comes first."""

    noun: ClassVar[str] = "key of a drive"

    name: Line = Field(description="its name in the review")
    profile: str | None = Field(None, description="simulated drive in its place")
    absent: Line | None = Field(None, description="why there is none")
    note: Line | None = Field(None, description="how the profile differs from the drive")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.profile is None) == (self.absent is None):
            raise UsageError(
                f"the drive {self.name!r} needs either a profile or a reason for its absence",
                "give profile or absent, and not both",
            )
        return self


class ChapterText(Frozen):
    """One `[[chapter]]`: a heading on the page, in the order of the file."""

    noun: ClassVar[str] = "key of a chapter"

    title: Line = Field(description="the heading; parts name it")
    text: Line | None = Field(None, description="a sentence below it")
    charts: tuple[str, ...] = Field(
        (), description="ids of charts that come first and are open, 12 per page; none: in turns"
    )


class Declaration(Frozen):
    """The declaration of a review."""

    noun: ClassVar[str] = "key of a review"

    schema_version: Literal["ssdlab.review/1"] = Field(alias="schema", description=SCHEMA)
    name: Name = Field(description="of the review")
    version: int = Field(
        1, ge=1, le=10_000, description="increases with every change that could affect a figure"
    )
    title: Line = Field(description="for headings")
    practice: Line | None = Field(
        None, description="the title if none of its drives is run: test, source and year"
    )
    prose: str = Field("", max_length=20_000, description="what it is, its source, and what it cannot show")
    quick: bool = Field(False, description="whether parts always use their quick presets")
    span: Bytes | None = Field(None, gt=0, description="largest part of the drive to use: 8GiB")
    quick_span: Bytes = Field(
        QUICK_SPAN_BYTES, gt=0, description="largest part of the drive to use with --quick: 64GB by default"
    )
    scaled_times: bool = Field(False, description="whether times shrink with the scale of a simulated drive")
    part: tuple[PartText, ...] = Field(min_length=1, max_length=100, description="a [[part]] for each method")
    variant: tuple[VariantText, ...] = Field((), description="variants of drives")
    drive: tuple[DriveText, ...] = Field((), description="the compared drives")
    chapter: tuple[ChapterText, ...] = Field((), description="headings of the page, in order")
    tiles: tuple[str, ...] = Field((), max_length=6, description="headline figures for the top of the page")

    @classmethod
    def parse(cls, text: str, name: str) -> Self:
        """Read a declaration; errors refer to it by `name`.

        Raises
        ------
        UsageError
            The text is not TOML, or not a valid declaration; the error names the place.
        """
        return cls.model_validate(parse_toml(text, name))

    @model_validator(mode="after")
    def _check(self) -> Self:
        labels = [part.label for part in self.part]
        titles = [chapter.title for chapter in self.chapter]
        _once("parts", (*labels, *self._repeated(labels)))
        _once("variants", (variant.name for variant in self.variant))
        _once("drives", (drive.name for drive in self.drive))
        _once("chapters", titles)
        _once("tiles", self.tiles)
        for part in self.part:
            if self.chapter and part.chapter is not None and part.chapter not in titles:
                raise unknown("chapter", part.chapter, titles)
        figures = figures_of(part.method for part in self.part)
        for tile in self.tiles if figures is not None else ():
            if not is_figure(tile, figures or ()):
                raise unknown("headline figure", tile, figures or ())
        _simulated(each.profile for each in self.drive if each.profile is not None)
        for variant in self.variant:
            if not variant.asked:
                raise UsageError(
                    f"the variant {variant.name} changes nothing",
                    "give usable, spare, power_limit or write_cache",
                )
            for label in variant.parts:
                if label not in labels:
                    raise unknown("part", label, labels)
        return self

    def _repeated(self, labels: Sequence[str]) -> Iterator[str]:
        """Yield the names of the parts that variants repeat; variants with the same name count once."""
        for name, parts in {each.name: each.parts for each in self.variant}.items():
            yield from (repeated(label, name) for label in labels if not parts or label in parts)

    def suite(self) -> Suite:
        """Return the declared suite, with its parts checked.

        Raises
        ------
        UsageError, Unsupported
            A method or parameter does not exist.
        """
        return Suite(
            name=self.name,
            version=self.version,
            title=self.title,
            practice=self.practice or "",
            prose=self.prose.strip(),
            parts=tuple(map(_part, self.part)),
            quick=self.quick,
            span_bytes=self.span,
            quick_span_bytes=self.quick_span,
            scaled_times=self.scaled_times,
            entries=tuple(
                Entry(each.name, each.asked, each.parts, self._drives_of(each)) for each in self.variant
            ),
            page=self.page(),
        )

    def _drives_of(self, variant: VariantText) -> tuple[str | int, ...]:
        """Return the drives that a variant applies to; with a named drive, also its profile."""
        profiles = {each.name: each.profile for each in self.drive if each.profile is not None}
        found = dict.fromkeys(variant.drives or (1,))
        return tuple(found | dict.fromkeys(profiles[each] for each in found if each in profiles))

    def page(self) -> dict[str, JsonValue]:
        """Return the page's description as JSON: chapters with their parts, tiles and the review's drives."""
        chapters: dict[str, dict[str, Any]] = {
            each.title: {
                "title": each.title,
                "text": each.text or "",
                "charts": list(each.charts),
                "parts": [],
                "inferred": [],
            }
            for each in self.chapter
        }
        for part in self.part:
            if part.chapter is not None:
                blank = {"title": part.chapter, "text": "", "charts": [], "parts": [], "inferred": []}
                chapter = chapters.setdefault(part.chapter, blank)
                chapter["parts"].append(part.label)
                chapter["inferred"] += filter(None, [inferred_of(part)])
        return {
            "chapters": list(chapters.values()),
            "tiles": list(self.tiles),
            "drives": [each.model_dump(mode="json", exclude_none=True) for each in self.drive],
        }


def inferred_of(part: PartText | Part) -> str:
    """Return a note on the parameters of a part that the published text does not give; empty: none."""
    if not part.inferred:
        return ""
    return f"The published text does not give these parameters of {part.method}: {and_listed(part.inferred)}."


def _once(what: str, names: Iterable[str]) -> None:
    """Refuse a name that occurs twice, since runs are found by name."""
    if twice := next((name for name, times in Counter(names).items() if times > 1), None):
        if what == "tiles":
            raise UsageError(f"the tile {twice} is named twice", "name each tile once")
        raise UsageError(f"two {what} are called {twice}", "give one of them a name of its own")


def _simulated(names: Iterable[str]) -> None:
    """Refuse an unknown profile; otherwise the page would omit its drive silently."""
    wanted = tuple(names)
    if not wanted:
        return
    from ssdlab.drives.simulated.profiles import profile_text, profiles

    known = profiles()
    for name in wanted:
        if name not in known:
            profile_text(name)


def _part(text: PartText) -> Part:
    from ssdlab.lab.found import SUITES, find_method

    if text.method in SUITES:
        raise UsageError(
            f"{text.method} is a suite, not a method: it cannot be part of a review",
            "name its methods, each as a part: see ssdlab methods",
            method=text.method,
        )
    fields = find_method(text.method).params.model_fields
    for name in (*text.settings, *text.inferred):
        if name not in fields:
            raise unknown(f"parameter of {text.method}", name, fields)
    return Part(
        method=text.method,
        state=text.begins,
        settings={name: _written(value) for name, value in text.settings.items()},
        absolute=text.full_size,
        name=text.name or "",
        chapter=text.chapter or "",
        inferred=text.inferred,
    )


def _written(value: Setting) -> str:
    """Return a value in the form that `--set` accepts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(str(each) for each in value)
    return str(value)
