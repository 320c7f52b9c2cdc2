"""Theme files: TOML that sets fonts, a logo, colours and sizes."""

from __future__ import annotations

import base64
import re
import struct
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, get_args, get_origin

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from ssdlab.host.documents import open_regular, parse_toml, read_document, user_path, with_name
from ssdlab.model.errors import LabError, UsageError, excerpt, of_os
from ssdlab.model.frozen import Frozen, NamedOptions
from ssdlab.model.limits import EMBEDDED_BYTES
from ssdlab.report.looks import COLOURS, NEAR_BELOW, Palette, apart, contrast
from ssdlab.report.theme import LARGEST, SIZE, SMALLEST, Face, Logo, Mode, Scheme, Theme, default_theme

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pydantic import ValidationInfo, ValidatorFunctionWrapHandler
    from pydantic.fields import FieldInfo

CONTRAST = 3.0
"""Minimum contrast of large text and graphics (WCAG 2, 1.4.3 and 1.4.11)."""
_HARDLY = 10.0
"""CIEDE2000 difference below which two drive colours get a remark. Any two of the default colours differ by
more to all readers."""
_TEXT_ON = {"paper": ("text", "muted", "link", "alert"), "shade": ("text",), "alert-paper": ("text", "alert")}
_ADVICE = "print an example: ssdlab theme"
_GENERIC = ("serif", "sans-serif", "monospace", "system-ui")
_TABLE = re.compile(r"^\s*\[\s*([\w-]+)")
_KEY = re.compile(r"""^\s*["']?([\w-]+)""")
_LENGTH = re.compile(r"[\d.]+(?:[eE]\+?\d+)?")
_PIXELS = 8192
"""Maximum side of a logo; programs that draw it hold all its pixels in memory."""
_WORDS = re.compile(rb"<(?:\w+:)?text\b")
_FAMILY = r"^\w[\w .+-]{0,63}$"
"""Pattern of a font's family name. It has no quotes, as style sheets and attributes put it in quotes."""


def _colour(text: str) -> str:
    if re.fullmatch(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})", text) is None:
        raise UsageError(f"'{excerpt(text)}' is not a colour", "write it as #rrggbb: #085ab6", given=text)
    return text


Colour = Annotated[str, AfterValidator(_colour)]
Family = Annotated[str, StringConstraints(pattern=_FAMILY)]
Link = Annotated[str, StringConstraints(pattern=r"""^https?://[^\s<>"'\\]{1,1000}$""")]
File = Annotated[str, StringConstraints(min_length=1)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class FontText(Frozen):
    """A font: `[font]` for text and charts, or `[heading_font]` for headings and titles."""

    noun: ClassVar[str] = "entry of a font"

    family: Family | None = Field(None, description="a font that readers have, in letters and digits")
    files: tuple[File, ...] = Field(
        (), max_length=4, description="in its place: TrueType or OpenType, embedded, one for each weight"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.family is None) == (not self.files):
            raise UsageError("a font has either a family or files", "give one of them")
        return self


class LogoText(Frozen):
    """The logo: `[logo]`."""

    noun: ClassVar[str] = "entry of a logo"

    file: File = Field(description="PNG, JPEG, WebP or SVG, embedded")
    dark_file: File | None = Field(None, description="in its place on dark paper")
    alt: Line = Field(description="alternative text for screen readers")
    link: Link | None = Field(None, description="where it leads to: https://...")
    height: int = Field(40, ge=12, le=240, description="pixels on the page")


class ColoursText(NamedOptions):
    """Colours on light paper (`[light]`) or on dark paper (`[dark]`)."""

    noun: ClassVar[str] = "colour of a theme"

    paper: Colour | None = Field(None, description="behind all")
    shade: Colour | None = Field(None, description="behind code, notes and bars")
    text: Colour | None = Field(None, description="words, and rules above headings")
    muted: Colour | None = Field(None, description="secondary text")
    rule: Colour | None = Field(None, description="frames, axes")
    grid: Colour | None = Field(None, description="lines behind charts and between rows")
    link: Colour | None = Field(None, description="links")
    alert: Colour | None = Field(None, description="warnings")
    alert_paper: Colour | None = Field(None, description="behind it")
    drives: tuple[Colour, ...] | None = Field(
        None, min_length=1, max_length=COLOURS, description="one to eight; fewer repeat with other markers"
    )


class ThemeText(Frozen):
    """A theme file."""

    noun: ClassVar[str] = "entry of a theme"

    schema_version: Literal["ssdlab.theme/1"] = Field(alias="schema", description="ssdlab.theme/1")
    mode: Mode = Field("auto", description="light, dark, or auto: as the reader's system")
    page_width: int | None = Field(None, ge=640, le=2400, description="pixels, at most")
    chart_height: int | None = Field(None, ge=200, le=1200, description="pixels of a curve on the page")
    picture_width: int = Field(SIZE[0], ge=SMALLEST, le=LARGEST, description="pixels of a saved picture")
    picture_height: int = Field(SIZE[1], ge=SMALLEST, le=LARGEST, description="pixels of a saved picture")
    font: FontText | None = Field(None, description="of text and charts")
    heading_font: FontText | None = Field(None, description="of headings and titles")
    logo: LogoText | None = Field(None, description="at the top of the page, in the corner of pictures")
    light: ColoursText = Field(ColoursText(), description="colours on light paper, and in print")
    dark: ColoursText = Field(ColoursText(), description="colours on dark paper")

    @field_validator("*", mode="wrap")
    @classmethod
    def _in_table(cls, value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        try:
            return handler(value)
        except UsageError as error:
            error.what = f"{info.field_name}: {error.what}"
            error.facts["table"] = info.field_name
            raise


def default_text() -> str:
    """Return the default theme as a file that can be changed; options without a default are in comments."""
    look = default_theme()
    lines = ["# The theme of pages and pictures. Files are named from the folder of this one."]
    tables = []
    for name, field in ThemeText.model_fields.items():
        kind = next(
            (each for each in (field.annotation, *get_args(field.annotation)) if _is_table(each)), None
        )
        if kind is None:
            value = (
                field.default if field.default is not None else int(look.light[_css(name)].removesuffix("px"))
            )
            value = "ssdlab.theme/1" if name == "schema_version" else value
            lines.append(_written(field.alias or name, value, field.description))
            continue
        own = {"light": look.light, "dark": look.dark}.get(name)
        tables += ["", f"{'' if own else '# '}[{name}]  # {field.description}"]
        for key, entry in kind.model_fields.items():
            if own is None:
                tables.append(f"# {_written(key, _sample(entry), entry.description)}")
            elif key == "drives":
                drives = [own[f"drive-{at}"] for at in range(COLOURS)]
                tables.append(_written(key, drives, entry.description))
            else:
                tables.append(_written(key, own[_css(key)], entry.description))
    return "\n".join([*lines, *tables, ""])


def _sample(entry: FieldInfo) -> object:
    if isinstance(entry.default, int):
        return entry.default
    return ["..."] if get_origin(entry.annotation) is tuple else "..."


def read_theme(path: Path) -> Theme:
    """Read a theme with the fonts and the logo that it names.

    Parameters
    ----------
    path
        Path as returned by `user_path`.

    Raises
    ------
    UsageError, HostError
        The theme cannot be read, or is invalid; the error names file and line.
    """
    return _Reading(path, read_document(path, "theme", _ADVICE)).theme()


class _Reading:
    """Reads a theme file; errors name the line."""

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text
        self._remarks: list[str] = []
        stored = parse_toml(text, str(path))
        try:
            self._given = ThemeText.model_validate(stored)
        except UsageError as error:
            facts, wrong = error.facts, str(error.facts.get("given", "")).strip("'")
            key = str(facts.get("field") or wrong).rpartition(" ")[2]
            with self._at(facts.pop("table", ""), key, wrong):
                raise

    def theme(self) -> Theme:
        given, default = self._given, default_theme()
        faces: dict[Face, None] = {}
        text = self._family("font", given.font, faces)
        heading = self._family("heading_font", given.heading_font, faces)
        look = default.light
        fonts = {name: ", ".join((*text, look[name])) for name in ("font", "picture-font")}
        fonts |= {
            f"{name}heading-font": ", ".join((*heading, fonts[f"{name}font"])) for name in ("", "picture-")
        }
        sizes = {"page-width": given.page_width, "chart-height": given.chart_height}
        own = fonts | {name: f"{pixels}px" for name, pixels in sizes.items() if pixels is not None}
        count = self._count()
        theme = Theme(
            given.mode,
            {**look} | own | self._colours(given.light, default.light, count),
            {**default.dark} | self._colours(given.dark, default.dark, count),
            (given.picture_width, given.picture_height),
            tuple(faces),
            self._logo(given.logo),
        )
        return self._judged(theme, count)

    def _count(self) -> int:
        """Return the number of drive colours, which must be the same on light and dark paper."""
        light, dark = self._given.light.drives, self._given.dark.drives
        if light and dark and len(light) != len(dark):
            with self._at("dark", "drives"):
                raise UsageError(
                    f"there are {len(dark)} drive colours on dark paper and {len(light)} on light",
                    "give the same number on both, in the same order",
                )
        return len(light or dark or range(COLOURS))

    def _colours(self, given: ColoursText, default: Mapping[str, str], count: int) -> dict[str, str]:
        own = given.model_dump(exclude_none=True, exclude={"drives"})
        drives = given.drives or [default[f"drive-{at}"] for at in range(count)]
        # With fewer colours, the remaining variables are `initial`, which means that they have no value.
        every = [*drives, *["initial"] * (COLOURS - count)]
        return {_css(name): value for name, value in own.items()} | {
            f"drive-{at}": value for at, value in enumerate(every)
        }

    def _judged(self, theme: Theme, count: int) -> Theme:
        """Refuse unreadable text, and remark on drive colours that hardly stand out.

        A pale bar can still be identified by its name, value and position; pale text cannot be read.
        """
        near: set[tuple[int, int]] = set()
        for scheme in theme.schemes:
            look = theme.look(scheme)
            self._check_words(scheme, look)
            where, paper = self._where(scheme, "drives"), look["paper"]
            drives = [look[f"drive-{at}"] for at in range(count)]
            if pale := {each: ratio for each in drives if (ratio := contrast(each, paper)) < CONTRAST}:
                self._remarks.append(
                    f"{where}{', '.join(pale)} on the {scheme} paper {paper}: the lowest contrast is "
                    f"{min(pale.values()):.1f}, and charts need {CONTRAST:g}"
                )
            unlike = {pair: apart(*(drives[at] for at in pair)) for pair in combinations(range(count), 2)}
            near |= {pair for pair, by in unlike.items() if by < NEAR_BELOW}
            if alike := [
                f"{drives[one]} and {drives[two]}" for (one, two), by in unlike.items() if by < _HARDLY
            ]:
                self._remarks.append(
                    f"{where}some readers can distinguish {', '.join(alike)} only by their markers"
                )
        own = self._given.light.drives or self._given.dark.drives
        palette = Palette(count, frozenset(near)) if own else theme.palette
        return replace(theme, palette=palette, remarks=tuple(self._remarks))

    def _check_words(self, scheme: Scheme, look: Mapping[str, str]) -> None:
        given = getattr(self._given, scheme).model_fields_set
        for behind, words in _TEXT_ON.items():
            for name in words:
                if (ratio := contrast(look[name], look[behind])) < CONTRAST:
                    with self._at(scheme, name if name in given else behind.replace("-", "_")):
                        raise UsageError(
                            f"{name} {look[name]} on {behind} {look[behind]} has a contrast of {ratio:.1f}",
                            f"increase it: text needs a contrast of at least {CONTRAST:g}",
                        )

    def _family(self, table: str, given: FontText | None, faces: dict[Face, None]) -> tuple[str, ...]:
        """Return the family names of a font for a style sheet; () if none. Its files are added to `faces`."""
        if given is None:
            return ()
        if given.family is not None:
            return (given.family if given.family in _GENERIC else f"'{given.family}'",)
        own: dict[str, Face] = {}
        for name in given.files:
            with self._at(table, "files", name):
                face = face_of(path := self._path.parent / user_path(name), _content(path, "font"))
                if face.weight in own or any(face.family != other.family for other in own.values()):
                    raise UsageError(
                        f"{path} is {face.family} of weight {face.weight}, beside {', '.join(given.files)}",
                        "give fonts of one family that differ by weight",
                    )
                own[face.weight] = face
        faces |= dict.fromkeys(own.values())
        return (f"'{face.family}'",)

    def _logo(self, given: LogoText | None) -> Logo | None:
        if given is None:
            return None
        light = self._image("file", given.file)
        dark = light if given.dark_file is None else self._image("dark_file", given.dark_file)
        return Logo(light, dark, given.alt, given.link or "", given.height)

    def _image(self, key: str, name: str) -> str:
        with self._at("logo", key):
            path = self._path.parent / user_path(name)
            content = _content(path, "logo")
            kind = image_kind(content)
            if kind is None:
                raise UsageError(
                    f"{path} is not a PNG, JPEG, WebP or SVG, or is cut short",
                    f"give one of at most {_PIXELS} pixels a side; of SVG a plain one, without entities",
                )
        if kind == "svg+xml" and _WORDS.search(content):
            self._remarks.append(
                f"{self._where('logo', key)}{path} has words as text: readers' fonts draw them, and a PNG "
                "lacks them; make outlines of them"
            )
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"

    @contextmanager
    def _at(self, table: str, key: str, given: str = "") -> Iterator[None]:
        """Add file and line to an error about a key, or about an item of its list."""
        try:
            yield
        except LabError as error:
            if line := self._line(table, key, given):
                error.what = f"line {line}: {error.what}"
                error.facts["line"] = line
            raise with_name(error, self._path) from error.__cause__

    def _where(self, table: str, key: str) -> str:
        line = self._line(table, key)
        return f"{self._path}: line {line}: " if line else f"{self._path}: "

    def _line(self, table: str, key: str, given: str = "") -> int:
        """Return the line of a key, or of its table if the key has no line; 0 if neither is found."""
        lines = self._text.splitlines()
        within, found = "", 0
        for number, line in enumerate(lines, 1):
            if head := _TABLE.match(line):
                within = head[1]
                found = found or (number if within == (table or key) else 0)
            elif name := _KEY.match(line):
                if (within, name[1]) == (table, key):
                    found = number
                    break
                found = found or (number if not within and name[1] == table else 0)
        # The item may be on a later line of a list.
        rest = lines[found - 1 : found + 2 * COLOURS] if found and given else []
        return next((found + at for at, line in enumerate(rest) if given in line), found)


def image_kind(content: bytes) -> str | None:
    """Return the subtype of an image's media type, recognised by its bytes; None if unknown."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        sides = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
        whole = b"IEND\xae\x42\x60\x82" in content[-64:]
        return "png" if whole and all(0 < side <= _PIXELS for side in sides) else None
    if content.startswith(b"\xff\xd8\xff"):
        return "jpeg" if b"\xff\xd9" in content[-64:] else None
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp" if len(content) >= 8 + int.from_bytes(content[4:8], "little") else None
    if b"<!ENTITY" in content:  # entities can expand to any length
        return None
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError):
        return None
    lengths = (_LENGTH.match(root.get(name, "").strip()) for name in ("width", "height"))
    small = all(each is None or float(each[0]) <= _PIXELS for each in lengths)
    return "svg+xml" if root.tag == "{http://www.w3.org/2000/svg}svg" and small else None


def _content(path: Path, noun: str) -> bytes:
    try:
        with open_regular(path, noun) as file:
            content = file.read(EMBEDDED_BYTES + 1)
    except OSError as error:
        advice = "give its path relative to the theme's folder"
        raise of_os(error, f"cannot read the {noun} {path}", advice) from error
    if len(content) > EMBEDDED_BYTES:
        raise UsageError(
            f"the {noun} {path} is larger than {EMBEDDED_BYTES >> 20} MiB, and every page would contain it",
            "make it smaller: a font of fewer letters, a picture of fewer pixels",
        )
    return content


def face_of(path: Path, content: bytes) -> Face:
    """Return a font with its family and weight (OpenType 1.9, `name` and `OS/2`).

    The typographic family takes precedence over the family of four styles, as picture renderers expect.

    Raises
    ------
    UsageError
        The file is not a font, or has no usable family name.
    """
    try:
        tables = _tables(content)
        names = dict(_names(content, tables[b"name"]))
        (weight,) = struct.unpack_from(">H", content, tables[b"OS/2"] + 4)
        family = names.get(16) or names[1]
    except (struct.error, LookupError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} is not a TrueType or OpenType font",
            "give a .ttf or .otf file; convert a WOFF2 with: fonttools ttLib.woff2 decompress FILE",
        ) from error
    if re.search(_FAMILY, family) is None:
        raise UsageError(f"{path} has no family name that a page can use: {family!r}", "give another font")
    return Face(family, "1 1000" if b"fvar" in tables else str(weight), path, content)


def _tables(content: bytes) -> dict[bytes, int]:
    """Return the offset of each table of a font, by its tag."""
    if content[:4] not in (b"\0\1\0\0", b"OTTO", b"true"):
        raise LookupError
    (count,) = struct.unpack_from(">H", content, 4)
    return dict(struct.unpack_from(">4s4xI", content, 12 + 16 * at) for at in range(count))


def _names(content: bytes, start: int) -> Iterator[tuple[int, str]]:
    """Yield the Unicode names of a font with their ids, English names last."""
    count, strings = struct.unpack_from(">HH", content, start + 2)
    entries = [struct.unpack_from(">6H", content, start + 6 + 12 * at) for at in range(count)]
    for platform, _, _, name, length, offset in sorted(entries, key=lambda each: each[2] == 0x409):
        if platform in (0, 3):
            at = start + strings + offset
            yield name, content[at : at + length].decode("utf-16-be")


def _css(name: str) -> str:
    return name.replace("_", "-")


def _is_table(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Frozen)


def _written(key: str, value: object, description: str | None) -> str:
    quoted = f'"{value}"' if isinstance(value, str) else str(value).replace("'", '"')
    return f"{key} = {quoted}  # {description}"
