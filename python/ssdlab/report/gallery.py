"""Charts of runs as files: selection, names, and the formats SVG, PNG and PDF."""

from __future__ import annotations

import base64
import io
import re
import struct
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ssdlab.host.output_files import OutputFile
from ssdlab.model.errors import HostError, UsageError, of_os, unknown
from ssdlab.report.engine import needed
from ssdlab.report.heads import heads_of
from ssdlab.report.page import contents
from ssdlab.report.pictures import Painter, Pressed, as_opened, pressings
from ssdlab.report.runs import NO_NAMES
from ssdlab.report.theme import LARGEST, SMALLEST, Theme, default_theme

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.report.source import Reported
    from ssdlab.report.theme import Face
    from ssdlab.report.view import Figure

Format = Literal["png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
MARK = b"ssdlab"
"""Near the start of each picture that ssdlab writes, so that only its own files are overwritten."""
_FONTS = (
    "DejaVu Sans",
    "Liberation Sans",
    "Noto Sans",
    "Arial",
    "Helvetica",
    "Roboto",
    "Ubuntu",
    "Cantarell",
)
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="16">{}</text></svg>'
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_REMARK = re.compile(rb"% ?ReportLab Generated[^\n]*")
_HEADS: dict[Format, bytes] = {"png": _SIGNATURE, "svg": b"<svg ", "pdf": b"%PDF-"}


def encoded(svg: str, kind: Format, faces: Sequence[Face] = ()) -> bytes:
    """Return a picture in the given format; `faces` are fonts of the theme.

    Raises
    ------
    UsageError
        The extra `figures` is not installed.
    HostError
        No usable font is installed.
    """
    match kind:
        case "svg":
            return svg.encode()
        case "png":
            return _png(svg, faces)
        case "pdf":
            return _pdf(svg, faces)


def is_picture(kind: Format, head: bytes) -> bool:
    return head.startswith(_HEADS[kind]) and MARK in head


def _png(svg: str, faces: Sequence[Face]) -> bytes:
    picture = _drawn(svg, font(), [str(face.path) for face in faces])
    # A text chunk after the header (PNG, section 11.3.4.3) marks the picture as ssdlab's.
    text = b"tEXtSoftware\0" + MARK
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    header = len(_SIGNATURE) + 25
    return picture[:header] + chunk + picture[header:]


@cache
def font() -> str:
    """Return the first usable font that is installed.

    Raises
    ------
    HostError
        None is installed.
    """
    blank = _drawn(_LETTER.format(""), _FONTS[0])
    found = next((name for name in _FONTS if _drawn(_LETTER.format("M"), name) != blank), None)
    if found is None:
        raise HostError(
            "no font is installed for the text of pictures",
            "install one, such as the package fonts-dejavu-core, or ask for --format svg",
        )
    return found


def _drawn(svg: str, family: str, fonts: Sequence[str] = ()) -> bytes:
    needed("resvg_py")
    return bytes(
        import_module("resvg_py").svg_to_bytes(
            svg_string=svg, font_family=family, sans_serif_family=family, font_files=list(fonts)
        )
    )


def _of_pdf(weight: str) -> str:
    return "bold" if weight.isdigit() and int(weight) >= 600 else "normal"


def _pdf(svg: str, faces: Sequence[Face]) -> bytes:
    needed("svglib")
    fonts = import_module("svglib.fonts").FontMap()
    for face in faces:
        fonts.register_font(face.family, str(face.path), weight=_of_pdf(face.weight))
    drawing = import_module("svglib.svglib").svg2rlg(io.StringIO(svg), font_map=fonts)
    out = io.BytesIO()
    canvas = import_module("reportlab.pdfgen.canvas").Canvas(
        out, pagesize=(drawing.width, drawing.height), invariant=1, initialFontName="Helvetica"
    )
    canvas.setCreator(MARK.decode())
    import_module("reportlab.graphics.renderPDF").draw(drawing, canvas, 0, 0)
    canvas.save()
    # The comment after the first line marks the file as ssdlab's. It keeps its length, as the PDF stores
    # offsets.
    return _REMARK.sub(lambda found: (b"% " + MARK).ljust(len(found[0])), out.getvalue(), count=1)


@dataclass(frozen=True)
class Kept:
    name: str
    title: str
    path: Path
    size_bytes: int


def parse_size(text: str) -> tuple[int, int]:
    """Read a size such as `1200x675`: width and height in pixels.

    Raises
    ------
    UsageError
        The text is not a size, or the size is out of range.
    """
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if found is None or not all(SMALLEST <= int(side) <= LARGEST for side in found.groups()):
        raise UsageError(
            f"{text!r} is not a picture size",
            f"give width and height in pixels, {SMALLEST} to {LARGEST} each: --size 1200x675",
            size=text,
        )
    return int(found[1]), int(found[2])


def write_pictures(
    runs: Sequence[Reported],
    folder: Path,
    *,
    names: Sequence[str] = (),
    kind: Format = "png",
    size: tuple[int, int] | None = None,
    every_view: bool = False,
    drive_names: Mapping[str, str] = NO_NAMES,
    theme: Theme | None = None,
) -> Iterator[Kept]:
    """Write a page's charts (all, or those named) into a folder; yield each picture once it is written.

    A file is named after its chart; with `every_view`, further views add a number. Without a size, the
    theme's size applies.

    Raises
    ------
    UsageError
        There is no such chart, or the extra `figures` is not installed.
    Refused, HostError
        A file cannot be written, or exists and is not ssdlab's.
    """
    theme = theme or default_theme()
    placed, sections = contents(runs, drive_names, theme.palette)
    heads = heads_of(sections, placed)
    figures = {figure.id: figure for section in sections for figure in section.figures}
    for name in names:
        if name not in figures:
            raise unknown("chart", name, figures)
    drawn = theme.drawn(theme.scheme, fonts=kind == "svg", logo=_corner(theme, kind))
    painter = Painter([one.style for one in placed], drawn)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise of_os(error, f"cannot make the folder {folder}", "name another folder") from error
    for name in names or figures:
        for at, pressed in enumerate(_pressed(figures[name], every_view=every_view)):
            svg = painter.svg(figures[name].chart, heads[name], pressed, size or theme.size)
            path = folder / f"{name}{f'-{at + 1}' if at else ''}.{kind}"
            with OutputFile(path, ours=lambda head: is_picture(kind, head), noun="picture") as file:
                content = encoded(svg, kind, theme.faces)
                file.replace(content)
            yield Kept(name, heads[name].title, path, len(content))


def _corner(theme: Theme, kind: Format) -> str:
    """Return the address of the logo for a picture. A PDF gets it as pixels on the background colour."""
    if theme.logo is None:
        return ""
    address, look = (
        (theme.logo.dark, theme.dark) if theme.scheme == "dark" else (theme.logo.light, theme.light)
    )
    if kind != "pdf":
        return address
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="180">'
        f'<rect width="900" height="180" fill="{look["paper"]}"/>'
        f'<image width="900" height="180" preserveAspectRatio="xMaxYMin meet" href="{address}"/></svg>'
    )
    return f"data:image/png;base64,{base64.b64encode(_drawn(svg, font())).decode()}"


def _pressed(figure: Figure, *, every_view: bool) -> Iterator[Pressed]:
    return pressings(figure.chart) if every_view else iter((as_opened(figure),))
