"""The overview of many drives: headline figures and each method as ranked bars, plus a page for each drive.

The overview reads only manifests and results, so it is quick even for long runs. All details are on the
drives' pages, to which it links.
"""

from __future__ import annotations

import re
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.lab.outcome import read_result
from ssdlab.model.errors import Refused, UsageError, of_os
from ssdlab.model.units import counted
from ssdlab.report import page, source
from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView, Quantity
from ssdlab.report.edition import Edition
from ssdlab.report.outline import Chapter, outline
from ssdlab.report.pictures import Stills
from ssdlab.report.runs import shown
from ssdlab.report.sections import rates
from ssdlab.report.sections.header import header
from ssdlab.report.standings import standings
from ssdlab.report.theme import default_theme
from ssdlab.report.view import Buttons, Exhibit, Figure, Section
from ssdlab.results import cells, tables
from ssdlab.results.cells import NOTHING, Cell, Table, of_run, of_unit, words
from ssdlab.results.metric import labelled, labels
from ssdlab.results.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.report.theme import Theme
    from ssdlab.results.schema import Metric

_QUANTITIES: dict[str, Quantity] = {"IOPS": "iops", "MB/s": "mb_s", "ns": "ns", "s": "s"}


@dataclass(frozen=True)
class Written:
    """A written page; `runs` is the number of runs that it shows."""

    path: Path
    size_bytes: int
    runs: int


def write_overview(folders: Sequence[Path], path: Path, theme: Theme | None = None) -> Iterator[Written]:
    """Write a folder with a page for each drive, then the overview beside it; yield each page once written.

    Raises
    ------
    UsageError
        There is no run.
    Refused, HostError
        A run has no result, the folder's name is taken, or a page cannot be written.
    """
    found = _gathered(folders, path, theme)
    _make(found.beside)
    edition = Edition(theme=theme)
    for drive_id, members in found.of_drive.items():
        own = found.beside / found.files[drive_id]
        read = [source.read_run(each) for each in members]
        yield Written(own, page.write(read, own, edition), len(members))
    html = _overview(found.placed, found.links, theme)
    yield Written(path, page.write_text(html, path), len(found.placed))


def overview_html(folders: Sequence[Path], path: Path) -> str:
    """Return the overview alone, as it is written to `path`. Raises as `write_overview` does."""
    found = _gathered(folders, path)
    return _overview(found.placed, found.links)


@dataclass(frozen=True)
class _Gathered:
    """The runs of an overview, in brief, with the folder and file names of their drives' pages."""

    placed: tuple[Shown, ...]
    of_drive: dict[str, list[Path]]
    beside: Path
    files: dict[str, str]

    @property
    def links(self) -> dict[str, str]:
        return {each: f"{self.beside.name}/{name}" for each, name in self.files.items()}


def _gathered(folders: Sequence[Path], path: Path, theme: Theme | None = None) -> _Gathered:
    every = [folder for each in folders for folder in _single(each)]
    runs = [_brief(folder) for folder in every]
    if not runs:
        raise UsageError("there is no run to report", "name one or more runs")
    placed = shown(runs, palette=(theme or default_theme()).palette)
    of_drive: dict[str, list[Path]] = {}
    for one, folder in zip(placed, every, strict=True):
        of_drive.setdefault(one.drive.id, []).append(folder)
    first = {one.drive.id: one for one in reversed(placed)}
    files = dict(zip(of_drive, _file_names([first[each].style.short for each in of_drive]), strict=True))
    return _Gathered(placed, of_drive, path.with_suffix(""), files)


def _make(folder: Path) -> None:
    """Make the folder for the drives' pages, unless it exists; symbolic links are not followed."""
    try:
        with suppress(FileExistsError):
            folder.mkdir()
        plain = stat.S_ISDIR(folder.lstat().st_mode)
    except OSError as error:
        raise of_os(error, f"cannot make the folder {folder}", "name another page") from error
    if not plain:
        raise Refused(
            f"{folder} is not a plain folder, and the pages of the drives would go there",
            "name another page, or move it away",
            reason="not-plain",
            path=str(folder),
        )


def _single(folder: Path) -> list[Path]:
    """Return the folders of the single runs in a run, suite or comparison."""
    manifest = RunFolder(folder).manifest
    if not manifest.children:
        return [folder]
    found = [folder.parent / child.run_id for child in manifest.children]
    return [each for child in found if child.is_dir() for each in _single(child)]


def _brief(folder: Path) -> source.Run:
    """Read only a run's manifest and result, and check both against their seals."""
    found = RunFolder(folder)
    found.verify()
    result = read_result(found)
    if result is None:
        source.read_run(folder)  # raises an error with the reason
        raise UsageError(f"run {found.manifest.run_id} has no result", "finish it: ssdlab resume")
    return source.Run(
        manifest=found.manifest,
        result=result,
        steps=(),
        series=tables.empty(tables.SERIES_COLUMNS),
        hist=tables.empty(tables.HIST_COLUMNS),
        telemetry=tables.empty(tables.TELEMETRY_COLUMNS),
        power=tables.empty(tables.POWER_COLUMNS),
        warnings=found.manifest.warnings,
        notes=(),
        voided=(),
    )


def _file_names(names: Sequence[str]) -> list[str]:
    """Convert names to file names that any web server accepts; equal names get a number."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:60] or "drive"
        again = next(n for n in range(1, len(names) + 1) if _numbered(plain, n) not in found)
        found.append(_numbered(plain, again))
    return found


def _numbered(name: str, number: int) -> str:
    return f"{name}{f'-{number}' if number > 1 else ''}.html"


def _overview(placed: Sequence[Shown], links: dict[str, str], theme: Theme | None = None) -> str:
    methods: dict[str, list[Shown]] = {}
    for one in placed:
        methods.setdefault(one.run.manifest.method.name, []).append(one)
    head = header(placed)
    ranks = standings(placed)
    found = [(_method(name, members, ranks), members) for name, members in methods.items()]
    order = outline(found, (), placed, {})
    first = Chapter("", "", "", (_drives(placed, links),))
    order = replace(order, chapters=(first, *order.chapters))
    pictures = Stills(placed, theme)
    for each in order.sections:
        pictures.begin(each)
    return page.assembled(head, placed, order, pictures, theme or default_theme())


def _drives(placed: Sequence[Shown], links: dict[str, str]) -> Section:
    of_drive: dict[str, list[Shown]] = {}
    for one in placed:
        of_drive.setdefault(one.drive.id, []).append(one)
    rows = tuple(
        (
            of_run(members[0].label, members[0].index),
            words(members[0].style.interface or NOTHING),
            words(", ".join(dict.fromkeys(one.run.manifest.method.name for one in members))),
            Cell("all of its runs", numeric=False, link=links[drive_id]),
        )
        for drive_id, members in of_drive.items()
    )
    table = Table("Drives", ("Drive", "Interface", "Methods", "Its page"), rows)
    exhibit = Exhibit("Each drive has its own page", "With its charts, tables and provenance.", (table,))
    return Section("drives", "The drives", (), (), (), (exhibit,))


def _method(name: str, members: Sequence[Shown], ranks: Mapping[str, Standing]) -> Section:
    figures = dict.fromkeys(each.name for one in members for each in one.run.result.scalars)
    own = {figure: ranks[figure] for figure in figures if figure in ranks}
    views = tuple(map(_view, own.values()))
    title = members[0].run.manifest.method.title
    table = _table(own, members)
    chart = Figure(
        id=f"overview-{name}",
        title="Headline figures",
        lead=_lead(own),
        described=f"{title}: {counted(len(views), 'figure')} of {counted(len(members), 'run')}.",
        chart=BarsChart(views),
        tables=(table,),
        measured=_versions(members),
        buttons=(Buttons("view", "Figure", tuple(view.label for view in views)),) if len(views) > 1 else (),
        wide=True,
    )
    at = tuple(one.index for one in members)
    if not views:
        return Section(f"method-{name}", title, tuple(map(_nothing, members)), (), ())
    return Section(f"method-{name}", title, (), at, (chart,))


def _nothing(one: Shown) -> str:
    """Return why a run has no bar: its figures are withheld, or its method has none."""
    state = labels(each for figure in one.run.result.scalars for each in figure.unfit("ranking"))
    return f"{labelled(f'{one.label}: no headline figure', state)}."


def _lead(own: Mapping[str, Standing]) -> str:
    unlike = dict.fromkeys(each.unlike for each in own.values() if each.unlike)
    no_rank = f" Not ranked: {'; '.join(unlike)}." if unlike else ""
    return f"Ranked drives come first, the best on top. Each drive's page states its drive state.{no_rank}"


def _versions(members: Sequence[Shown]) -> tuple[str, ...]:
    methods = (one.run.manifest.method for one in members)
    return tuple(dict.fromkeys(f"{each.name}, version {each.version}." for each in methods))


def _own(one: Shown, name: str) -> Metric | None:
    return next((each for each in one.run.result.scalars if each.name == name), None)


def _view(standing: Standing) -> BarsView:
    figure = standing.places[0].figure
    bars = tuple(
        _bar(each, ranked=each.rank is not None or bool(standing.unlike))
        for each in (*standing.places, *standing.further)
    )
    quantity = _QUANTITIES.get(figure.unit, "plain")
    label = f"{figure.label}, {figure.unit}" if quantity == "plain" and figure.unit else figure.label
    axis = Axis(figure.unit or figure.label, quantity)
    return BarsView(label, axis, figure.better, (BarGroup(label, bars),))


def _bar(place: Place, *, ranked: bool) -> Bar:
    bar = rates.marked(Bar(place.shown.index, place.value, ""), place.figure)
    return bar if ranked else replace(bar, unranked=True)


def _table(figures: Mapping[str, Standing], members: Sequence[Shown]) -> Table:
    rows = tuple(
        (
            of_run(one.label, one.index),
            *(_cell(_own(one, name)) for name in figures),
        )
        for one in members
    )
    return Table("Headline figures", ("Run", *(each.label for each in figures.values())), rows)


def _cell(own: Metric | None) -> Cell:
    """Return a figure with its state, which is shown even without a value."""
    if own is None:
        return cells.plain(None)
    plain = cells.plain(None) if own.value is None else Cell(of_unit(own.value, own.unit), str(own.value))
    return replace(plain, text=labelled(plain.text, own.state))
