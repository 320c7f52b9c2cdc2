"""Charts of runs as files: which there are, which are asked for, and what each is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.output_files import OutputFile
from ssdlab.model.errors import UsageError, of_os, unknown
from ssdlab.report.heads import heads_of
from ssdlab.report.page import contents
from ssdlab.report.pictures import SIZE, Painter, Pressed, as_opened, pressings
from ssdlab.report.raster import encoded, is_picture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.raster import Format
    from ssdlab.report.source import Reported
    from ssdlab.report.view import Figure

SMALLEST, LARGEST = 320, 8000
"""Pixels of a side: below, titles take all the room; above, a picture takes the memory of a poster."""


@dataclass(frozen=True)
class Kept:
    """A picture that was written."""

    name: str
    title: str
    path: Path
    size_bytes: int


def parse_size(text: str) -> tuple[int, int]:
    """Return width and height in pixels of `1200x675`.

    Raises
    ------
    UsageError
        It is no size, or one that no picture can have.
    """
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if found is None or not all(SMALLEST <= int(side) <= LARGEST for side in found.groups()):
        raise UsageError(
            f"{text!r} is no size of a picture",
            f"name width and height in pixels, {SMALLEST} to {LARGEST} each: --size 1200x675",
            size=text,
        )
    return int(found[1]), int(found[2])


def write_pictures(
    runs: Sequence[Reported],
    folder: Path,
    *,
    names: Sequence[str] = (),
    kind: Format = "png",
    size: tuple[int, int] = SIZE,
    every_view: bool = False,
) -> Iterator[Kept]:
    """Write the charts of a page into a folder, all or those named, and yield each when it is written.

    A chart has the name that it has on the page; of `every_view`, further views have a number behind it.

    Raises
    ------
    UsageError
        There is no such chart, or the extra `figures` is not installed.
    Refused, HostError
        A file cannot be written, or is of somebody else.
    """
    placed, sections = contents(runs)
    heads = heads_of(sections, placed)
    figures = {figure.id: figure for section in sections for figure in section.figures}
    for name in names:
        if name not in figures:
            raise unknown("chart", name, figures)
    painter = Painter([one.style for one in placed])
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise of_os(error, f"cannot make the folder {folder}", "name another folder") from error
    for name in names or figures:
        for at, pressed in enumerate(_pressed(figures[name], every_view=every_view)):
            svg = painter.svg(figures[name].chart, heads[name], pressed, size)
            path = folder / f"{name}{f'-{at + 1}' if at else ''}.{kind}"
            with OutputFile(path, ours=lambda head: is_picture(kind, head), noun="picture") as file:
                content = encoded(svg, kind)
                file.replace(content)
            yield Kept(name, heads[name].title, path, len(content))


def _pressed(figure: Figure, *, every_view: bool) -> Iterator[Pressed]:
    """Yield the view that the page opens with, or all."""
    return pressings(figure.chart) if every_view else iter((as_opened(figure),))
