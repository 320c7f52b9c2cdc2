"""Pictures in the formats that they are given away in: SVG as it is drawn, PNG and PDF made of it."""

from __future__ import annotations

import io
import re
import struct
import zlib
from functools import cache
from importlib import import_module
from typing import Literal, get_args

from ssdlab.model.errors import HostError
from ssdlab.report.engine import needed

Format = Literal["png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
MARK = b"ssdlab"
"""Stands near the beginning of every picture of ours."""
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


def encoded(svg: str, kind: Format) -> bytes:
    """Return a picture in a format.

    Raises
    ------
    UsageError
        The extra `figures` is not installed.
    HostError
        There is no font to write with.
    """
    match kind:
        case "svg":
            return svg.encode()
        case "png":
            return _png(svg)
        case "pdf":
            return _pdf(svg)


def is_picture(kind: Format, head: bytes) -> bool:
    """Say by the beginning of a file whether it is a picture of ours in that format."""
    return head.startswith(_HEADS[kind]) and MARK in head


def _png(svg: str) -> bytes:
    picture = _drawn(svg, font())
    # A text chunk behind the header (PNG, section 11.3.4.3) says whose picture it is.
    text = b"tEXtSoftware\0" + MARK
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    header = len(_SIGNATURE) + 25
    return picture[:header] + chunk + picture[header:]


@cache
def font() -> str:
    """Return the first font that is installed here.

    Raises
    ------
    HostError
        There is none.
    """
    blank = _drawn(_LETTER.format(""), _FONTS[0])
    found = next((name for name in _FONTS if _drawn(_LETTER.format("M"), name) != blank), None)
    if found is None:
        raise HostError(
            "there is no font to write a picture's words with",
            "install one, such as the package fonts-dejavu-core, or ask for --format svg",
        )
    return found


def _drawn(svg: str, family: str) -> bytes:
    needed("resvg_py")
    return bytes(
        import_module("resvg_py").svg_to_bytes(svg_string=svg, font_family=family, sans_serif_family=family)
    )


def _pdf(svg: str) -> bytes:
    needed("svglib")
    drawing = import_module("svglib.svglib").svg2rlg(io.StringIO(svg))
    out = io.BytesIO()
    canvas = import_module("reportlab.pdfgen.canvas").Canvas(
        out, pagesize=(drawing.width, drawing.height), invariant=1, initialFontName="Helvetica"
    )
    canvas.setCreator(MARK.decode())
    import_module("reportlab.graphics.renderPDF").draw(drawing, canvas, 0, 0)
    canvas.save()
    # The comment behind the first line says whose picture it is; offsets are counted, so it keeps its length.
    return _REMARK.sub(lambda found: (b"% " + MARK).ljust(len(found[0])), out.getvalue(), count=1)
