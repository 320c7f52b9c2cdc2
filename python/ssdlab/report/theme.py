"""A theme of pages and pictures: variables of the style sheet, fonts and a logo.

The style sheet defines the default theme; `theme_file` reads a file that changes parts of it.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from ssdlab.report.engine import static
from ssdlab.report.looks import OURS, Palette

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

SIZE = (1200, 675)
"""Width and height of a saved picture, in pixels."""
SMALLEST, LARGEST = 320, 8000
"""Limits of a picture's sides in pixels. A smaller picture is all title; a larger one takes too much
memory."""
_BLOCK = re.compile(r":root[^{]*\{([^}]*)\}")

Mode = Literal["auto", "light", "dark"]
Scheme = Literal["light", "dark"]


@dataclass(frozen=True)
class Face:
    family: str
    weight: str
    """Weight as in a style sheet: `400`, or `1 1000` for a variable font."""
    path: Path
    content: bytes

    @property
    def rule(self) -> str:
        """The style sheet's rule for the font, with the font embedded."""
        address = f"data:font/sfnt;base64,{base64.b64encode(self.content).decode()}"
        return f"@font-face{{font-family:'{self.family}';font-weight:{self.weight};src:url({address})}}"


@dataclass(frozen=True)
class Logo:
    """A logo as data URLs, for light and dark paper."""

    light: str
    dark: str
    alt: str
    link: str
    height: int


@dataclass(frozen=True)
class Theme:
    """A complete theme.

    Attributes
    ----------
    mode
        Colours of a page: light, dark, or those that the reader's system prefers.
    light, dark
        Every variable of the page's style sheet, by name.
    size
        Width and height of a saved picture, in pixels.
    faces
        Fonts to embed.
    remarks
        Remarks for the theme's author: colours with too little contrast.
    """

    mode: Mode
    light: Mapping[str, str]
    dark: Mapping[str, str]
    size: tuple[int, int] = SIZE
    faces: tuple[Face, ...] = ()
    logo: Logo | None = None
    palette: Palette = OURS
    remarks: tuple[str, ...] = ()

    @property
    def scheme(self) -> Scheme:
        """Colours of the theme's pictures; paper always has the light ones."""
        return "dark" if self.mode == "dark" else "light"

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """Colours that a reader may see."""
        return ("light",) if self.mode == "light" else ("light", "dark")

    def look(self, scheme: Scheme) -> Mapping[str, str]:
        return self.light if scheme == "light" else self.dark

    def style(self) -> Markup:
        """Return the additions to the page's style sheet; empty for the default theme."""
        if self == default_theme():
            return Markup()
        light, dark = (
            f"{{color-scheme:{scheme};{';'.join(f'{name}:{value}' for name, value in _declared(own))}}}"
            for scheme, own in (("light", self.light), ("dark", self.dark))
        )
        # The style sheet has its dark colours under this selector; printing excludes them by
        # `data-theme="light"`.
        unprinted = ':root:not([data-theme="light"])'
        rules = {
            "auto": f":root{light}@media (prefers-color-scheme:dark){{{unprinted}{dark}}}",
            "light": f":root,{unprinted}{light}",
            "dark": f":root,{unprinted}{light}@media screen{{{unprinted}{dark}}}",
        }
        return Markup("".join(face.rule for face in self.faces) + rules[self.mode])

    def drawn(self, scheme: Scheme = "light", *, fonts: bool = False, logo: str = "") -> dict[str, object]:
        """Return the theme as the front end needs it to draw pictures.

        Parameters
        ----------
        scheme
            Colours of the picture.
        fonts
            Whether to embed the fonts in each picture.
        logo
            URL of the image in the corner; empty: none.
        """
        own = self.look(scheme)
        return {
            **{name: own[name] for name in ("text", "muted", "rule", "grid", "paper")},
            "font": self.light["picture-font"],
            "headings": self.light["picture-heading-font"],
            "palette": [own[f"drive-{at}"] for at in range(self.palette.colours)],
            "height": int(self.light["chart-height"].removesuffix("px")),
            "faces": "".join(face.rule for face in self.faces) if fonts else "",
            "logo": logo,
        }


@cache
def default_theme() -> Theme:
    """Return the theme of pages for which none is given.

    Raises
    ------
    HostError
        The front end is not built.
    """
    light, dark, *_ = (
        dict(re.findall(r"--([\w-]+):\s*([^;]+)", block)) for block in _BLOCK.findall(static("report.css"))
    )
    resolved = {
        name: re.sub(r"var\(--([\w-]+)\)", lambda at: light[at[1]], own) for name, own in light.items()
    }
    return Theme("auto", resolved, dark)


def _declared(look: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return ((f"--{name}", value) for name, value in look.items())
